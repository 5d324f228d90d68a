"""Sentences that pass from a finding to its diagnosis: "hilar lymphadenopathy, most in keeping with sarcoidosis"."""

import re
from typing import NamedTuple

from wardround.marking.parser.diagnoses.names import cut_reason, ends_as_disease, is_sentence
from wardround.marking.parser.diagnoses.vocabulary import one_of, read_vocabulary

MIN_DESCRIPTION = 5  # words of a text that is not a name if none of them ends as diseases do

_PHRASES = read_vocabulary("phrases.toml")
_LINK = re.compile(
    rf"(?P<comma>[,;:(–—]|\s-)?\s*\b(?:and |which (?:is|are|would be) |that (?:is|are) |is |are |these are |this is )?"
    rf"(?P<firm>(?:most|best|highly|strongly|very|almost certainly|overall)\s(?:likely |probably )?)?"
    rf"(?:{one_of(_PHRASES['leads_to'])}|(?(comma){one_of(_PHRASES['leads_to_after_comma'])}|(?!)))\s+(?:an?\s|the\s)?",
    re.I,
)
_DASH = re.compile(r"\s+(?:[–—-]+|[-=]>|→|⇒)\s+|:\s+")
_RESTATES = re.compile(r",?\s+\(?(?:i\.?\s?e\.?,?|that is,|in other words,?|namely,?)\s+(?:an?\s|the\s)?", re.I)
_FINDING = re.compile(rf"\b{one_of(_PHRASES['finding_nouns'])}\b", re.I)
_DESCRIBED = re.compile(rf"\b{one_of(_PHRASES['described'])}\b", re.I)
_ENDS_AS_FINDING = re.compile(rf"\b{one_of(_PHRASES['finding_nouns'])}\W*\Z", re.I)
_SYMPTOM = re.compile(one_of(_PHRASES["symptoms"]), re.I)
_AND = re.compile(r",?\s+and\s+|,\s+")
_LEVEL = re.compile(rf"{one_of(_PHRASES['levels'])}\s", re.I)
_PLACE = re.compile(r"\s*[(\[].*|\s+(?:of|in|with|within|at|on|along|involving|measuring)\s.*", re.S)
_BRACKET = re.compile(r"\s*\([^()]*\)")
_ABSENT = re.compile(r"(?:no|without|absence of)\s", re.I)
_DENIED = re.compile(r"\b(?:not|no longer|without|never|less|against)\b[^,;]{0,20}\Z", re.I)


class FindingWithDiagnosis(NamedTuple):
    """The words after a finding that name its diagnosis, and whether they are said firmly."""

    diagnosis: str
    is_firm: bool


def diagnosis_of_finding(sentence: str) -> FindingWithDiagnosis | None:
    """What a sentence that begins with a finding takes it for; None if it does not."""
    if restated := _RESTATES.search(sentence):
        before, after = sentence[: restated.start()], sentence[restated.end() :]
        if is_sentence(before) or _is_finding(before) or (ends_as_disease(after) and not ends_as_disease(before)):
            return FindingWithDiagnosis(after, is_firm=True)
    links = [link for link in _LINK.finditer(sentence) if not _DENIED.search(sentence, 0, link.start())]
    for place, link in enumerate(links):
        if not _is_finding(sentence[: link.start()]):
            continue
        following = links[place + 1] if place + 1 < len(links) else None
        between = sentence[link.end() : following.start()] if following else ""
        if following and not ends_as_disease(between) and ends_as_disease(cut_reason(sentence[following.end() :])):
            link = following
        return FindingWithDiagnosis(sentence[link.end() :], is_firm=bool(link["firm"]))
    for dash in _DASH.finditer(sentence):
        before, after = sentence[: dash.start()], sentence[dash.end() :]
        name = cut_reason(after)
        if _is_finding(before) and not is_sentence(before) and not is_sentence(name) and ends_as_disease(name):
            return FindingWithDiagnosis(name, is_firm=False)
    return None


def is_plain_finding(text: str) -> bool:
    """Whether a text names only what is seen: "an expansile lesion of the mandible"."""
    return bool(_ABSENT.match(text)) or (text.isascii() and bool(_ENDS_AS_FINDING.search(_PLACE.sub("", text))))


def describes_person(text: str) -> bool:
    """Whether a text tells who is ill: "emphysema in a 38-year-old"."""
    return _DESCRIBED.search(text) is not None


def names_disease(text: str) -> bool:
    """Whether a text is the name of a disease, and nothing else."""
    return ends_as_disease(text) and not _is_finding(text) and not is_sentence(text)


def is_symptom(text: str) -> bool:
    """Whether a name is what a patient has and no diagnosis: "fever", "raised CRP"."""
    return all(
        _SYMPTOM.fullmatch(part) or (_LEVEL.match(part) and not ends_as_disease(part)) for part in _AND.split(text)
    )


def describes_finding(text: str) -> bool:
    """Whether a text names what is seen and not what it is: "a spiculated nodule", not "nodular sclerosis"."""
    text = _BRACKET.sub("", text)
    if is_sentence(text):
        return False
    words = text.split()
    is_long = text.isascii() and len(words) >= MIN_DESCRIPTION
    return _is_finding(text) or (is_long and not any(map(ends_as_disease, words)))


def _is_finding(text: str) -> bool:
    """Whether a text names what is seen and not what it is: "a spiculated nodule", not "nodular sclerosis"."""
    if _DESCRIBED.search(text):
        return True
    return bool(_FINDING.search(text)) and (not ends_as_disease(text) or bool(_ENDS_AS_FINDING.search(text)))
