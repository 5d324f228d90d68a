"""Notes on a run that tables of a benchmark may demand: knowledge cutoffs, the size of images, own articles found."""

from collections import Counter
from typing import Literal

import polars as pl

from wardround.cases.images.recipe import PIXEL_BUDGET
from wardround.cases.set import CaseSet
from wardround.core.study import CandidateSettings
from wardround.reporting.numbers import join_words
from wardround.reporting.run_files import RunFiles
from wardround.running.used_answers import EVIDENCE

RunNote = Literal["cutoffs", "image_size", "own_articles"]
WITHOUT_TRAINING = ("random", "position", "longest", "overlap", "simulated", "people", "pixels")  # providers
SIDE = round(PIXEL_BUDGET**0.5)


def cutoff_notes(run: RunFiles) -> list[str]:
    """Warnings about candidates that may know the cases: a cutoff after their dates, or none stated."""
    models = [candidate for candidate in run.study.candidates if _has_training(candidate)]
    if not models:
        return []
    unknown = [candidate.name for candidate in models if not candidate.cutoff]
    notes = []
    if unknown:
        notes.append(
            f"Warning: no knowledge cutoff is stated for {join_words(unknown)} (`cutoff`); "
            "whether the cases are newer than the training data is unknown."
        )
    dates = run.all_marks.select("case", "published").unique().collect()
    published = dates["published"].drop_nulls()
    if undated := len(dates) - len(published):
        whole = f"{undated:,} of {len(dates):,} cases have" if len(published) else "The cases have"
        notes.append(f"Warning: {whole} no date of publication; a knowledge cutoff says nothing about them.")
    for candidate in models:
        older = _count_older(published, candidate.cutoff) if candidate.cutoff else 0
        if older:
            notes.append(
                f"Warning: {older:,} of {len(dates):,} cases may have been published before the knowledge cutoff of "
                f"{candidate.name} ({candidate.cutoff})."
            )
    return notes


def own_article_notes(run: RunFiles) -> list[str]:
    """Warnings about outside agents that found the very article a case was made of: no search of ours can."""
    file = run.folder / EVIDENCE
    outside = [candidate.name for candidate in run.study.candidates if candidate.provider == "external"]
    if not outside or not file.is_file():
        return []
    origins = {case.id: set(case.origin.pmids) for case in CaseSet.open(run.cases_file) if case.origin}
    counts = Counter(
        row["candidate"]
        for row in pl.read_parquet(file, columns=["candidate", "case", "found"]).iter_rows(named=True)
        if origins.get(row["case"], set()) & set(row["found"] or ())
    )
    return [
        f"Warning: {name} found the article that the case was made of; answers: {counts[name]:,}."
        for name in outside
        if counts[name]
    ]


def image_size_note(run: RunFiles) -> list[str]:
    """The largest size in which images were sent, if the run showed any."""
    if not (run.manifest.get("cases") or {}).get("images"):
        return []
    if not any(condition.sends_images for condition in run.study.all_conditions):
        return []
    if run.study.image_size == "native":
        return ["Images were sent in their native resolution."]
    return [
        f"Images of more than {PIXEL_BUDGET:,} pixels ({SIDE} x {SIDE}) were shrunk to that size (our choice; "
        '`image_size = "native"` sends them as they are).'
    ]


def _has_training(candidate: CandidateSettings) -> bool:
    return candidate.provider.partition(":")[0] not in WITHOUT_TRAINING


def _count_older(published: pl.Series, cutoff: str) -> int:
    """Dates that are not wholly after the cutoff; a year or month counts as older if the cutoff lies in it."""
    return sum(date <= cutoff or cutoff.startswith(date) or date.startswith(cutoff) for date in published)
