"""Conversion: cases of any layout, with their images, become a case set."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from wardround.cases.readers import Source, reader_for
from wardround.cases.set import raised, write_case_set
from wardround.cases.splitting import set_aside, split_by_id
from wardround.core.case import Case
from wardround.core.errors import BadInput, Problem

DEV = {"cure": 30}  # cases set aside for development where the records of a layout tell no split


def convert(
    source: Path,
    out: Path,
    *,
    layout: str = "wardround",
    strict: bool = False,
    changed: Callable[[Case], Case] | None = None,
    dev: int | None = None,
    split: str | None = None,
    specialties: Sequence[str] = (),
    fields: Path | None = None,
) -> tuple[int, list[Problem]]:
    """Writes the usable cases of `source` to the new folder `out`; says how many, and what was left out.

    `changed` makes of each case the one that is written. Where no case has a split, `dev` cases are set aside for
    development and the rest is for the test. With `split`, only the cases of that split are written, with `specialties`
    only those of one of them. `fields` is a field map, for layouts whose rows name their fields as they like.
    """
    read = reader_for(layout, fields)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(out, "is there already and not empty; a case set is never overwritten")
    cases = read(source)
    if strict and cases.problems:
        raise raised(cases.problems[0])
    drawn = _drawn(cases, DEV.get(layout, 0), dev)
    kept = (case.model_copy(update={"split": drawn[case.id]}) if drawn else case for case in cases)
    if split is not None:
        kept = (case for case in kept if case.split == split)
    if specialties:
        kept = (case for case in kept if case.specialty in specialties)
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.parent / f".{out.name}.{os.getpid()}"
    try:
        taken = _with_images(kept, cases, draft)
        count = write_case_set(map(changed, taken) if changed else taken, draft)
        if not count:
            wanted = [f"the split {split!r}"] if split is not None else []
            wanted += [f"the specialty {' or '.join(specialties)}"] if specialties else []
            raise BadInput(source, f"no case of {' and of '.join(wanted)} is in it")
        draft.replace(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return count, cases.problems


def _drawn(cases: Source, usual: int, dev: int | None) -> dict[str, str]:
    """The splits of cases that have none; empty where they have, or nothing is to be set aside."""
    if (dev is None and not usual) or any(case.split for case in cases):
        return {}
    return split_by_id(cases, set_aside(cases, usual) if dev is None else dev)


def _with_images(kept: Iterable[Case], cases: Source, folder: Path) -> Iterator[Case]:
    for case in kept:
        for image in case.images:
            there = folder / image.path
            if not there.exists():  # several cases may show one image
                there.parent.mkdir(parents=True, exist_ok=True)
                cases.copy_image(image, there)
        yield case
