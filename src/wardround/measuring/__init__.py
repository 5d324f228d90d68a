"""Measures over marks, with their intervals and paired comparisons."""

from wardround.measuring.comparisons import compare
from wardround.measuring.families import families
from wardround.measuring.groups import prompt_sensitivity, subgroup_gaps
from wardround.measuring.measures import measure
from wardround.measuring.position import letter_bias
from wardround.measuring.power import power_from_guesses, power_from_marks
from wardround.measuring.ranks import rank_intervals
from wardround.measuring.reliability import reliability, risk_coverage
from wardround.measuring.review import items_to_review
from wardround.measuring.upstream import upstream_errors
from wardround.measuring.writing import write_measures

__all__ = [
    "compare",
    "families",
    "items_to_review",
    "letter_bias",
    "measure",
    "power_from_guesses",
    "power_from_marks",
    "prompt_sensitivity",
    "rank_intervals",
    "reliability",
    "risk_coverage",
    "subgroup_gaps",
    "upstream_errors",
    "write_measures",
]
