"""The names of all sums that items have. A measure that names another one is an error."""

import re
from collections.abc import Collection
from difflib import get_close_matches
from functools import cache

from wardround.core.errors import WardroundError

SOURCES = ("verbal", "verbal_open", "votes", "inf")  # of confidence
_OF_CHOICES = "answers_choice scored_choice right_choice parsed_choice parsed_answers_choice possibly_right_choice"
_GROUPS = "asked choice open verbal verbal_open judged shared elected voted shared_of elected_of voted_of"
_NAMES = f"""
{_GROUPS} {_OF_CHOICES}
marks unscored refused scorable scorable_answers answers scored right wrong unparsed parsed parsed_answers
stated stated_of stated_shift statable unstated unstated_right
stated_open stated_open_of stated_open_shift statable_open unstated_open unstated_open_right
strict_right strict_of readings_differ
hit@# hit@#_of worst@# worst@#_of worst@#_inf
grounding_of grounded evidence_based_correct knowledge_based_correct evidence_misled hallucination covered covered_of
recall@# precision@# ndcg@# mrr map searches
majority agreement agreement_of certain counted claims_certain certainty shift missing share_shift calibrated_shift
certainty_all shift_all certain_all certainty_printed shift_printed items_printed
majority_inf agreement_inf certain_inf claims_certain_inf certainty_inf shift_inf missing_inf share_shift_inf
calibrated_shift_inf
true_positive positive true_negative negative gold:# found:# named:# there:#
benefit@# benefit_of harm harm_of harm_answers
chains chains_right mcs mcs_of fall fall_of rise rise_of rise_inf rise_of_inf
surprise_tokens tokens texts_tokens surprise_bytes bytes texts_bytes rouge_l rouge_l_of eds eds_of
both only_judge only_reader neither verdicts
rubric rubric_points rubric_of axis_points:# axis_of:#
"""
_BY_BIN = ("in", "gap", "square", "noise")
_BY_SOURCE = ("brier", "claims", "uas", "uas_weight", "uas_of")
RANKED = ("above", "ranked_right", "below", "ranked_wrong", "kept_right", "kept", "selective_loss")
DIFFERENCES = {  # sums that are mostly the first minus the second, so that these need not be resampled themselves
    "right_choice": ("possibly_right_choice", "unparsed"),
    "parsed_choice": ("scored_choice", "unparsed"),
    "share_shift": ("agreement", "majority"),
    "calibrated_shift": ("certainty", "agreement"),
    "shift": ("certainty", "worst@1"),
    "shift_all": ("certainty_all", "worst@1"),
    "shift_printed": ("certainty_printed", "worst@1"),
}
KNOWN_SUMS = frozenset(_NAMES.split()) | {
    name
    for source in SOURCES
    for name in (
        *(f"{name}:{source}:#" for name in _BY_BIN),
        *(f"{name}:{source}" for name in (*_BY_SOURCE, *RANKED)),
    )
}


def shared_by_differences(names: Collection[str]) -> set[str]:
    """What several of these sums are the difference from (DIFFERENCES): it is resampled once and spares them."""
    taken_off = [second for name, (first, second) in DIFFERENCES.items() if name in names and first in names]
    return {name for name in taken_off if taken_off.count(name) > 1}


@cache
def is_known(name: str) -> bool:
    """Whether items can have this sum; `#` in KNOWN_SUMS is any number, and `mark:` begins those of plug-ins."""
    return name.startswith("mark:") or re.sub(r"\d+", "#", name) in KNOWN_SUMS


def require_known(name: str, measure: str = "") -> None:
    """Raises if there is no sum of this name."""
    if not is_known(name):
        nearest = get_close_matches(re.sub(r"\d+", "#", name), sorted(KNOWN_SUMS), n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise WardroundError(f"{f'measure {measure!r}: ' if measure else ''}there is no sum {name!r}{hint}")
