"""The offline judge: compares a diagnosis with the gold and its accepted names by core/names."""

import re
from pathlib import Path

from wardround.core.case import Question
from wardround.core.errors import WardroundError
from wardround.core.names import NO_SYNONYMS, Synonyms, same_disease
from wardround.core.names.comparison import compared_words
from wardround.core.study import JudgeSettings
from wardround.marking.judges.synonym_tables import hash_table, read_synonym_table

VERSION = "lexical-3"
_DENIED = re.compile(
    r"\b(?:absence|lack|exclusion) of\b|\b(?:unlikely|doubtful|excluded|ruled out|family history|differential only)\b",
    re.I,
)
_RELATION = re.compile(r"\b(?:from|with|after|following|due to|secondary to|(?:caused|complicated) by)\b", re.I)


class LexicalJudge:
    """The judge `lexical`."""

    def __init__(self, synonyms: Synonyms = NO_SYNONYMS, table: str = "") -> None:
        self.synonyms = synonyms
        self.name = f"{VERSION}:{table}" if table else VERSION

    def same(self, question: Question, diagnosis: str) -> bool | None:
        names = [str(question.gold), *question.accept]
        fitting = [name for name in names if _says_the_same(diagnosis, name)]
        return bool(fitting) and same_disease(diagnosis, fitting, self.synonyms)


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
