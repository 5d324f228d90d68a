"""Notes on figures that rest on a judge, a reader or the support test: how far these can be trusted."""

from collections.abc import Iterable

from wardround.measuring.validation.judge_validation import judge_note
from wardround.measuring.validation.support_error import support_note
from wardround.reporting.labels import measure_title
from wardround.reporting.numbers import join_words
from wardround.reporting.run_files import RunFiles

JUDGED = frozenset({"hit", "evidence_based_correct", "evidence_misled", "knowledge_based_correct", "hallucination"})
SUPPORTED = frozenset({"coverage", "grounded", *JUDGED} - {"hit"})


def is_judged(measure: str) -> bool:
    """Whether a measure rests on a judge's verdicts."""
    return measure.partition("@")[0] in JUDGED or measure.startswith("rubric_")


def judging_note(run: RunFiles, measures: Iterable[str]) -> str:
    """`hit@1: judge NAME: kappa ...` for the judged measures, and the error of the support test; empty if none is."""
    measures = list(measures)
    titles = dict.fromkeys(measure_title(measure) for measure in measures if is_judged(measure))
    notes = [
        f"{join_words(list(titles))}: {judge_note(run.folder)}." if titles else "",
        support_test_note(run, measures),
    ]
    return " ".join(filter(None, notes))


def reader_note(run: RunFiles) -> str:
    """How many choice answers a model read that the parser could not read; empty if the study has no reader."""
    reader = run.manifest.get("reader")
    if not reader:
        return ""
    return (
        f"Of {reader['unread']:,} choice answers that the parser could not read, {reader['read']:,} were read by "
        f"{reader['name']}; the others stay unparsed."
    )


def rubric_note(run: RunFiles) -> str:
    """Who judged the criteria of rubrics and how, and how far that agrees with people."""
    rubric = (run.manifest.get("judge") or {}).get("rubric") or {}
    if "name" not in rubric:
        return "No judge of criteria: rubric answers are unscored."
    unjudged = rubric["unreadable"] + rubric["unanswered"]
    missing = f", {unjudged:,} without a verdict" if unjudged else ""
    calls_for = "each criterion" if rubric["calls_for"] == "criterion" else "each answer"
    return f"Judged by {rubric['name']}, one call for {calls_for}: {rubric['criteria']:,} verdicts{missing}."


def support_test_note(run: RunFiles, measures: Iterable[str]) -> str:
    """The error rate of the test whether documents support a diagnosis; empty if no measure rests on it."""
    if not SUPPORTED & set(measures):
        return ""
    judge = run.manifest.get("judge") or {}
    support = judge.get("support")
    if support is None:
        return f"{support_note()}."
    unscored = support["unreadable"] + support["unanswered"]
    return (
        f"Support judged by {judge['name']}, not validated against people: {support['pairs']:,} pairs of diagnosis and "
        f"documents, {unscored:,} without a verdict."
    )
