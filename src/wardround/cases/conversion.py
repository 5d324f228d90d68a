"""Converts cases of any layout, with their images, into a case set."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from wardround.cases.published_range import ANY_TIME, PublishedRange
from wardround.cases.readers import CaseSource, reader_for
from wardround.cases.set import error_from, write_case_set
from wardround.cases.splits import default_dev_count, split_by_id
from wardround.core.case import Case
from wardround.core.errors import BadInput, Problem
from wardround.core.files import new_folder

DEFAULT_DEV = {"cure": 30}  # cases for development, by layout, if its records have no split


def convert(
    source: Path,
    out: Path,
    *,
    layout: str = "wardround",
    strict: bool = False,
    transform: Callable[[Case], Case | None] | None = None,
    dev: int | None = None,
    split: str | None = None,
    specialties: Sequence[str] = (),
    published: PublishedRange = ANY_TIME,
    fields: Path | None = None,
) -> tuple[int, list[Problem]]:
    """Writes the usable cases of `source` to the new folder `out`; returns their number, and what was left out.

    `transform` changes each case before it is written, or leaves it out (None). If no case has a split, `dev` cases
    are set aside for development and the rest is for the test. `split`, `specialties` and `published` select cases;
    the split is drawn before. `fields` is a field map, for layouts without fixed field names.
    """
    read = reader_for(layout, fields)
    require_free(out)
    cases = read(source)
    if strict and cases.problems:
        raise error_from(cases.problems[0])
    splits = _draw_splits(cases, DEFAULT_DEV.get(layout, 0), dev)
    selected = (case.model_copy(update={"split": splits[case.id]}) if splits else case for case in cases)
    if split is not None:
        selected = (case for case in selected if case.split == split)
    if specialties:
        selected = (case for case in selected if case.specialty in specialties)
    if published:
        selected = (case for case in selected if not published.problem(case.origin.published if case.origin else None))
    if transform is not None:
        selected = (changed for case in selected if (changed := transform(case)) is not None)
    with new_folder(out) as draft:
        count = write_case_set(copy_images(selected, cases, draft), draft)
        if not count:
            conditions = [f"split {split!r}"] if split is not None else []
            conditions += [f"specialty {' or '.join(specialties)}"] if specialties else []
            conditions += [f"a date of publication {published}"] if published else []
            raise BadInput(source, f"has no case with {' and '.join(conditions)}")
    return count, cases.problems


def require_free(out: Path) -> None:
    """Refuses a folder that holds something."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(out, "already exists and is not empty; a case set is never overwritten")


def write_cases(cases: CaseSource, out: Path, count: int | None = None) -> int:
    """Writes the cases of a source with their images to the new folder `out`; `count`: only the first so many."""
    require_free(out)
    with new_folder(out) as draft:
        return write_case_set(copy_images(islice(cases, count), cases, draft), draft)


def _draw_splits(cases: CaseSource, default: int, dev: int | None) -> dict[str, str]:
    """The splits by case id; empty if the cases have splits, or none are set aside."""
    if (dev is None and not default) or any(case.split for case in cases):
        return {}
    return split_by_id(cases, default_dev_count(cases, default) if dev is None else dev)


def copy_images(selected: Iterable[Case], cases: CaseSource, folder: Path) -> Iterator[Case]:
    """The selected cases; their images are copied to the folder before each is given."""
    for case in selected:
        for image in case.images:
            target = folder / image.path
            if not target.exists():  # several cases may show one image
                target.parent.mkdir(parents=True, exist_ok=True)
                cases.copy_image(image, target)
        yield case
