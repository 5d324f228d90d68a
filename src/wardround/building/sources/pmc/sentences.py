"""Which sentences of an article are about the patient, tests, diagnosis or treatment. The rules are our choice.

A section's title decides if it is specific (Investigations, Treatment, Discussion); in a section about the whole case
the words of each sentence decide. Sentences after the one that states the diagnosis are not part of the stem, and
neither are sections about diagnosis, treatment or outcome.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from wardround.building.sources.pmc.article import strip_marks
from wardround.building.text.modality import modalities_in
from wardround.marking.evidence.document import split_sentences

# the first match decides, from the innermost title outwards
TITLES = [
    ("differential", r"differential"),
    ("diagnosis", r"(?:final |definitive |clinical )?diagnos(?:is|es)|diagnostic conclusions?"),
    ("treatment", r"treat|manage|therap|intervention|surg|operati|outcome|follow|prognosis|course|post-?operative"),
    ("tests", r"investigat|examinat|finding|assessment|laborator|imaging|radiolog|tests?\b|work-?up|results|patholog"),
    ("discussion", r"discuss|conclu|review of"),
    ("other", r"introduc|background|abstract|consent|ethic|fund|conflict|acknowledg|contribut|method|abbrevi|learning"),
    ("patient", r"case|patient|presentation|history|complaint|clinical|anamnes|symptom"),
]
STEM_PARTS = ("patient", "tests")
DIAGNOSED = re.compile(
    r"\bdiagnos(?:is|es)\b[^.]{0,60}?\b(?:of|was|is|as|made|established|confirmed|reached)\b"
    r"|\bdiagnosis\s*:|\bdiagnosed (?:with|as|to have)\b|\bconfirm\w* (?:the |a )?(?:diagnosis|presence)\b"
    r"|\bconfirmed to (?:be|have)\b",
    re.IGNORECASE,
)
NOT_THE_DIAGNOSIS = re.compile(
    r"\b(?:histor(?:y|ies) of|previously|years? (?:ago|earlier|before)|known|misdiagnos\w*|differential|provisional"
    r"|working|tentative|suspected|initial(?:ly)?|presumptive|no diagnosis|could not|preliminary|family"
    r"|prior to|before the diagnosis|was considered|were considered)\b",
    re.IGNORECASE,
)
TREATED = re.compile(
    r"\b(?:treat(?:ed|ment)|therap(?:y|ies)|administered|prescribed|resected|excised|surgery|surgical|operated|\w{4,}ectomy"
    r"|chemotherapy|radiotherapy|transfus\w+|received|started on|managed|mg|discharged|(?:was|were) given)\b",
    re.IGNORECASE,
)
TESTED = re.compile(
    r"\b(?:laboratory|blood (?:count|test|pressure)|serum|h(?:a)?emoglobin|leu[ck]ocyt\w*|platelet|c-reactive"
    r"|creatinine|examination|biops\w+|culture|urinalysis|electrolyte|ecg|electrocardiogra\w*|spirometr\w*"
    r"|lumbar puncture|stain\w*|antibod\w+|levels?|scan|imaging|tests?|tested|revealed|microscop\w*|histolog\w*"
    r"|histopatholog\w*)\b",
    re.IGNORECASE,
)
PATIENT = re.compile(
    r"\b(?:\d{1,3}[\s-]*(?:year|month|week|day)s?[\s-]*old|\d+ years of age|aged \d+|newborn|neonate|infant|boy|girl"
    r"|man|woman|male|female|patient)\b",
    re.IGNORECASE,
)
SHOWS = re.compile(
    r"\b(?:show\w*|reveal\w*|demonstrat\w*|depict\w*|disclos\w*|display\w*|seen|visib\w+|visuali[sz]ed|identified"
    r"|detected|found|noted|observed|image|images)\b",
    re.IGNORECASE,
)


class Sentence(NamedTuple):
    """A sentence, the part of the case that it belongs to, and its paragraph."""

    text: str
    part: str
    paragraph: int


def classify_sentences(sections: list[dict[str, Any]]) -> list[Sentence]:
    """Every sentence of an article with its part. After the diagnosis, stem sentences become `treatment` or `after`."""
    classified: list[Sentence] = []
    stated = False
    for number, (role, paragraph) in enumerate(_paragraphs(sections)):
        for sentence in split_sentences(paragraph):
            part = _part(sentence, role)
            stated = stated or part == "diagnosis"
            if part in STEM_PARTS and stated:
                part = "treatment" if TREATED.search(sentence) else "after"
            classified.append(Sentence(sentence.strip(), part, number))
    return classified


def _paragraphs(sections: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for section in sections:
        role = role_of(section["titles"])
        yield from ((role, paragraph) for paragraph in section["paragraphs"])


def role_of(titles: list[str]) -> str:
    """The part of the case that a section is about, by its titles."""
    for title in reversed(titles):
        for role, words in TITLES:
            if re.search(rf"\b(?:{words})", title, re.IGNORECASE):
                return role
    return "other"


def _part(sentence: str, role: str) -> str:
    if role not in STEM_PARTS:
        return role
    plain = strip_marks(sentence)
    if DIAGNOSED.search(plain) and not NOT_THE_DIAGNOSIS.search(plain):
        return "diagnosis"
    if role == "tests" or (
        (TESTED.search(plain) or modalities_in(plain)) and not re.search(r"\bhistory of\b", plain, re.I)
    ):
        return "tests"
    return "patient"


def describes_image(sentence: str) -> bool:
    """Whether a sentence describes what images show."""
    plain = strip_marks(sentence)
    return bool(modalities_in(plain) and SHOWS.search(plain))
