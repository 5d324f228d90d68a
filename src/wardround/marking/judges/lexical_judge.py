"""The offline judge: compares a diagnosis with the gold and its accepted names by core/names."""

import re
from pathlib import Path

from wardround.core.case import Question
from wardround.core.errors import WardroundError
from wardround.core.names import NO_SYNONYMS, Synonyms, same_disease
from wardround.core.names.comparison import compared_words
from wardround.core.study import JudgeSettings
from wardround.marking.judges.synonym_tables import hash_table, read_synonym_table

VERSION = "lexical-4"
_DENIED = re.compile(
    r"\b(?:absence|lack|exclusion|mimic) of\b|\b(?:unlikely|improbable|doubtful|excluded|refuted|rejected|negative"
    r"|never|mimicking|resembling|rather than|instead of|ruled out|family history|differential only)\b",
    re.I,
)
_RELATION = re.compile(r"\b(?:from|with|after|following|due to|secondary to|(?:caused|complicated) by)\b", re.I)
# Two letters stand for many diseases, so only these, of which one meaning prevails, are read (our choice).
_SHORT_NAMES = {
    "AF": "atrial fibrillation",
    "CF": "cystic fibrosis",
    "HF": "heart failure",
    "MI": "myocardial infarction",
    "MS": "multiple sclerosis",
    "PE": "pulmonary embolism",
    "RA": "rheumatoid arthritis",
    "TB": "tuberculosis",
    "UC": "ulcerative colitis",
}
_SHORT_NAME = re.compile(rf"\b({'|'.join(_SHORT_NAMES)})\b")
# Events: a name without a course means the acute one. Of other diseases "acute" makes a subtype (our choice).
_EVENTS = frozenset(["appendicitis", "dissection", "embolism", "infarction", "stroke", "torsion"])
_COURSES = frozenset(["acute", "subacute", "chronic", "recurrent"])


class LexicalJudge:
    """The judge `lexical`."""

    def __init__(self, synonyms: Synonyms = NO_SYNONYMS, table: str = "") -> None:
        self.synonyms = synonyms
        self.name = f"{VERSION}:{table}" if table else VERSION

    def same(self, question: Question, diagnosis: str) -> bool | None:
        names = [str(question.gold), *question.accept]
        diagnosis = _SHORT_NAME.sub(lambda short: _SHORT_NAMES[short[1]], diagnosis)
        fitting = [name for name in names if _says_the_same(diagnosis, name)]
        if not fitting:
            return False
        events = [name for name in fitting if _is_event(name)]
        without_course = re.sub(r"\bacute\s+", "", diagnosis, flags=re.I)
        return same_disease(diagnosis, fitting, self.synonyms) or (
            bool(events) and same_disease(without_course, events, self.synonyms)
        )


def _is_event(name: str) -> bool:
    """Whether a name without a course means the acute disease."""
    words = compared_words(name)
    return bool(words & _EVENTS) and not words & _COURSES


def _says_the_same(diagnosis: str, name: str) -> bool:
    """Whether neither denies what the other affirms, and the same words have the same parts."""
    if bool(_DENIED.search(diagnosis)) != bool(_DENIED.search(name)):
        return False
    ours, theirs = _RELATION.split(diagnosis, maxsplit=1), _RELATION.split(name, maxsplit=1)
    if len(ours) < 2 or len(theirs) < 2 or compared_words(diagnosis) != compared_words(name):
        return True
    return compared_words(ours[0]) == compared_words(theirs[0])


def make_lexical_judge(settings: JudgeSettings, base_folder: Path) -> LexicalJudge:
    """The lexical judge with its table of synonyms, if any; the table's hash is in its name."""
    for key in settings.extra_body:
        if key != "synonyms":
            raise WardroundError(f"judge: extra_body.{key}: unknown key; the lexical judge takes synonyms")
    file = settings.synonym_file
    if file is None:
        return LexicalJudge()
    if not isinstance(file, str):
        raise WardroundError(f"judge: synonyms: should be the path of a table, not {file!r}")
    table = base_folder / file
    return LexicalJudge(read_synonym_table(table), hash_table(table))
