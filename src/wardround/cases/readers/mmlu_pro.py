"""MMLU-Pro: rows with question_id, question, options (a list), answer (a letter), answer_index, category and src.

Parquet (`data/test-00000-of-00001.parquet`) or JSONL. Options `N/A` only fill the list up to ten and are dropped.
The category is the case's specialty, so that `--specialty health` selects the medical part.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from wardround.cases.readers.tables.case_collector import CaseCollector, RecordPlace
from wardround.cases.readers.tables.json_file import PlacedRecord, jsonl_records, list_of_texts, required_text
from wardround.cases.readers.tables.source_files import find_files_by_suffix, split_in_name
from wardround.core.case import drop_empty
from wardround.core.errors import BadInput
from wardround.core.text import LETTERS

NO_OPTION = ("n/a", "na", "")
REQUIRED = ("question_id", "question", "options", "answer", "category")
NAMES = {"questions[0]": "options", "id": "question_id"}


def read_mmlu_pro(source: Path) -> CaseCollector:
    """The cases of its Parquet or JSONL files, or of one of them."""
    cases = CaseCollector()
    for file in find_files_by_suffix(source, ".parquet", ".jsonl"):
        for place, record in _records_of(file, cases):
            _add(place, record, cases)
    return cases.require_cases(source)


def _records_of(file: Path, cases: CaseCollector) -> Iterator[PlacedRecord]:
    if file.suffix == ".jsonl":
        return jsonl_records(file, cases.problems)
    try:
        table = pl.read_parquet(file)
    except (PolarsError, OSError) as error:
        raise BadInput(file, f"cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    if missing := [name for name in REQUIRED if name not in table.columns]:
        raise BadInput(file, f"there is no column {missing[0]!r}")
    rows = enumerate(table.iter_rows(named=True))
    return ((RecordPlace(file, within=f"[{index}]"), record) for index, record in rows)


def _add(place: RecordPlace, record: dict[str, Any], cases: CaseCollector) -> None:
    field = "question_id"
    try:
        name = required_text(record, field)
        field = "question"
        prompt = required_text(record, field)
        field = "options"
        options = _options(record.get(field))
        field = "answer"
        gold = _gold(list(options), required_text(record, field), record.get("answer_index"))
        field = "category"
        category = required_text(record, field)
    except ValueError as error:
        cases.problems.append(place.problem(field, str(error)))
        return
    question = {"id": "mcq", "kind": "choice", "prompt": prompt, "options": list(options.values()), "gold": gold}
    case = {
        "id": f"mmlu-pro-{name}",
        "split": split_in_name(place.file),
        "specialty": category,
        "origin": {"name": "mmlu-pro"},
        "src": record.get("src"),
        "questions": [question],
    }
    cases.add(place, drop_empty(case), NAMES)


def _options(options: Any) -> dict[str, str]:
    """By letter, without those that only fill the list."""
    by_letter = zip(LETTERS, map(str.strip, list_of_texts(options)), strict=False)
    return {letter: option for letter, option in by_letter if option.lower() not in NO_OPTION}


def _gold(letters: list[str], answer: str, index: Any) -> int:
    letter = answer.strip().upper()
    if letter not in letters:
        raise ValueError(f"is {answer!r}; the options are {', '.join(letters) or 'none'}")
    if isinstance(index, int) and LETTERS.index(letter) != index:
        raise ValueError(f"is {letter}, but answer_index is {index}")
    return letters.index(letter)
