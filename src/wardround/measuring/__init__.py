"""Measures over marks, with their intervals and paired comparisons."""

from wardround.measuring.chains.breaks import chain_flow, first_broken
from wardround.measuring.chains.carry import upstream_effects
from wardround.measuring.chains.independence import chain_independence
from wardround.measuring.chains.upstream_errors import upstream_errors
from wardround.measuring.comparing.comparisons import compare
from wardround.measuring.comparing.families import families
from wardround.measuring.comparing.groups import compare_groups, prompt_sensitivity, subgroup_gaps
from wardround.measuring.comparing.power import power_from_guesses, power_from_marks
from wardround.measuring.comparing.ranks import rank_intervals
from wardround.measuring.engine.measure import MeasureKind
from wardround.measuring.engine.measurement import measure
from wardround.measuring.engine.writing import write_measures
from wardround.measuring.measures.position import letter_bias
from wardround.measuring.measures.record import MeasureContext, MeasureRecord
from wardround.measuring.measures.reliability import reliability, risk_coverage
from wardround.measuring.measures.self_consistency import self_consistency
from wardround.measuring.validation.item_review import items_to_review

__all__ = [
    "MeasureContext",
    "MeasureKind",
    "MeasureRecord",
    "chain_flow",
    "chain_independence",
    "compare",
    "compare_groups",
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
