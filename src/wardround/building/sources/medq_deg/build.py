"""`build medq-deg`: a pool of clean questions becomes a case set with degradations assigned.

What the paper's radiologists did by eye (discarding images of poor quality, degradations that destroy or change
nothing, questions that need no image) is not done here; the desk and `cases audit` are for that.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.building.pipeline.about import About
from wardround.building.sources.medq_deg.account import Rejected, funnel, write_account
from wardround.building.sources.medq_deg.draws import drawn
from wardround.building.sources.medq_deg.duplicates import (
    Asked,
    Print,
    components,
    contradictions,
    repetitions,
    same_images,
)
from wardround.building.sources.medq_deg.pool import Given, gathered
from wardround.building.sources.medq_deg.selection import Note, fit_questions
from wardround.building.sources.medq_deg.skills import attached
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, WardroundError
from wardround.degrade.severities import severity_number
from wardround.degrade.types import CATEGORIES, modality_named
from wardround.reporting.tables.table import Table


@dataclass(frozen=True)
class Built:
    """What was built, and what was left out on the way."""

    folder: Path
    cases: int
    clean: int
    degraded: int
    rejected: list[Rejected]
    unplaced: Counter[str]
    types: Counter[str]
    funnel: Table

    def told(self) -> dict[str, Any]:
        """As JSON: the counts, the reasons, and what has no place in the hierarchy."""
        return {
            "out": str(self.folder),
            "cases": self.cases,
            "clean": self.clean,
            "degraded": self.degraded,
            "rejected": dict(Counter(each.reason for each in self.rejected)),
            "types": dict(self.types),
            "labels_without_place": dict(self.unplaced),
        }


def build_medq_deg(
    sources: Sequence[Path],
    out: Path,
    *,
    layouts: Sequence[str] = ("wardround",),
    seed: int = 0,
    levels: Sequence[str] = ("L1", "L2"),
    per_case: int = 3,
    about: About | None = None,
    note: Note = lambda text: None,
) -> Built:
    """Writes the new folder `out`: cases.jsonl, images, rejected.jsonl and manifest.json. The same in, the same out."""
    _check(out, levels, per_case)
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.parent / f".{out.name}.{os.getpid()}"
    try:
        pool, given = gathered(sources, layouts, draft)
        note(f"read {len(pool)} cases with {pool.question_count} questions")
        built = _built(pool, given, draft, out, seed, tuple(levels), per_case, about or {}, note)
        if out.exists():
            out.rmdir()
        draft.replace(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return built


def _check(out: Path, levels: Sequence[str], per_case: int) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(out, "is there already and not empty; a case set is never overwritten")
    if not levels or len({severity_number(level) for level in levels}) != len(levels):
        raise WardroundError("the levels are L1, L2 or numbers from 0 to 2, each once")
    if any(severity_number(level) == 0 for level in levels):
        raise WardroundError("L0 is the clean question itself, which is always there")
    if per_case < 1:
        raise WardroundError("at least one degradation a question")


def _built(
    pool: CaseSet,
    given: list[Given],
    folder: Path,
    out: Path,
    seed: int,
    levels: tuple[str, ...],
    per_case: int,
    about: About,
    note: Note,
) -> Built:
    rejected: list[Rejected] = []
    prints: dict[str, Print] = {}
    fit = list(fit_questions(pool, prints, rejected, note))
    same = same_images(prints.values())
    fit = _without("contradiction", contradictions(fit), fit, rejected)
    fit = _without("duplicate", repetitions(fit, same), fit, rejected)
    if not fit:
        reasons = Counter(each.reason for each in rejected).most_common()
        raise WardroundError("no question can be used: " + ", ".join(f"{many} x {reason}" for reason, many in reasons))
    types = drawn(fit, seed, per_case)
    clusters = _clusters(pool, fit, same)
    unplaced: Counter[str] = Counter()
    cases = write_case_set(_cases(pool, types, levels, clusters, unplaced), folder)
    _forget_unused(folder)
    built = Built(
        folder=out,
        cases=cases,
        clean=len(fit),
        degraded=len(fit) * per_case * len(levels),
        rejected=rejected,
        unplaced=unplaced,
        types=Counter(type for chosen in types.values() for type in chosen),
        funnel=funnel(pool.question_count, rejected, cases, len(fit), per_case, levels),
    )
    rules = {**about, "seed": seed, "levels": list(levels), "per_case": per_case}
    write_account(folder, given, rejected, rules, unplaced, built.types)
    return built


def _without(
    reason: str, left_out: dict[tuple[str, str], str], fit: list[Asked], rejected: list[Rejected]
) -> list[Asked]:
    rejected += (Rejected(*key, reason, detail) for key, detail in sorted(left_out.items()))
    return [each for each in fit if each.key not in left_out]


def _clusters(pool: CaseSet, fit: list[Asked], same: dict[str, str]) -> dict[str, str]:
    """The cluster of each case: cases that show the same image are resampled together."""
    own = {case.id: case.resampled_as for case in pool}
    first: dict[str, str] = {}
    pairs = [(own[each.case], first.setdefault(same[image], own[each.case])) for each in fit for image in each.images]
    joined = components(own.values(), pairs)
    return {case: joined[cluster] for case, cluster in own.items()}


def _cases(
    pool: CaseSet,
    types: dict[tuple[str, str], tuple[str, ...]],
    levels: tuple[str, ...],
    clusters: dict[str, str],
    unplaced: Counter[str],
) -> Iterator[Case]:
    """The cases by id, each with its clean questions and, behind each, the same question with each degradation."""
    for id in sorted(pool.ids):
        case = pool.case(pool.index_of(id))
        kept = [question for question in case.questions if (id, question.id) in types]
        if not kept:
            continue
        questions = []
        for question in attached(case.model_copy(update={"questions": kept}), unplaced).questions:
            clean = question.model_dump(exclude_unset=True)
            questions += [clean, *_degraded(clean, types[id, question.id], levels)]
        images = [_named(image) for image in case.images]
        told = case.as_written() | {"images": images, "questions": questions}
        if clusters[id] != case.id or case.cluster is not None:
            told["cluster"] = clusters[id]
        yield Case.model_validate(told)


def _degraded(clean: dict[str, Any], types: tuple[str, ...], levels: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for type in types:
        for level in levels:
            yield clean | {
                "id": f"{clean['id']}-{type}-{level}",
                "of": clean["id"],
                "degradations": [f"{type}@{level}"],
                "category": CATEGORIES[type],
            }


def _named(image: Image) -> dict[str, Any]:
    known = modality_named(image.modality)
    return image.model_dump(exclude_unset=True) | ({"modality": known} if known else {})


def _forget_unused(folder: Path) -> None:
    used = {image.path for case in CaseSet.open(folder) for image in case.images}
    for file in (folder / "images").iterdir():
        if f"images/{file.name}" not in used:
            file.unlink()
