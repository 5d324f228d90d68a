"""A marks file as large as MedQ-Deg's calibration run, and the program that measures it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")  # as scipy: threads wait in vain

import numpy as np
import polars as pl

from perf.measured import Clock, print_usage
from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.marks import MARKS_SCHEMA
from wardround.measuring import measure
from wardround.measuring.engine.resampling.estimates import Resampling
from wardround.measuring.engine.tables import write_table

CANDIDATES, TRIALS = 40, 10
CLEAN, DEGRADED = 4_306, 10_294  # records at L0, and at each of L1 and L2
TYPES, CAPABILITIES = 18, 9
MODALITIES = ("MRI", "CT", "X-ray", "ultrasound", "dermoscopy", "histopathology", "endoscopy")


def write_marks(folder: Path, candidates: int) -> int:
    """One parquet file per candidate; how many marks there are."""
    folder.mkdir()
    random = np.random.default_rng(0)
    asked, difficulty = _questions(random)
    for number in range(candidates):
        _answers(asked, difficulty + random.normal(0, 0.05), f"model-{number:02}", random).write_parquet(
            folder / f"{number:02}.parquet"
        )
    return candidates * len(asked) * TRIALS


def _questions(random: np.random.Generator) -> tuple[pl.DataFrame, np.ndarray]:
    """Every record: 4,306 clean questions, and 10,294 of them degraded at each of two levels."""
    of, kind = np.sort(random.integers(0, CLEAN, DEGRADED)), random.integers(0, TYPES, DEGRADED)
    case = np.concatenate([np.arange(CLEAN), of, of])
    level = np.repeat([0, 1, 2], [CLEAN, DEGRADED, DEGRADED])
    type_ = np.concatenate([np.full(CLEAN, -1), kind, kind])
    nth = np.concatenate([np.zeros(CLEAN, int), np.arange(DEGRADED), np.arange(DEGRADED)])
    modality, capability = random.integers(0, len(MODALITIES), CLEAN), random.integers(0, CAPABILITIES, CLEAN)
    asked = pl.DataFrame(
        {
            "case": [f"case-{number:05}" for number in case],
            "cluster": [f"case-{number:05}" for number in case],
            "question": ["mcq" if not at else f"L{at}-{n % 50}" for at, n in zip(level, nth, strict=True)],
            "of": [None if not at else "mcq" for at in level],
            "severity": [f"L{at}" for at in level],
            "type": [None if n < 0 else f"type-{n:02}" for n in type_],
            "category": [None if n < 0 else "general" if n < TYPES // 2 else "specific" for n in type_],
            "capability": [f"capability-{n}" for n in capability[case]],
            "modality": [[MODALITIES[n]] for n in modality[case]],
            "gold": random.integers(0, 4, len(case)).astype(np.int16),
        }
    ).with_columns(kind=pl.lit("choice"), k=pl.lit(4, dtype=pl.Int16))
    return asked, random.beta(3, 2, CLEAN)[case] - 0.06 * level


def _answers(asked: pl.DataFrame, chance: np.ndarray, name: str, random: np.random.Generator) -> pl.DataFrame:
    shape = (len(asked), TRIALS)
    gold = asked["gold"].to_numpy()[:, None]
    right = random.random(shape) < chance[:, None]
    option = np.where(right, gold, (gold + random.integers(1, 4, shape)) % 4)
    outcome = np.where(random.random(shape) < 0.02, "unparsed", np.where(right, "right", "wrong"))
    marks = asked[np.repeat(np.arange(len(asked)), TRIALS)].with_columns(
        candidate=pl.lit(name),
        condition=pl.lit(Condition(confidence="votes").json),
        trial=pl.Series(np.tile(np.arange(TRIALS), len(asked)), dtype=pl.Int32),
        option=pl.Series(option.ravel(), dtype=pl.Int16),
        outcome=pl.Series(outcome.ravel()),
        parser=pl.lit("strict-1"),
    )
    marks = marks.with_columns(option=pl.when(pl.col("outcome") == "unparsed").then(None).otherwise("option"))
    empty = [
        pl.lit(None, dtype=dtype).alias(column) for column, dtype in MARKS_SCHEMA.items() if column not in marks.columns
    ]
    return marks.with_columns(empty).select(*MARKS_SCHEMA)


def main(folder: Path, candidates: int, out: Path) -> None:
    named = [{"name": f"model-{n:02}", "provider": "p", "model": str(n)} for n in range(candidates)]
    study = Study.model_validate({"name": "perf", "cases": "perf", "trials": TRIALS, "candidates": named})
    marks = pl.scan_parquet([folder / f"{n:02}.parquet" for n in range(candidates)])
    intervals = _clocked_intervals()
    started = Clock.now()
    table = measure(marks, study)
    write_table(out, table)
    print_usage(started, lines=len(table), intervals=sum(intervals))


def _clocked_intervals() -> list[float]:
    """Where the CPU of all that happens between cluster sums and interval ends will be clocked_function."""
    seconds: list[float] = []
    depth = 0

    def clocked(function: Callable[..., None]) -> Callable[..., None]:
        def clocked_function(*arguments: Any) -> None:
            nonlocal depth
            depth += 1
            started = time.process_time()
            function(*arguments)
            depth -= 1
            if not depth:  # `add` calls `finish`
                seconds.append(time.process_time() - started)

        return clocked_function

    Resampling.add, Resampling.finish = clocked(Resampling.add), clocked(Resampling.finish)  # type: ignore[method-assign]
    return seconds


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
