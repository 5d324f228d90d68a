"""MMLU-Pro: rows with question_id, question, options (a list), answer (a letter), answer_index, category and src.

Parquet (`data/test-00000-of-00001.parquet`) or JSONL. Options `N/A` only fill the list up to ten and are dropped.
The category is the case's specialty, so that `--specialty health` chooses the medical part.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from wardround.cases.readers.medq_deg.released import split_of
from wardround.cases.readers.tables.case_collector import Gathered, Place, files_of, given
from wardround.cases.readers.tables.json_file import Told, jsonl_records, text
from wardround.cases.readers.tables.option_lists import LETTERS
from wardround.core.errors import BadInput

FILLED = ("n/a", "na", "")  # what stands where there is no option
NEEDED = ("question_id", "question", "options", "answer", "category")
NAMES = {"questions[0]": "options", "id": "question_id"}


def read_mmlu_pro(source: Path) -> Gathered:
    """The cases of its Parquet or JSONL files, or of one of them."""
    gathered = Gathered()
    for file in files_of(source, ".parquet", ".jsonl"):
        for place, told in _rows(file, gathered):
            _take(place, told, gathered)
    return gathered.or_refused(source)


def _rows(file: Path, gathered: Gathered) -> Iterable[tuple[Place, Told]]:
    if file.suffix == ".jsonl":
        return ((Place(file, line), told) for line, told in jsonl_records(file, gathered.problems))
    try:
        table = pl.read_parquet(file)
    except (PolarsError, OSError) as error:
        raise BadInput(file, f"is no Parquet file that can be read: {str(error).splitlines()[0]}") from None
    if lacking := [name for name in NEEDED if name not in table.columns]:
        raise BadInput(file, f"there is no column {lacking[0]!r}")
    return ((Place(file, within=f"[{number}]"), told) for number, told in enumerate(table.iter_rows(named=True)))


def _take(place: Place, told: Told, gathered: Gathered) -> None:
    field = "question_id"
    try:
        name = text(told, field)
        field = "question"
        prompt = text(told, field)
        field = "options"
        options = _options(told.get(field))
        field = "answer"
        gold = _gold(list(options), text(told, field), told.get("answer_index"))
        field = "category"
        category = text(told, field)
    except ValueError as error:
        gathered.problems.append(place.problem(field, str(error)))
        return
    asked = {"id": "mcq", "kind": "choice", "prompt": prompt, "options": list(options.values()), "gold": gold}
    case = {
        "id": f"mmlu-pro-{name}",
        "split": split_of(place.file),
        "specialty": category,
        "origin": {"name": "mmlu-pro"},
        "src": told.get("src"),
        "questions": [asked],
    }
    gathered.take(place, given(case), NAMES)


def _options(told: Any) -> dict[str, str]:
    """By letter, without those that only fill the list."""
    if not isinstance(told, list) or not all(isinstance(option, str) for option in told):
        raise ValueError("should be a list of texts")
    return {
        letter: option.strip()
        for letter, option in zip(LETTERS, told, strict=False)
        if option.strip().lower() not in FILLED
    }


def _gold(letters: list[str], answer: str, index: Any) -> int:
    letter = answer.strip().upper()
    if letter not in letters:
        raise ValueError(f"is {answer!r}; the options are {', '.join(letters) or 'none'}")
    if isinstance(index, int) and LETTERS.index(letter) != index:
        raise ValueError(f"is {letter}, but answer_index is {index}")
    return letters.index(letter)
