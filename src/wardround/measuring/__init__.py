"""Measures over marks, with their intervals and paired comparisons."""

from wardround.measuring.broken import chain_flow, first_broken
from wardround.measuring.carried import upstream_effects
from wardround.measuring.comparisons import compare
from wardround.measuring.families import families
from wardround.measuring.groups import prompt_sensitivity, subgroup_gaps
from wardround.measuring.independence import chain_independence
from wardround.measuring.measures import measure
from wardround.measuring.position import letter_bias
from wardround.measuring.power import power_from_guesses, power_from_marks
from wardround.measuring.ranks import rank_intervals
from wardround.measuring.reliability import reliability, risk_coverage
from wardround.measuring.repeated import self_consistency
from wardround.measuring.review import items_to_review
from wardround.measuring.upstream import upstream_errors
from wardround.measuring.writing import write_measures

__all__ = [
    "chain_flow",
    "chain_independence",
    "compare",
    "families",
    "first_broken",
    "items_to_review",
    "letter_bias",
    "measure",
    "power_from_guesses",
    "power_from_marks",
    "prompt_sensitivity",
    "rank_intervals",
    "reliability",
    "risk_coverage",
    "self_consistency",
    "subgroup_gaps",
    "upstream_effects",
    "upstream_errors",
    "write_measures",
]
