"""What stands beside every figure that rests on a judge or on the support test: how far these can be trusted."""

from __future__ import annotations

from collections.abc import Iterable

from wardround.measuring.validation.judge_validation import judge_note
from wardround.measuring.validation.support_error import support_note
from wardround.reporting.labels import measure_title
from wardround.reporting.numbers import listed
from wardround.reporting.run_files import RunFolder

JUDGED = frozenset({"hit", "evidence_based_correct", "evidence_misled", "knowledge_based_correct", "hallucination"})
SUPPORTED = frozenset({"coverage", "grounded", *JUDGED} - {"hit"})


def is_judged(measure: str) -> bool:
    """Whether a measure rests on the verdicts of a judge."""
    return measure.partition("@")[0] in JUDGED


def judged_note(run: RunFolder, measures: Iterable[str]) -> str:
    """`hit@1: judge NAME: kappa ...` for those of the measures that a judge made, and the error of the support test.

    Empty where none is.
    """
    measures = list(measures)
    titles = dict.fromkeys(measure_title(measure) for measure in measures if is_judged(measure))
    told = [f"{listed(list(titles))}: {judge_note(run.folder)}." if titles else "", supported_note(run, measures)]
    return " ".join(filter(None, told))


def supported_note(run: RunFolder, measures: Iterable[str]) -> str:
    """How often the test errs that says whether documents support a diagnosis; empty where no measure rests on it."""
    if not SUPPORTED & set(measures):
        return ""
    judge = run.manifest.get("judge") or {}
    support = judge.get("support")
    if support is None:
        return f"{support_note()}."
    unscored = support["unreadable"] + support["unanswered"]
    return (
        f"Support judged by {judge['name']}, not validated against people: {support['pairs']:,} pairs of a diagnosis "
        f"and documents, {unscored:,} without a verdict."
    )
