"""Sentences that state a diagnosis: what they name, how firmly, and of whom. The rules are our choice.

`final` is the diagnosis at the end, `firm` one that was made or confirmed, `weak` what findings suggest. A diagnosis of
the past or of a relative is never the patient's; a first, suspected or excluded one is not a statement; in a discussion
only what is said of this patient, in the past tense, is one.
"""

import re
from typing import Literal, NamedTuple

from wardround.building.sources.pmc.article import strip_marks
from wardround.building.sources.pmc.disease_kinds import is_disease_like
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
    r"(?:established as|made as|confirmed as|(?:revised|changed|corrected) to|determined to be|that of"
    r"|consistent with)?\s*(?P<name>.+)",
    rf"\b{_QUALIFIED}diagnosis (?:as|to be)\s+(?P<name>.+)",
    r"\bdiagnosed (?:\w+ly )?(?:with|as having|as|to have)\s+(?P<name>.+)",
    r"\bconfirm\w* (?:the )?(?:diagnosis|presence) of (?P<name>.+)",
    r"\bconfirmed to (?:be|have) (?P<name>.+)",
    r"\b(?:biops\w+|histo\w+|patholog\w+|cultures?|sequencing|autopsy|examination|test(?:ing)?|analysis|reaction)\b"
    r"[^.]{0,60}\bconfirm(?:ed|ing)\s+(?!(?:by|with|on|in|at)\b)(?P<name>.+)",
    r"\bdiagnostic (?:of|for) (?P<name>.+)",
    r"\bconclu\w+ that (?:he|she|(?:the|our|this) (?:patient|child|infant|boy|girl)) (?:had|has"
    r"|suffered from|was suffering from) (?P<name>.+)",
    r"\b(?:he|she|the patient|our patient) (?:suffered|was suffering) from (?P<name>.+)",
    r"\b(?:turned out|proved|was found|were found) to (?:be|have) (?P<name>.+)",
    r"(?:^|[,;] (?:and |so (?:that )?)?)(?:(?:thus|therefore|finally|hence|consequently|subsequently|a|an|the),? )*"
    r"(?P<name>(?:[\w'’-]+ ){0,8}?[\w'’-]+) (?:was|were) (?:\w+ly |then |thus |therefore )?diagnosed\b",
    r"\bwe (?:\w+ly )?diagnosed (?P<name>.+)",
    r"\b(?:to|could) diagnose (?P<name>.+)",
    rf"(?:^|[,;] (?:and )?)(?:the |an? )?(?P<name>(?:[\w'’-]+ ){{0,9}}?[\w'’-]+)"
    rf" was (?:the|our) {_QUALIFIED}diagnosis\b",
    r"\bcriteria (?:for|of) (?P<name>.+?) (?:were|are) (?:all )?(?:met|fulfilled|satisfied)",
    r"\b(?:met|fulfilled|satisfied) (?:the )?(?:[\w'’-]+ )?criteria (?:for|of) (?P<name>.+)",
]
# what else is confirmed or shown; it has to be named as diseases are
_CONFIRMED_PATTERN = (
    r"(?:^|[,;:] (?:and |so )?|\band )(?:the |an? )?(?P<name>(?:[\w'’-]+ ){0,6}?[\w'’-]+)"
    r" (?:was|were) (?:\w+ly |then |thus )?(?:confirmed|recogni[sz]ed|established)\b"
)
_SHOWN_PATTERNS = (
    r"\b(?:histo\w+|patholog\w+|biops\w+|autopsy|cytolog\w+|immunohisto\w+|surgery|specimen|pcr)\b[^.;]{0,60}"
    r"\b(?:revealed|showed|demonstrated|disclosed|identified|yielded|proved|confirmed)\s+(?P<name>.+)",
    r"\bestablish(?:ed|ing)\s+(?P<name>.+)",
    r"\b(?:our|this) patient had (?P<name>.+)",
    r"\bconfirm(?:ed|ing)\s+(?!(?:by|with|on|in|at)\b)(?P<name>.+)",
)
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
    r"|wrong(?:ly)?|incorrect(?:ly)?|erroneous(?:ly)?|in spite of the diagnosis"
    r"|revised(?! (?:\w+ )?criteria| to)|instead)\b",
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


_PATTERNS: list[tuple[str, Firmness]] = [
    *((pattern, "firm") for pattern in (*_FIRM_PATTERNS, _CONFIRMED_PATTERN)),
    *((pattern, "weak") for pattern in (*_WEAK_PATTERNS, *_SHOWN_PATTERNS)),
]
_LETTER = re.compile(r"^(?:answer\s*:?\s*)?[A-F][.):]\s+", re.IGNORECASE)  # of a question with options
_CONFIRMS = re.compile(r"\b(?:diagnos(?:is|ed)|confirm\w*|established|proved|proven)\b", re.IGNORECASE)
MAX_SECTION_WORDS = 12  # of a section that is nothing but the name


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
    for pattern, firmness in _PATTERNS:
        match = re.search(pattern, text, re.IGNORECASE)
        if match is None or (name := parse_name(match["name"])) is None:
            continue
        if pattern in (_CONFIRMED_PATTERN, *_SHOWN_PATTERNS) and not is_disease_like(name):
            continue
        is_final = in_diagnosis_section or bool(_FINAL.search(text))
        return Statement(name, "final" if is_final and firmness == "firm" else firmness)
    if in_diagnosis_section and (name := _whole_name(text) or _name_of_the_patient(text)):
        return Statement(name, "final")
    return None


def heading_diagnosis(title: str) -> str | None:
    """The diagnosis that a heading states: `Diagnosis: Fournier's gangrene`."""
    match = re.match(rf"\W*(?:\d+\W+)?{_QUALIFIED}diagnosis\s*[:–—-]\s*(?P<name>.+)", title, re.IGNORECASE)
    return parse_name(match["name"]) if match else None


def confirms(sentence: str) -> bool:
    """Whether a sentence says of this patient that something was diagnosed or confirmed."""
    text = strip_marks(sentence)
    return bool(_CONFIRMS.search(text)) and not is_of_others(text) and not is_tentative(text)


def _name_of_the_patient(text: str) -> str | None:
    """What a section on the diagnosis says that the patient has."""
    match = re.match(r"(?:the|our|this) patient (?:had|has|was suffering from)\s+(?P<name>.+)", text, re.IGNORECASE)
    name = parse_name(match["name"]) if match else None
    return name if name and is_disease_like(name) else None


def _whole_name(text: str) -> str | None:
    """The name that is all there is in a section: `B. Pyoderma gangrenosum`, `Sarcoidosis.`"""
    text = text.split(";")[0]
    if len(text.split()) > MAX_SECTION_WORDS:
        return None
    name = parse_name(_LETTER.sub("", text))
    is_sentence = text.endswith(".") and not _LETTER.match(text)
    return name if name and (is_disease_like(name) or not is_sentence) else None


def is_of_others(sentence: str) -> bool:
    """Whether what a sentence diagnoses is of the past, or of a relative."""
    return bool(_PAST.search(sentence) or _RELATIVE.search(sentence))


def is_tentative(sentence: str) -> bool:
    """Whether a diagnosis was only suspected, or excluded."""
    return bool(_TENTATIVE.search(sentence))
