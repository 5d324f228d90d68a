"""Degrading files: an image, a folder of images or a case set becomes a folder of degraded copies.

An image is degraded as a workstation would first show it, in 8 bits, except that the CT types work on the Hounsfield
units of a CT file, before its window.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from wardround.cases.set import FILE_NAME, CaseSet, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.degrade import records
from wardround.degrade.case_images import Degradation, in_table_order, needs_copy, wanted_of, with_stored
from wardround.degrade.pool import Making, Outcome, Progress
from wardround.degrade.severities import CLINICAL, profile_named, severity_number
from wardround.degrade.sources import Key, Source, copy_names, key_of, plain_sources
from wardround.degrade.types import TYPES, type_named


def degrade_files(
    source: Path,
    out: Path,
    *,
    types: Sequence[str] | None = None,
    levels: Sequence[str | float] | None = None,
    profile: str = CLINICAL,
    workers: int | None = None,
    sheet: bool = False,
    progress: Progress = lambda done, total: None,
) -> Outcome:
    """Makes degraded copies of everything in `source`, in `out`; of a case set, a case set that shows them."""
    profile_named(profile)
    choice = chosen(types, levels)
    if out.resolve() == (source.parent if source.name == FILE_NAME else source).resolve():
        raise BadInput(out, "is what is read; name another folder")
    if not source.exists():
        raise BadInput(source, "there is no such file or folder")
    making = Making(out, profile, workers or os.cpu_count() or 1, progress)
    if source.name == FILE_NAME or (source / FILE_NAME).is_file():
        if (out / FILE_NAME).exists() and not (out / records.FILE_NAME).exists():
            raise BadInput(out, "holds another case set, which is never overwritten")
        _case_set(making, CaseSet.open(source), None if types is None and levels is None else choice)
    else:
        making.make(plain_sources(source, out, choice))
    if sheet:
        making.draw_sheets()
    return making.outcome


def chosen(types: Sequence[str] | None, levels: Sequence[str | float] | None) -> tuple[Degradation, ...]:
    """Every type that is named, at every level; all 18 at L1 and L2 where nothing is."""
    severities = sorted({severity_number(level) for level in levels or ("L1", "L2")})
    if 0.0 in severities:
        raise WardroundError("L0 is the image itself; a level is L1, L2 or a number above 0")
    named = {type_named(type) for type in types or TYPES}
    return tuple((type, severity) for type in TYPES if type in named for severity in severities)


def _case_set(making: Making, cases: CaseSet, choice: tuple[Degradation, ...] | None) -> None:
    """A set with degradations assigned is rendered as assigned, unless types or levels are named."""
    if choice is None and not any(needs_copy(case, question) for case in cases for question in case.questions):
        choice = chosen(None, None)
    wanted: dict[Key, tuple[Image, set[Degradation]]] = {}
    for case in cases:
        for number, degradations in wanted_of(case, choice).items():
            image = case.images[number]
            wanted.setdefault(key_of(image), (image, set()))[1].update(degradations)
    names = copy_names(image for image, _ in wanted.values())
    sources = {
        key: Source(cases.image_path(image), image, names[key], tuple(in_table_order(degradations)))
        for key, (image, degradations) in wanted.items()
    }
    making.outcome.problems += cases.problems
    paths = {image.path for case in cases for image in case.images}
    for path in (source.copy(each).path for source in sources.values() for each in source.wanted):
        if path in paths:
            raise BadInput(cases.file, f"has an image {path!r} already; it would be written over")
    made = making.make(list(sources.values()))

    def stored(image: Image, degradation: Degradation) -> str | None:
        path = sources[key_of(image)].copy(degradation).path
        return path if path in made else None

    def written() -> Iterator[Case]:
        for case in cases:
            for image in case.images:
                _copy_file(cases.image_path(image), making.out / image.path)
            changed = with_stored(case, choice, stored)
            ids = {question.id for question in changed.questions}
            for question in case.questions:
                if question.id not in ids:
                    message = "is left out: no degraded image could be stored for it, or for one that it builds on"
                    making.outcome.problems.append(Problem(cases.file, None, f"{case.id}.{question.id}", message))
            making.outcome.questions += len(ids)
            if ids:
                yield changed

    making.outcome.cases = write_case_set(written(), making.out)


def _copy_file(file: Path, there: Path) -> None:
    """Copies a file with its time of change, by which it is known to be there."""
    wanted = file.stat()
    if there.is_file() and (there.stat().st_size, there.stat().st_mtime_ns) == (wanted.st_size, wanted.st_mtime_ns):
        return
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, there)
