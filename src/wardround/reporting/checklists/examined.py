"""Examined: how much of the case set a run has marks of. Cases for training, for example, are never asked."""

from dataclasses import dataclass

import polars as pl

from wardround.reporting.numbers import count, join_words
from wardround.reporting.run_files import RunFiles

KIND_WORDS = {"choice": "choice", "open": "open", "rubric": "free-text"}


@dataclass(frozen=True)
class Examined:
    """Numbers of cases, clusters and questions by kind; `marks` by outcome are in the report."""

    cases: int
    clusters: int
    questions: dict[str, int]
    is_set_whole: bool

    @property
    def kinds(self) -> set[str]:
        return set(self.questions)

    def words(self) -> str:
        """`24 cases in 8 clusters with 36 questions (24 choice, 12 open)`."""
        clusters = f" in {count(self.clusters)} clusters" if self.clusters < self.cases else ""
        total = sum(self.questions.values())
        kinds = join_words([f"{count(number)} {KIND_WORDS.get(kind, kind)}" for kind, number in self.questions.items()])
        asked = f"{count(total)} {kinds.partition(' ')[2]} questions" if len(self.questions) == 1 else ""
        return f"{count(self.cases)} cases{clusters} with {asked or f'{count(total)} questions ({kinds})'}"


def examined(run: RunFiles) -> Examined | None:
    """None for a run whose marks lack the columns, as of a person's exam."""
    columns = run.all_marks.collect_schema().names()
    if not {"case", "cluster", "question", "kind"} <= set(columns):
        return None
    asked = run.all_marks.select("case", "cluster", "question", "kind").unique().collect()
    by_kind = asked.select("case", "question", "kind").unique().group_by("kind").len().sort("kind").drop_nulls()
    questions = dict(by_kind.rows())
    whole = run.manifest.get("cases") or {}
    is_whole = (asked["case"].n_unique(), sum(questions.values())) == (whole.get("cases"), whole.get("questions"))
    return Examined(asked["case"].n_unique(), asked["cluster"].n_unique(), questions, is_whole)


def not_examined(run: RunFiles) -> str:
    """Why parts of the set were not asked, in words; empty if all was, or if no reason is known."""
    shown = examined(run)
    reasons = list(run.manifest.get("inapplicable") or {})
    return join_words(reasons) if shown is not None and not shown.is_set_whole and reasons else ""


def has_clusters(run: RunFiles) -> bool:
    """Whether some cluster has several cases."""
    columns = run.all_marks.collect_schema().names()
    if not {"case", "cluster"} <= set(columns):
        return False
    counts = run.all_marks.select(pl.col("case").n_unique(), pl.col("cluster").n_unique()).collect()
    return bool(counts["cluster"].item() < counts["case"].item())
