"""Validation of a reader: how often it reads another option than the one that people find in a reply."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wardround.core.condition import DEFAULTS
from wardround.core.errors import BadInput
from wardround.marking.marks import MARKS_FILE
from wardround.marking.model_reader import RULE
from wardround.measuring.engine.wilson import wilson
from wardround.measuring.validation.judge_labels import json_rows

ANSWER = ("candidate", "case", "question", "condition", "trial")


def measure_reader(folder: Path, labels: Path) -> dict[str, Any]:
    """The share of a reader's labelled readings that are wrong, with Wilson's interval for answers.

    A label is an object of a JSONL file: an answer by `candidate`, `case`, `question`, `condition` and `trial`, and the
    `option` that a person finds in its reply (its number in the case, from 0, or null for none).
    """
    read = pl.scan_parquet(folder / MARKS_FILE).filter(pl.col("rule") == RULE).select(*ANSWER, "option").collect()
    option_by_answer = {_answer(row): row["option"] for row in read.iter_rows(named=True)}
    label_by_answer: dict[tuple[str, ...], int | None] = {}
    for line, label in json_rows(labels):
        answer, option = _labelled_answer(label, labels, line)
        if label_by_answer.setdefault(answer, option) != option:
            raise BadInput(labels, "contradicts an earlier line about the same answer", line=line, field="option")
    labelled = option_by_answer.keys() & label_by_answer.keys()
    if not labelled:
        raise BadInput(labels, f"none of {len(label_by_answer)} labels is of an answer that a reader read in {folder}")
    wrong = sum(option_by_answer[answer] != label_by_answer[answer] for answer in labelled)
    share = wrong / len(labelled)
    low, high = wilson(np.array(share), np.array(float(len(labelled))))
    return {
        "readings": len(option_by_answer),
        "labelled": len(labelled),
        "unmatched": len(label_by_answer.keys() - labelled),
        "wrong": wrong,
        "error": share,
        "low": float(low),
        "high": float(high),
    }


def _labelled_answer(label: Mapping[str, Any], file: Path, line: int) -> tuple[tuple[str, ...], int | None]:
    """The answer that a label is about, and its option."""
    for name in (*ANSWER, "option"):
        if name not in label:
            raise BadInput(file, "is missing", line=line, field=name)
    option = label["option"]
    if option is not None and (not isinstance(option, int) or isinstance(option, bool) or option < 0):
        problem = f"is {option!r}; expected the number of an option, from 0, or null"
        raise BadInput(file, problem, line=line, field="option")
    try:
        return _answer(label), option
    except (TypeError, ValueError):
        raise BadInput(file, "expected an object of axes and values", line=line, field="condition") from None


def _answer(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The key of an answer; the condition is an object, or its JSON as in marks. Axes left out have their defaults."""
    condition = record["condition"]
    values = {**DEFAULTS, **(json.loads(condition) if isinstance(condition, str) else condition)}
    texts = {**record, "condition": json.dumps(values, sort_keys=True)}
    return tuple(str(texts[name]) for name in ANSWER)
