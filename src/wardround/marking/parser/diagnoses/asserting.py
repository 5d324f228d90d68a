"""Diagnoses that a sentence asserts in words that no pattern knows: "the triad tips the balance toward X".

The last resort among sentences. Of each clause that denies, supposes, compares and lists nothing, the first disease
after a verb or a preposition is taken, or its subject.
"""

import re

from wardround.marking.parser.diagnoses.findings import describes_finding, is_symptom, names_disease
from wardround.marking.parser.diagnoses.names import (
    cut_reason,
    is_finding,
    is_headed_by_disease,
    is_sentence,
    name_head,
    split_names,
)
from wardround.marking.parser.diagnoses.patterns import SUBORDINATE
from wardround.marking.parser.diagnoses.vocabulary import one_of, read_vocabulary

MAX_NAME = 8  # words of a text that may be a name alone
MAX_OPENING = 12  # characters before a name: "an acute" is none, "the combination of" is something else

_PHRASES = read_vocabulary("phrases.toml")
_CLAUSE_END = re.compile(
    r"\s*(?:[;:]|\s[–—-])\s+|—|,\s+(?=(?:and|but|so|or|yet|while|whereas|although|though)\s)", re.I
)
_NOT_ASSERTED = re.compile(rf"\b{one_of(_PHRASES['not_asserted'])}\b", re.I)
_BEFORE_DISEASE = re.compile(
    rf"\b{one_of(_PHRASES['before_disease'])}\s+(?:(?:most|almost|very|quite|\w+ly)\s+)*(?:(?:an?|the)\s+)?(?=\S)", re.I
)
_PREDICATE = re.compile(rf"\s{one_of(_PHRASES['predicates'])}\b", re.I)
_ON_TOP = re.compile(
    r"(?:at )?the (?:top|head|forefront) of (?:the|my|our|any) (?:list|differential)(?: diagnosis)?", re.I
)
_ONLY = re.compile(  # "it cannot be anything but X" is "it is X"
    r"\s(?:(?:can|could) (?:\w+ )?only be|(?:can|could|cannot|can't) be (?:(?:any|no)thing (?:else )?but|other than)"
    r"|(?:for )?anything (?:other than|but))\s",
    re.I,
)
_LAST_OF_LIST = re.compile(r"(?:and|or)\s", re.I)
_SIGN = re.compile(rf"(?:{one_of(_PHRASES['sign_adjectives'])}\s)*{one_of(_PHRASES['signs'])}", re.I)
_OPENING = re.compile(r"\A(?:(?:so|thus|therefore|hence|then|now|and|but|overall|finally|here)\b,?\s+)+", re.I)


def asserted_disease(sentence: str) -> str | None:
    """The disease that a sentence asserts; None if it asserts none or several."""
    if names_disease(sentence) and len(sentence.split()) <= MAX_NAME:
        return None
    plain = _ONLY.sub(" is ", _ON_TOP.sub("first", SUBORDINATE.sub("", sentence, count=1)))
    for clause in _CLAUSE_END.split(plain):
        if clause and not _NOT_ASSERTED.search(clause) and (name := _disease_in(_OPENING.sub("", clause))):
            return name
    return None


def _disease_in(clause: str) -> str | None:
    if predicate := _PREDICATE.search(clause):
        subject = clause[: predicate.start()].rpartition(", ")[2]
        if not _LAST_OF_LIST.match(subject) and (name := _only_disease(subject)):
            return name
    names = (_only_disease(clause[match.end() :]) for match in _BEFORE_DISEASE.finditer(clause))
    return next(filter(None, names), None)


def _only_disease(text: str) -> str | None:
    """The disease that a text begins with, if it names one only and no finding."""
    names = split_names(cut_reason(text))
    if len(names) != 1 or any(test(names[0]) for test in (is_sentence, is_finding, describes_finding, is_symptom)):
        return None
    (name,) = names
    is_at_start = text.casefold().find(name[:8].casefold()) in range(MAX_OPENING)
    is_sign = _SIGN.fullmatch(name) or name_head(name).split()[-1].isupper()  # "the CK of 45,000"
    return name if is_at_start and is_headed_by_disease(name) and not is_sign else None
