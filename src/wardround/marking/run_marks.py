"""Marking of a whole run: marks.parquet, and the judge's and the reader's part of the manifest."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wardround.marking.evidence.grounding import SupportTest, is_supported
from wardround.marking.evidence.support_judge import support_pairs
from wardround.marking.judges.calls import JudgeCalls
from wardround.marking.judges.judge import (
    PLACE_SCHEMA,
    count_flagged,
    list_predictions,
    read_verdicts,
    verdict_table,
    write_verdicts,
)
from wardround.marking.judges.rubric_judge import RubricVerdicts, rubric_answers
from wardround.marking.mark_table import mark_answers
from wardround.marking.marks import MARK_KEY, MARKS_FILE, with_error_classes, write_marks
from wardround.marking.model_reader import ReaderCalls
from wardround.marking.stored_readings import StoredReadings
from wardround.running.parquet import write_in_parts
from wardround.running.progress import NO_PROGRESS, StepProgress
from wardround.running.stored_run import FewerAnswers, StoredRun
from wardround.running.used_answers import JUDGE_ANSWERS, READER_ANSWERS, RunEvidence, scan_used, write_keys

AddLabels = Callable[[pl.DataFrame, Path], pl.DataFrame]  # marks and run folder -> marks with labels by people


def write_run_marks(
    run: StoredRun,
    calls: JudgeCalls | None,
    parser: str,
    errors: bool,
    add_labels: AddLabels,
    progress: StepProgress = NO_PROGRESS,
    reader: ReaderCalls | None = None,
) -> None:
    """Marks every answer that a run used. With `errors` the judge names the error class of each wrong one.

    The reader is asked for choice answers that the parser could not read.
    """
    used, evidence = scan_used(run.folder), RunEvidence(run.folder)
    scored = used.select(pl.col("scored").sum()).collect().item()
    blind = {entry["name"] for entry in run.manifest.get("candidates", []) if not entry.get("sees", True)}

    readings = reader.read_run(run, parser) if reader is not None else None
    parsed = StoredReadings(run.folder)

    def marking(**options: Any) -> Iterator[pl.DataFrame]:
        options |= {"parser": parser, "run_evidence": evidence, "blind": blind, "readings": readings}
        options["parse"] = parsed.parse
        parts = mark_answers(used, run.cases, run.store, run.study, **options)
        return progress.watch("marking", parts, scored, size=len)

    if calls is None:
        write_in_parts(run.folder / MARKS_FILE, marking())
        parsed.save()
        _list_used(run.folder, calls, reader)
        return
    predictions = list_predictions(used, run.cases, run.store)
    judge = calls.judge(predictions)
    verdicts = verdict_table(predictions, run.cases, judge)
    calls.summary["flagged"] = count_flagged(verdicts)
    if calls.why:
        _refuse_fewer_verdicts(run.folder, verdicts, calls.why)
    write_verdicts(run.folder, verdicts, judge.name)
    support_test: SupportTest = is_supported
    if run.study.literature is not None and run.study.literature.support == "judge":
        support_test = calls.support(support_pairs(run, evidence, judge, parser, readings))
    rubrics = _judge_rubrics(run, calls, used)
    marks = pl.concat(marking(judge=judge, support_test=support_test, rubrics=rubrics))
    if calls.why:
        _refuse_fewer_criteria(run.folder, marks, calls.why)
    marks = add_labels(marks, run.folder)
    if errors:
        marks = with_error_classes(marks, calls.error_classes(marks, used))
    write_marks(run.folder, marks)
    parsed.save()
    _list_used(run.folder, calls, reader)


def _judge_rubrics(run: StoredRun, calls: JudgeCalls, used: pl.LazyFrame) -> RubricVerdicts | None:
    """The verdicts on the criteria of rubric answers; None without such answers, or by another judge than a model."""
    answers = list(rubric_answers(used, run.cases, run.store, run.study))
    if not answers:
        return None
    if not calls.can_judge_criteria:
        calls.summary["rubric"] = {"unscored_answers": len(answers)}
        return None
    return calls.rubric_verdicts(
        [(shown, [criterion.text for criterion in question.criteria]) for shown, question in answers]
    )


def _refuse_fewer_criteria(folder: Path, marks: pl.DataFrame, why: str) -> None:
    """Refuses to replace graded rubric answers by unscored ones, because of what keeps the judge from answering now."""
    if not (folder / MARKS_FILE).is_file():
        return
    earlier = pl.scan_parquet(folder / MARKS_FILE)
    if "score" not in earlier.collect_schema().names():
        return
    graded = earlier.filter(pl.col("score").is_not_null()).select(*MARK_KEY, "judge").collect()
    lost = graded.join(marks.filter(pl.col("score").is_null()), on=[*MARK_KEY, "judge"], how="semi")
    if len(lost):
        raise FewerAnswers(
            f"{folder}: {why}; the verdicts of {len(lost):,} graded rubric answers are not in the store: nothing is "
            "changed; name the right store by --answers PATH"
        )


def _list_used(folder: Path, calls: JudgeCalls | None, reader: ReaderCalls | None) -> None:
    """Lists the answers of judge and reader that the marks rest on."""
    for file, model in ((JUDGE_ANSWERS, calls), (READER_ANSWERS, reader)):
        write_keys(folder / file, model.answer_keys if model is not None else ())


def _refuse_fewer_verdicts(folder: Path, verdicts: pl.DataFrame, why: str) -> None:
    """Refuses to replace verdicts of this judge by none, because of what keeps it from answering now."""
    place = [*PLACE_SCHEMA, "diagnosis", "judge"]
    earlier = read_verdicts(folder).filter(pl.col("same").is_not_null())
    lost = earlier.join(verdicts.filter(pl.col("same").is_null()), on=place, how="semi")
    if len(lost):
        raise FewerAnswers(
            f"{folder}: {why}; {len(lost):,} of its earlier verdicts are not in the store: nothing is changed; "
            "name the right store by --answers PATH"
        )


def judged_manifest(
    manifest: dict[str, Any],
    calls: JudgeCalls | None,
    missing: str | None = None,
    unread: Sequence[str] = (),
    reader: ReaderCalls | None = None,
) -> dict[str, Any]:
    """The manifest with this judge and reader, the answers that are `missing`, and warnings of `unread` ones.

    What it said of earlier ones is dropped.
    """
    earlier = [manifest.get(role) or {} for role in ("judge", "reader")]
    outdated = (*(entry.get("why") for entry in earlier), manifest.get("missing_answers"))
    why = missing or (None if manifest["why"] in outdated else manifest["why"])
    replaced = [*(warning for entry in earlier for warning in entry.get("warnings", [])), *manifest.get("unread", [])]
    warnings = [warning for warning in manifest["warnings"] if warning not in replaced] + list(unread)
    judge, of_reader = (calls.manifest() if calls else None), (reader.manifest() if reader else None)
    for entry in filter(None, (judge, of_reader)):
        why, warnings = why or entry.get("why"), warnings + entry["warnings"]
    return manifest | {
        "status": "incomplete" if why else "complete",
        "why": why,
        "warnings": warnings,
        "judge": judge,
        "reader": of_reader,
        "missing_answers": missing,
        "unread": list(unread),
    }


def count_refused(marks: pl.LazyFrame) -> dict[str, int]:
    """Refused answers by candidate."""
    refused = marks.filter(pl.col("outcome") == "refused").group_by("candidate").len()
    return dict(refused.collect().iter_rows())


def chance_accuracy(marks: pl.LazyFrame) -> float | None:
    """The accuracy of guessing: the mean of 1/K over the choice questions asked."""
    choices = marks.filter(pl.col("k").is_not_null())
    questions = choices.group_by("case", "question").agg(pl.col("k").first()).group_by("k").len().sort("k")
    counts = dict(questions.collect(engine="streaming").iter_rows())
    return round(sum(n / k for k, n in counts.items()) / sum(counts.values()), 9) if counts else None
