"""Conversion: cases of any layout, with their images, become a case set."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from wardround.cases.readers import Source, reader_for
from wardround.cases.set import raised, write_case_set
from wardround.core.case import Case
from wardround.core.errors import BadInput, Problem


def convert(
    source: Path,
    out: Path,
    *,
    layout: str = "wardround",
    strict: bool = False,
    changed: Callable[[Case], Case] | None = None,
) -> tuple[int, list[Problem]]:
    """Writes the usable cases of `source` to the new folder `out`; says how many, and what was left out.

    `changed` makes of each case the one that is written.
    """
    read = reader_for(layout)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(out, "is there already and not empty; a case set is never overwritten")
    cases = read(source)
    if strict and cases.problems:
        raise raised(cases.problems[0])
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.parent / f".{out.name}.{os.getpid()}"
    try:
        taken = _with_images(cases, draft)
        count = write_case_set(map(changed, taken) if changed else taken, draft)
        draft.replace(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return count, cases.problems


def _with_images(cases: Source, folder: Path) -> Iterator[Case]:
    for case in cases:
        for image in case.images:
            there = folder / image.path
            if not there.exists():  # several cases may show one image
                there.parent.mkdir(parents=True, exist_ok=True)
                cases.copy_image(image, there)
        yield case
