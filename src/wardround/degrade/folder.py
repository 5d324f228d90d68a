"""`wardround degrade`: an image, a folder of images or a case set becomes a folder of degraded copies.

An image is degraded as a workstation would first show it, in 8 bits, except that the CT types work on the Hounsfield
units of a CT file, before its window.
"""

import json
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
from wardround.degrade.modalities import MODALITIES, parse_modality
from wardround.degrade.pool import CopyMaker, DegradeSummary, Progress
from wardround.degrade.records import RECORDS_FILE
from wardround.degrade.severities import CLINICAL, ESTIMATED, load_profile, parse_severity
from wardround.degrade.sources import ImageKey, SourceImage, copy_names, find_sources, image_key
from wardround.degrade.types import TYPES, parse_type, table_position

MANIFEST = "manifest.json"  # of a set that `wardround build` made


def degrade_files(
    source: Path,
    out: Path,
    *,
    types: Sequence[str] | None = None,
    levels: Sequence[str | float] | None = None,
    profile: str | None = None,
    workers: int | None = None,
    modality: str | None = None,
    sheet: bool = False,
    progress: Progress = lambda done, total: None,
) -> DegradeSummary:
    """Makes degraded copies of all images in `source`, in `out`; of a case set, a case set that shows them.

    Without a profile a case set gets that of its studies (`profile_of_set`), and anything else clinical-1. Without
    types an image gets those that fit its modality: the given one, or that of its case or DICOM header; if it is not
    known, the general ones.
    """
    if modality is not None and parse_modality(modality) is None:
        raise WardroundError(f"modality {modality!r}: expected one of {', '.join(MODALITIES)}")
    is_case_set = source.name == FILE_NAME or (source / FILE_NAME).is_file()
    profile = profile or (profile_of_set(CaseSet.open(source)) if is_case_set else CLINICAL)
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
    if is_case_set:
        if (out / FILE_NAME).exists() and not (out / RECORDS_FILE).exists():
            raise BadInput(out, "holds another case set, which is never overwritten")
        _degrade_case_set(maker, CaseSet.open(source), None if types is None and levels is None else choice)
    else:
        sources = find_sources(source, out, choice, parse_modality(modality), only_fitting=types is None)
        maker.summary.general_only = sum(types is None and item.image.modality is None for item in sources)
        maker.make(sources)
    if sheet:
        maker.draw_sheets()
    return maker.summary


def profile_of_set(cases: CaseSet) -> str:
    """The severity profile of a set's studies: that of its manifest, else MedQ-Deg's if degradations are assigned."""
    try:
        named = json.loads((cases.folder / MANIFEST).read_text(encoding="utf-8")).get("severities")
    except (OSError, ValueError, AttributeError):
        named = None
    if isinstance(named, str):
        return named
    is_assigned = any(needs_copy(case, question) for case in cases for question in case.questions)
    return ESTIMATED if is_assigned else CLINICAL


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
    maker.make(list(sources.values()))

    def copy_path(image: Image, degradation: Degradation) -> str | None:
        path = sources[image_key(image)].copy(degradation).path
        return path if maker.is_usable(path) else None

    def any_copy_path(image: Image, degradation: Degradation) -> str | None:
        path = sources[image_key(image)].copy(degradation).path
        return path if maker.is_present(path) else None

    def degraded_cases() -> Iterator[Case]:
        for case in cases:
            for image in case.images:
                _copy_file(cases.image_path(image), maker.out / image.path)
            degraded = add_stored_copies(case, choice, copy_path)
            ids = {question.id for question in degraded.questions}
            with_flagged = add_stored_copies(case, choice, any_copy_path)
            expected_ids = {question.id for question in with_flagged.questions}
            maker.summary.left_out += len(expected_ids - ids)
            for question in case.questions:
                if question.id not in expected_ids:
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
