"""What stands beside every figure that rests on a judge: its kappa, or that it is not validated."""

from __future__ import annotations

from collections.abc import Iterable

from wardround.marking.validation import judge_note
from wardround.reporting.numbers import listed
from wardround.reporting.run import RunFolder
from wardround.reporting.words import measure_title

JUDGED = frozenset({"hit", "evidence_based_correct", "evidence_misled", "knowledge_based_correct", "hallucination"})


def is_judged(measure: str) -> bool:
    """Whether a measure rests on the verdicts of a judge."""
    return measure.partition("@")[0] in JUDGED


def judged_note(run: RunFolder, measures: Iterable[str]) -> str:
    """`hit@1: judge NAME: kappa ...` for those of the measures that a judge made; empty where none is."""
    titles = dict.fromkeys(measure_title(measure) for measure in measures if is_judged(measure))
    return f"{listed(list(titles))}: {judge_note(run.folder)}." if titles else ""
