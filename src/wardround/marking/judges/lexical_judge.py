"""The offline judge: compares a diagnosis with the gold and its accepted names by core/names.py."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wardround.core.canonical import blake
from wardround.core.case import Question
from wardround.core.errors import WardroundError
from wardround.core.names import NO_SYNONYMS, Synonyms, read_synonyms, same_disease

VERSION = "lexical-2"


class LexicalJudge:
    """The judge `lexical`."""

    def __init__(self, synonyms: Synonyms = NO_SYNONYMS, table: str = "") -> None:
        self.synonyms = synonyms
        self.name = f"{VERSION}:{table}" if table else VERSION

    def same(self, question: Question, diagnosis: str) -> bool | None:
        return same_disease(diagnosis, [str(question.gold), *question.accept], self.synonyms)


def make_lexical_judge(extra_body: Mapping[str, Any], base_folder: Path) -> LexicalJudge:
    """The lexical judge with the table of synonyms in extra_body, if any."""
    for key in extra_body:
        if key != "synonyms":
            raise WardroundError(f"judge: extra_body.{key}: unknown key; the lexical judge takes synonyms")
    file = extra_body.get("synonyms")
    if file is None:
        return LexicalJudge()
    if not isinstance(file, str):
        raise WardroundError(f"judge: extra_body.synonyms: should be the path of a CSV file, not {file!r}")
    pairs = read_synonyms(base_folder / file)
    return LexicalJudge(Synonyms(pairs), blake(pairs).hex()[:8])
