"""The offline judge: compares a diagnosis with the gold and its accepted names by core/names."""

from pathlib import Path

from wardround.core.case import Question
from wardround.core.errors import WardroundError
from wardround.core.names import NO_SYNONYMS, Synonyms, same_disease
from wardround.core.study import JudgeSettings
from wardround.marking.judges.synonym_tables import hash_table, read_synonym_table

VERSION = "lexical-3"


class LexicalJudge:
    """The judge `lexical`."""

    def __init__(self, synonyms: Synonyms = NO_SYNONYMS, table: str = "") -> None:
        self.synonyms = synonyms
        self.name = f"{VERSION}:{table}" if table else VERSION

    def same(self, question: Question, diagnosis: str) -> bool | None:
        return same_disease(diagnosis, [str(question.gold), *question.accept], self.synonyms)


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
