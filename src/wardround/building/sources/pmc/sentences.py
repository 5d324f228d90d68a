"""Which sentences of an article are about the patient, tests, diagnosis or treatment. The rules are our choice.

A section's title decides if it is specific (Investigations, Treatment, Discussion); in a section about the whole case,
or about several parts of it, the words of each sentence decide. Sentences after the one that states the diagnosis are
not part of the stem, and neither are sections about diagnosis, treatment or outcome.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from wardround.building.sources.pmc.article import Sentence, find_marks, strip_marks
from wardround.building.sources.pmc.differentials import considers_diagnoses
from wardround.building.sources.pmc.statements import WITHOUT_NAME, is_of_others, is_tentative, read_statement
from wardround.building.text.modality import modalities_in
from wardround.building.text.redact import find_revealed_name, redact_diagnosis
from wardround.marking.evidence.document import split_sentences

# the first match decides, from the innermost title outwards
TITLES = [
    (
        "differential",
        r"differential"
        r"|(?:provisional|initial|preliminary|working|presumptive|tentative|pre-?operative|admission|suspected) diagnos"
        r"|what(?:['’]s| is) (?:your|the) diagnosis|(?:diagnostic|diagnosis) (?:options|choices)",
    ),
    ("diagnosis", r"(?:final |definitive |clinical )?diagnos(?:is|es)|diagnostic conclusions?"),
    ("discussion", r"discuss|review of|comment"),
    ("conclusion", r"conclu|learning|lesson|take-?home|(?:key|clinical|teaching) (?:point|message|pearl)"),
    ("treatment", r"treat|manage|therap|intervention|surg|operati|outcome|follow|prognosis|course|post-?operative"),
    ("tests", r"investigat|examinat|finding|assessment|laborator|imaging|radiolog|tests?\b|work-?up|results|patholog"),
    (
        "other",
        r"introduc|background|abstract|consent|ethic|fund|conflict|acknowledg|contribut|method|abbrevi|disclos|perspective"
        r"|statement|declar|(?<!case )summary$",
    ),
    ("patient", r"case|patient|presentation|history|complaint|clinical|anamnes|symptom|summary|observation"),
]
_OTHER_TITLE = re.compile(rf"\b(?:{dict(TITLES)['other']})", re.IGNORECASE)
OF_THE_CASE = ("differential", "diagnosis", "treatment", "tests", "patient")
STEM_PARTS = ("patient", "tests")
TREATED = re.compile(
    r"\b(?:treat(?:ed|ment)|therap(?:y|ies)|administered|prescribed|resected|resection|excised|excision|surgery|surgical"
    r"|operated|\w{3,}ectomy|chemotherapy|radiotherapy|transfus\w+|transplant\w*|ablation|drainage|enucleation|injected"
    r"|received|started on|managed|mg|discharged|underwent|infus\w+|vials?|antidote|injections?"
    r"|coiled|clipped|stented|(?:was|were) repaired"
    r"|recompress\w*|hyperbaric|(?:improved|recovered|resolved|responded) (?:on|with|after|to|within)"
    r"|(?:was|were) (?:given|started|initiated|commenced))\b",
    re.IGNORECASE,
)
TESTED = re.compile(
    r"\b(?:laboratory|blood (?:count|test|pressure)|serum|h(?:a)?emoglobin|leu[ck]ocyt\w*|platelet|c-reactive"
    r"|creatinine|examination|biops\w+|culture|urinalysis|electrolyte|ecg|electrocardiogra\w*|spirometr\w*"
    r"|lumbar puncture|stain\w*|antibod\w+|levels?|scan|imaging|tests?|tested|revealed|microscop\w*|histolog\w*"
    r"|histopatholog\w*)\b",
    re.IGNORECASE,
)
# what a case tells of tests even where it names none of TESTED: quantities, vital signs, procedures
TEST_RESULT = re.compile(
    rf"{TESTED.pattern}|\d\s*(?:g/d?L|m?g/m?L|[mnµμu]?mol/L|I?U/m?L|mm\s?Hg|bpm|beats/min|°\s?C|/[µμu]L|ng/m?L|mEq/L)"
    r"|\b(?:temperature|auscultation|palpation|percussion|saturation|pulse|\w{3,}oscop\w+|\w{4,}gra(?:m|ms|phy|phs?)"
    r"|ultraso\w+|x-?rays?|swabs?|pcr|smears?|ct|mri)\b",
    re.IGNORECASE,
)
PATIENT = re.compile(
    r"\b(?:\d{1,3}[\s-]*(?:year|month|week|day)s?[\s-]*old|\d+ years of age|aged \d+|newborn|neonate|infant|boy|girl"
    r"|man|woman|male|female|patient)\b",
    re.IGNORECASE,
)
_AFTER_UNIT = re.compile(r"(?<=/[A-Z]\.)\s+(?=[A-Z])")  # `L` of `3.4 mg/L.` is not an initial
_OF_THE_CASE = re.compile(
    r"\b(?:he|she|his|her|(?:the|our|this) (?:patient|child|infant|boy|girl|man|woman|case)"
    r"|diagnosed|prescribed|\d+[-\s](?:year|month|week|day)s?[-\s]old)\b",
    re.IGNORECASE,
)
SHOWS = re.compile(
    r"\b(?:show\w*|reveal\w*|demonstrat\w*|depict\w*|disclos\w*|display\w*|seen|visib\w+|visuali[sz]ed|identified"
    r"|detected|found|noted|observed|image|images)\b",
    re.IGNORECASE,
)


def classify_sentences(sections: list[dict[str, Any]]) -> list[Sentence]:
    """Every sentence of an article with its part, as if no diagnosis were known."""
    roles = [role_of(section["titles"]) for section in sections]
    is_letter = not set(roles) & set(STEM_PARTS)  # its case has no heading that rules know
    numbered: list[tuple[str, str]] = []
    for role, section in zip(roles, sections, strict=True):
        for paragraph in section["paragraphs"]:
            is_case = is_letter and role == "other" and not any(map(_OTHER_TITLE.search, section["titles"]))
            is_discussed = is_case and bool(numbered) and not _OF_THE_CASE.search(paragraph)
            numbered.append(("discussion" if is_discussed else "patient" if is_case else role, paragraph))
    return [
        Sentence(sentence.strip(), _part(sentence, role), number)
        for number, (role, paragraph) in enumerate(numbered)
        for sentence in split_sentences(_AFTER_UNIT.sub("\n", paragraph))
    ]


def role_of(titles: list[str]) -> str:
    """The part of the case that a section is about, by its titles; `patient` if a title names several parts."""
    for title in reversed(titles):
        roles = [role for role, words in TITLES if re.search(rf"\b(?:{words})", title, re.IGNORECASE)]
        if "differential" in roles:
            roles = [role for role in roles if role != "diagnosis"]
        if roles:
            several = len({"differential", "diagnosis", "treatment", "tests"} & set(roles)) > 1
            return "patient" if several and roles[0] in OF_THE_CASE else roles[0]
    return "other"


def _part(sentence: str, role: str) -> str:
    if role not in STEM_PARTS:
        return role
    plain = strip_marks(sentence)
    if considers_diagnoses(plain) and not find_marks(sentence):
        return "differential"
    if role == "tests" or (
        (TESTED.search(plain) or modalities_in(plain)) and not re.search(r"\bhistory of\b", plain, re.I)
    ):
        return "tests"
    return "patient"


def end_stem(sentences: Iterable[Sentence], names: Sequence[str]) -> list[Sentence]:
    """The sentences with a stem that ends where the diagnosis is stated, and does not name it before.

    From there on stem sentences become `treatment` or `after`. What findings suggest is cut out of their sentence.
    """
    ended: list[Sentence] = []
    is_stated = False
    for sentence in sentences:
        if sentence.part not in STEM_PARTS:
            is_stated = is_stated or sentence.part == "diagnosis"
            ended.append(sentence)
            continue
        if is_stated:
            ended.append(sentence._replace(part="treatment" if TREATED.search(sentence.text) else "after"))
            continue
        plain = strip_marks(sentence.text)
        is_named = find_revealed_name(plain, names) is not None
        is_stated = _states(plain, is_named)
        text = redact_diagnosis(sentence.text, names).text if is_named else sentence.text
        keeps_figure = is_named and bool(find_marks(text))
        if (is_stated and not keeps_figure) or not text:
            ended.append(sentence._replace(part="diagnosis" if is_stated else "after"))
        else:
            ended.append(sentence._replace(text=text))
    return ended


def _states(sentence: str, is_named: bool) -> bool:
    """Whether the diagnosis is known after a sentence: it is stated, suggested by findings, or was confirmed."""
    if is_of_others(sentence) or is_tentative(sentence):
        return False
    return bool(WITHOUT_NAME.search(sentence)) or (
        is_named and read_statement(sentence, about_patient=True) is not None
    )


def describes_image(sentence: str) -> bool:
    """Whether a sentence describes what images show."""
    plain = strip_marks(sentence)
    return bool(modalities_in(plain) and SHOWS.search(plain))
