"""Labels of open answers: what "Most likely diagnosis:", "DDx:" or "Next steps" say of the text after them."""

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from wardround.marking.parser.diagnoses.vocabulary import one_of, read_vocabulary

MAX_LABEL = 70  # characters


class LabelRole(Enum):
    """What a label says of the text after it. The value of each role names its entries in labels.toml."""

    FINAL = "final"
    LIKELY = "likely"
    DIFFERENTIAL = "differential"
    EXCLUDED = "excluded"
    SEEN = "seen"
    ASIDE = "aside"


class LabelledText(NamedTuple):
    """A label's role and the text after it on its line."""

    role: LabelRole
    text: str


def phrases(kind: str) -> str:
    """All phrases of this kind, of all languages, as one pattern."""
    return one_of(phrase for language in read_vocabulary("labels.toml").values() for phrase in language.get(kind, ()))


_ROLES = [(role, re.compile(phrases(role.value), re.I)) for role in LabelRole]
_SEPARATED = re.compile(rf"(.{{1,{MAX_LABEL}}}?)(?:\s*(?::|→|[-=]>)\s*|\?\s+|\s+[–—=-]\s+)(.*)", re.S)
_UNSEPARATED = re.compile(
    r"(ddx|d/d|(?:top |likely |working |suspected )?dx|imp|differential(?! diag| incl| cons| list))\.?\s+"
    r"(?!(?:is|was|are|for|of|would|in|here)\b)(?=\S)(.*)",
    re.I,
)
_STEP = re.compile(r"(?:step|part)\s+\d{1,2}\s*[:.–—-]\s*(?=\S)", re.I)
_PREFIX = re.compile(
    r"(?:(?:step|part|section)\s+\d{1,2}\b|\d{1,2}[.)]|[a-h]\))?[\s:.–—-]*(?:what(?:'s| is| are| would be)\s+)?"
    r"(?:(?:the|my|our|your)\s+)?",
    re.I,
)
_ABOUT_FINDINGS = re.compile(
    r"\b(?:findings?|features?|clues?|symptoms?|signs?|observations?|facts|reasons?|factors?|tests?|investigations?|steps?"
    r"|work-?up|treatments?|management|recommend\w*|summary|analy[sz]\w+|explanation|rationale|reasoning|support\w*)\b",
    re.I,
)
_ABOUT_DIAGNOSES = re.compile(
    r"diagnos|differential|possibilit|considerations|\bcauses\b|\bconsider\b|\bconditions\b|rank", re.I
)
_ANY_DIAGNOSIS = re.compile(r"(?!no |not |past |previous |initial )(?:[\w-]+ ){1,2}(?:diagnosis|impression|dx)", re.I)
_SENTENCE = re.compile(r"\b(?:is|are|was|remains)\b(?!\W*\Z).*[\w)]\.?\Z", re.I)  # not "the diagnosis is:"
_ABOUT_ONE = re.compile(
    r"\b(?:most (?:likely|probable)|final|primary|leading|main|top)\b.*\b(?:diagnosis|answer)(?: is)?\Z"
    r"|\bdiagnosis\b.*\bis\Z",
    re.I,
)

_LEADS_TO_ONE = re.compile(
    r"\b(?:gives?|makes?|clinch(?:es)?|establish(?:es)?|yields?"
    r"|suggests?|supports?|confirms?|points? to|leads? to|leaves) (?:the|an?|one|a single|only one) (?:\w+ )?"
    r"(?:diagnosis|answer|conclusion)\Z",
    re.I,
)


@lru_cache(4096)
def label_role(label: str) -> LabelRole | None:
    """The role of a label; None if it is not one."""
    label = _PREFIX.sub("", label.strip(" *_:.?#>-–—"), count=1).strip()
    if not label or len(label) > MAX_LABEL:
        return None
    if _LEADS_TO_ONE.search(label):
        return LabelRole.LIKELY
    known = next((role for role, pattern in _ROLES if pattern.fullmatch(label)), None)
    return known or (LabelRole.LIKELY if _ANY_DIAGNOSIS.fullmatch(label) else None)


def heading_role(heading: str) -> LabelRole | None:
    """The role of a heading or of a line that ends with a colon: by its words, if it is not a known label."""
    if role := label_role(heading):
        return role
    if _SENTENCE.search(heading):
        return None
    text = heading.rstrip(" :")
    if _ABOUT_ONE.search(text):
        return LabelRole.LIKELY
    if _ABOUT_FINDINGS.search(text) and not re.search(r"differential|diagnoses", text, re.I):
        return LabelRole.ASIDE
    return LabelRole.DIFFERENTIAL if _ABOUT_DIAGNOSES.search(text) else None


def split_label(text: str) -> LabelledText | None:
    """The label at the start of a line, and what it labels. A numbered step with a label is labelled by it."""
    if (step := _STEP.match(text)) and (labelled := split_label(text[step.end() :])):
        return labelled
    for pattern in (_SEPARATED, _UNSEPARATED):
        if (parts := pattern.fullmatch(text)) and (role := label_role(parts[1])):
            return LabelledText(role, parts[2].strip())
    return None
