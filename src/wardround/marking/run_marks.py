"""Marking of a whole run: marks.parquet, and the judge's part of the manifest."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from wardround.marking.evidence.grounding import SupportTest, is_supported
from wardround.marking.evidence.support_judge import support_pairs
from wardround.marking.judges.calls import JudgeCalls
from wardround.marking.judges.judge import list_predictions, verdict_table, write_verdicts
from wardround.marking.marks import MARKS_FILE, mark_answers, with_error_classes, write_marks
from wardround.running.parquet import write_in_parts
from wardround.running.stored_run import StoredRun
from wardround.running.used_answers import RunEvidence, scan_used

AddLabels = Callable[[pl.DataFrame, Path], pl.DataFrame]  # marks and run folder -> marks with labels by people


def write_run_marks(run: StoredRun, calls: JudgeCalls | None, parser: str, errors: bool, add_labels: AddLabels) -> None:
    """Marks every answer that a run used. With `errors` the judge names the error class of each wrong one."""
    used, evidence = scan_used(run.folder), RunEvidence(run.folder)
    marking = partial(mark_answers, used, run.cases, run.store, run.study, parser=parser, run_evidence=evidence)
    if calls is None:
        write_in_parts(run.folder / MARKS_FILE, marking())
        return
    predictions = list_predictions(used, run.cases, run.store)
    judge = calls.judge(predictions)
    write_verdicts(run.folder, verdict_table(predictions, run.cases, judge), judge.name)
    support_test: SupportTest = is_supported
    if run.study.literature is not None and run.study.literature.support == "judge":
        support_test = calls.support(support_pairs(run, evidence, judge, parser))
    marks = add_labels(pl.concat(marking(judge=judge, support_test=support_test)), run.folder)
    if errors:
        marks = with_error_classes(marks, calls.error_classes(marks, used))
    write_marks(run.folder, marks)


def judged_manifest(manifest: dict[str, Any], calls: JudgeCalls | None) -> dict[str, Any]:
    """The manifest with this judge; what it said of an earlier judge is dropped."""
    earlier = manifest.get("judge") or {}
    why = None if manifest["why"] == earlier.get("why") else manifest["why"]
    warnings = [warning for warning in manifest["warnings"] if warning not in earlier.get("warnings", [])]
    judge = calls.manifest() if calls else None
    if judge:
        why, warnings = why or judge.get("why"), warnings + judge["warnings"]
    return manifest | {
        "status": "incomplete" if why else "complete",
        "why": why,
        "warnings": warnings,
        "judge": judge,
    }


def chance_accuracy(marks: pl.LazyFrame) -> float | None:
    """The accuracy of guessing: the mean of 1/K over the choice questions asked."""
    choices = marks.filter(pl.col("k").is_not_null())
    questions = choices.group_by("case", "question").agg(pl.col("k").first()).group_by("k").len().sort("k")
    counts = dict(questions.collect(engine="streaming").iter_rows())
    return round(sum(n / k for k, n in counts.items()) / sum(counts.values()), 9) if counts else None
