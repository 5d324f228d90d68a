# ruff: noqa: E501 (patterns)
"""Yes or no, where a reply says that a finding is or is not there."""

import re
from collections.abc import Sequence

from wardround.marking.parser.conclusions.phrase_names import DISTANT_WORDS
from wardround.marking.parser.conclusions.weighing import (
    SUPPOSES,
)

MAX_SENTENCES = 3  # of a reply whose first one says that nothing is there
_PRESENCE = {"yes": True, "present": True, "no": False, "absent": False}
_PRESENT = re.compile(
    r"\A\W*(?:s[íi]|oui|ja|sim|да|tak|evet|yes|yep|yeah|是|有|はい|네)(?=\W)|\b(?:is|are) (?:indeed |clearly |definitely )?(?:present|visible|seen|evident)\b"
    r"(?<!not visible)|\A(?:so )?there(?: is|'s| are)(?: clearly| definitely| indeed| obviously)? (?!no\b|not\b)",
    re.I,
)
_ABSENT = re.compile(
    r"\A\W*(?:nein|non|não|нет|nej|nee|nie|hayır|nope|nah|没有|いいえ|아니|아니요|không)(?=\W)|\A\W*not an? |\A\W*no (?!clear|obvious|definite)(?:\w+ ){1,6}(?:is|are|was|were)? ?(?:present|visible|seen|evident|identified|detected)\b|\b(?:don't|do not|cannot|can't|didn't) (?:see|find|identify|detect) (?:any|an?)\b"
    r"|\bno (?!clear|obvious|definite)(?:\w+ ){1,5}(?:is|are|was|were)? ?(?:present|visible|seen|evident|identified|detected)\b|\A(?:so )?there (?:is|are) no\b(?! (?:clear|obvious|definite))"
    r"|\bno (?:evidence|signs?) of\b|\b(?:is|are) absent\b|\b(?:is|are) not (?:widened|enlarged|dilated|thickened|present|visible|fractured|displaced|elevated|broken|torn|increased)\b|\A(?:it|this) does(?: not|n't) \w+[.!]?\Z",
    re.I,
)
# "There is no pneumothorax. Lung markings reach the periphery.": what else is said agrees
_FINDS_NONE = re.compile(
    r"\W*there (?:is|are) no (?!(?:doubt|question|reason|need|way|prior|previous|history|change|contrast|evidence against|longer|sign against)\b)",
    re.I,
)
_REASSURES = re.compile(
    r"\b(?:normal|intact|preserved|clear|extend|reach|sharp|smooth|regular|unremarkable|symmetric(?:al)?|maintained|well[- ]aligned|continuous|midline)\b",
    re.I,
)
_FINDS_FAULT = re.compile(
    r"\b(?:but|however|although|though|yet|except|abnormal\w*|irregular|broken|widened|enlarged|dilated|displaced|fractured?(?= is| line)|lucen\w+|not|loss|lost|older?|previous\w*)\b",
    re.I,
)


def read_presences(sentences: list[str], options: Sequence[str]) -> int | None:
    """Yes or no, of the last sentence, or of the first if all others only say that what is seen is normal."""
    option = _read_presence(sentences[-1], options)
    if option is not None or len(sentences) == 1 or len(sentences) > MAX_SENTENCES:
        return option
    first, *others = sentences
    if not _FINDS_NONE.match(first) or not all(_REASSURES.search(other) for other in others):
        return None
    return None if any(map(_FINDS_FAULT.search, sentences)) else _read_presence(first, options)


def _read_presence(sentence: str, options: Sequence[str]) -> int | None:
    """Yes or no, if a sentence says that something is or is not there."""
    if DISTANT_WORDS.search(sentence) or SUPPOSES.match(sentence):
        return None
    is_there, is_absent = _PRESENT.search(sentence) is not None, _ABSENT.search(sentence) is not None
    if is_there == is_absent:
        return None
    return next((place for place, option in enumerate(options) if _PRESENCE.get(option.lower()) == is_there), None)
