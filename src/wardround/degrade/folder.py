"""`wardround degrade`: an image, a folder of images or a case set becomes a folder of degraded copies.

An image is degraded as a workstation would first show it, in 8 bits, except that the CT types work on the Hounsfield
units of a CT file, before its window.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from wardround.cases.set import FILE_NAME, CaseSet, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.degrade.case_images import (
    Degradation,
    add_stored_copies,
    degradations_by_image,
    needs_copy,
    sort_by_table,
)
from wardround.degrade.files import RECORDS_FILE
from wardround.degrade.pool import CopyMaker, DegradeSummary, Progress
from wardround.degrade.severities import CLINICAL, load_profile, parse_severity
from wardround.degrade.sources import ImageKey, SourceImage, copy_names, find_sources, image_key
from wardround.degrade.types import TYPES, parse_type, table_position


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
) -> DegradeSummary:
    """Makes degraded copies of all images in `source`, in `out`; of a case set, a case set that shows them."""
    severities = load_profile(profile)
    choice = choose_degradations(types, levels)
    if types:
        for type, severity in choice:
            severities.at(type, severity)
    if out.resolve() == (source.parent if source.name == FILE_NAME else source).resolve():
        raise BadInput(out, "is what is read; name another folder")
    if not source.exists():
        raise BadInput(source, "there is no such file or folder")
    maker = CopyMaker(out, profile, workers or os.cpu_count() or 1, progress)
    if source.name == FILE_NAME or (source / FILE_NAME).is_file():
        if (out / FILE_NAME).exists() and not (out / RECORDS_FILE).exists():
            raise BadInput(out, "holds another case set, which is never overwritten")
        _degrade_case_set(maker, CaseSet.open(source), None if types is None and levels is None else choice)
    else:
        maker.make(find_sources(source, out, choice))
    if sheet:
        maker.draw_sheets()
    return maker.summary


def choose_degradations(types: Sequence[str] | None, levels: Sequence[str | float] | None) -> tuple[Degradation, ...]:
    """Every named type at every named level; by default all 18 types at L1 and L2."""
    severities = sorted({parse_severity(level) for level in levels or ("L1", "L2")})
    if 0.0 in severities:
        raise WardroundError("L0 is the image itself; a level is L1, L2 or a number above 0")
    names = sorted({parse_type(type) for type in types or TYPES}, key=table_position)
    return tuple((type, severity) for type in names for severity in severities)


def _degrade_case_set(maker: CopyMaker, cases: CaseSet, choice: tuple[Degradation, ...] | None) -> None:
    """A set with assigned degradations is rendered as assigned, unless types or levels are named."""
    if choice is None and not any(needs_copy(case, question) for case in cases for question in case.questions):
        choice = choose_degradations(None, None)
    degradations_by_key: dict[ImageKey, tuple[Image, set[Degradation]]] = {}
    for case in cases:
        for number, degradations in degradations_by_image(case, choice).items():
            image = case.images[number]
            degradations_by_key.setdefault(image_key(image), (image, set()))[1].update(degradations)
    names = copy_names(image for image, _ in degradations_by_key.values())
    sources = {
        key: SourceImage(cases.image_path(image), image, names[key], tuple(sort_by_table(degradations)))
        for key, (image, degradations) in degradations_by_key.items()
    }
    maker.summary.problems += cases.problems
    paths = {image.path for case in cases for image in case.images}
    for copy in (copy for source in sources.values() for copy in source.copies()):
        if copy.path in paths:
            raise BadInput(cases.file, f"has an image {copy.path!r} already; it would be written over")
    copies = maker.make(list(sources.values()))

    def copy_path(image: Image, degradation: Degradation) -> str | None:
        path = sources[image_key(image)].copy(degradation).path
        return path if path in copies else None

    def degraded_cases() -> Iterator[Case]:
        for case in cases:
            for image in case.images:
                _copy_file(cases.image_path(image), maker.out / image.path)
            degraded = add_stored_copies(case, choice, copy_path)
            ids = {question.id for question in degraded.questions}
            for question in case.questions:
                if question.id not in ids:
                    message = "is left out: no degraded image could be stored for it, or for one that it builds on"
                    maker.summary.problems.append(Problem(cases.file, None, f"{case.id}.{question.id}", message))
            maker.summary.questions += len(ids)
            if ids:
                yield degraded

    maker.summary.cases = write_case_set(degraded_cases(), maker.out)


def _copy_file(file: Path, target: Path) -> None:
    """Copies a file with its time of change, unless the target has its size and time already."""
    status = file.stat()
    if target.is_file() and (target.stat().st_size, target.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, target)
