"""Sentences that state a diagnosis: what they name, how firmly, and of whom. The rules are our choice.

`final` is the diagnosis at the end, `firm` one that was made or confirmed, `weak` what findings suggest. A diagnosis of
the past or of a relative is never the patient's; a first, suspected or excluded one is not a statement; in a discussion
only what is said of this patient, in the past tense, is one.
"""

import re
from typing import Literal, NamedTuple

from wardround.building.sources.pmc.article import strip_marks
from wardround.building.sources.pmc.disease_phrases import parse_name

Firmness = Literal["final", "firm", "weak"]
_QUALIFIED = (
    r"(?:(?:final|definitive|definite|ultimate|main|primary|histological|histopathological|pathological|pathologic"
    r"|postoperative|clinical)(?:ly)?\s+){0,3}"
)
_FINAL = re.compile(
    r"\b(?:final(?:ly)?|definitive(?:ly)?|definite|ultimate(?:ly)?|eventually|autopsy|post-?mortem)\b", re.I
)
_FIRM_PATTERNS = [
    rf"\b{_QUALIFIED}diagnos[ie]s\s*:\s*(?P<name>.+)",
    rf"\b{_QUALIFIED}diagnosis of (?P<name>.+)",
    rf"\b{_QUALIFIED}diagnosis (?:was|is|were) (?:therefore |thus |then |finally |consequently )?"
    r"(?:established as|made as|confirmed as|determined to be|that of|consistent with)?\s*(?P<name>.+)",
    r"\bdiagnosed (?:\w+ly )?(?:with|as having|as|to have)\s+(?P<name>.+)",
    r"\bconfirm\w* (?:the )?(?:diagnosis|presence) of (?P<name>.+)",
    r"\bconfirmed to (?:be|have) (?P<name>.+)",
    r"\b(?:biops\w+|histo\w+|patholog\w+|cultures?|sequencing|autopsy|examination|test(?:ing)?|analysis|reaction)\b"
    r"[^.]{0,60}\bconfirm(?:ed|ing)\s+(?P<name>.+)",
    r"\bdiagnostic (?:of|for) (?P<name>.+)",
    r"\b(?:turned out|proved|was found|were found) to (?:be|have) (?P<name>.+)",
    r"(?:^|[,;] (?:and |so )?)(?:(?:thus|therefore|finally|hence|consequently|subsequently|a|an|the),? )*"
    r"(?P<name>(?:[\w'’-]+ ){0,8}?[\w'’-]+) (?:was|were) (?:\w+ly |then |thus |therefore )?diagnosed\b",
    r"\bwe (?:\w+ly )?diagnosed (?P<name>.+)",
]
_WEAK_PATTERNS = [
    r"\b(?:consistent|compatible|in keeping|in line) with (?P<name>.+)",
    r"\b(?:suggestive|indicative|characteristic|pathognomonic|typical) (?:of|for) (?P<name>.+)",
    r"\bsuggest(?:ed|ing|s) (?:the diagnosis of |the presence of )?(?P<name>.+)",
]
_RELATIVE = re.compile(
    r"\b(?:mother|father|parents?|brothers?|sisters?|siblings?|sons?|daughters?|uncles?|aunts?|cousins?|grand\w+"
    r"|relatives?|twin|family|wife|husband)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:histor(?:y|ies) (?:of|was|included)|medical history|previously|formerly|years? (?:ago|earlier|before"
    r"|previously"
    r"|prior)|months? (?:ago|earlier|before|previously|prior)|weeks? (?:ago|earlier|before|prior)|known"
    r"|had been diagnosed"
    r"|has been diagnosed|at (?:the )?age (?:of )?\d+|aged? \d+ years?|as a (?:child|teenager|young)|in (?:her|his) "
    r"(?:childhood|youth|teens|twenties|thirties|forties|fifties)|in (?:19|20)\d\d|since (?:the age|(?:19"
    r"|20)\d\d|childhood)"
    r"|in remission|in the past|long-standing|prior to (?:admission|presentation|referral)|(?:other|another"
    r"|outside|local)"
    r" (?:hospital|clinic|institution|department)|elsewhere|primary care|general practitioner)\b",
    re.IGNORECASE,
)
_TENTATIVE = re.compile(
    r"\b(?:misdiagnos\w*|mistaken|differential|provisional|working|tentative|suspect\w*|suspicion|initial(?:ly)?|first"
    r"|presum\w+|preliminary|pre-?operative(?:ly)?|admission diagnosis|admitting|referr(?:al|ing) diagnosis|possible"
    r"|probable|no diagnosis|could not|cannot|no evidence|ruled out|excluded|exclud\w+|rule out|considered"
    r"|not (?:consistent"
    r"|compatible|suggestive|confirmed|diagnosed|diagnostic)|unlikely|negative for|without a diagnosis"
    r"|before the diagnosis"
    r"|wrong(?:ly)?|incorrect(?:ly)?|erroneous(?:ly)?|in spite of the diagnosis|revised|instead)\b",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\b(?:is|are|can|may|should|must|often|usually|rarely|generally|typically|has been reported|have been reported"
    r"|in the literature|patients|cases)\b",
    re.IGNORECASE,
)
_THIS_PATIENT = re.compile(
    r"\b(?:our|this|the (?:present|index|current|reported)) (?:patient|case|man|woman|boy|girl|child|infant)"
    r"|\bthe patient\b"
    r"|\bautopsy\b|\bhe was\b|\bshe was\b",
    re.IGNORECASE,
)
WITHOUT_NAME = re.compile(
    r"\b(?:confirm\w*|establish\w*|prov(?:ed|en)|support\w*) (?:the |this |our )?(?:\w+ )?diagnosis\b(?! of)"
    r"|\bdiagnosis was (?:\w+ly )?(?:confirmed|established|proven|made)\b",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """A diagnosis that a sentence states."""

    name: str
    firmness: Firmness


def read_statement(sentence: str, *, about_patient: bool, in_diagnosis_section: bool = False) -> Statement | None:
    """The diagnosis that a sentence states of the patient. `about_patient`: it is part of the case, not a "
    "discussion."""
    text = strip_marks(sentence)
    if is_of_others(text) or is_tentative(text):
        return None
    if not about_patient and ((not _THIS_PATIENT.search(text) and not _FINAL.search(text)) or _GENERAL.search(text)):
        return None
    for patterns, firmness in ((_FIRM_PATTERNS, "firm"), (_WEAK_PATTERNS, "weak")):
        for pattern in patterns:
            match = re.search(pattern, text, re.IGNORECASE)
            if match and (name := parse_name(match["name"])):
                is_final = in_diagnosis_section or bool(_FINAL.search(text))
                return Statement(name, "final" if is_final and firmness == "firm" else _as_firmness(firmness))
    if in_diagnosis_section and not text.endswith(".") and (name := parse_name(text)):
        return Statement(name, "final")  # a section that is nothing but the name
    return None


def _as_firmness(text: str) -> Firmness:
    return "firm" if text == "firm" else "weak"


def is_of_others(sentence: str) -> bool:
    """Whether what a sentence diagnoses is of the past, or of a relative."""
    return bool(_PAST.search(sentence) or _RELATIVE.search(sentence))


def is_tentative(sentence: str) -> bool:
    """Whether a diagnosis was only suspected, or excluded."""
    return bool(_TENTATIVE.search(sentence))
