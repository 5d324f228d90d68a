"""The pool: the cases of all sources in one folder, each image under the hash of its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wardround.cases.readers import Source, reader_for
from wardround.cases.set import CaseSet, write_case_set, written
from wardround.core.canonical import hashed, sha256_file
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem, WardroundError


@dataclass
class Given:
    """One source, and what was read of it."""

    name: str
    layout: str
    problems: list[Problem]
    cases: int = 0
    questions: int = 0
    hash: str = ""  # of its cases by id, so that their order in the source does not count


def gathered(sources: Sequence[Path], layouts: Sequence[str], folder: Path) -> tuple[CaseSet, list[Given]]:
    """Writes the cases of all sources, with their images, as one set; a case id in two of them is refused."""
    if len(layouts) not in (1, len(sources)):
        raise WardroundError(f"{len(sources)} sources and {len(layouts)} layouts: name one, or one for each source")
    told: list[Given] = []
    (folder / "images").mkdir(parents=True)
    write_case_set(_all(sources, layouts, folder, told), folder)
    return CaseSet.open(folder), told


def _all(sources: Sequence[Path], layouts: Sequence[str], folder: Path, told: list[Given]) -> Iterator[Case]:
    owners: dict[str, str] = {}
    for number, path in enumerate(sources):
        layout = layouts[number if len(layouts) > 1 else 0]
        source = reader_for(layout)(path)
        given = Given(path.resolve().name, layout, list(source.problems))
        told.append(given)
        lines: dict[str, bytes] = {}
        copied: dict[str, str] = {}
        for case in source:
            if case.id in owners:
                raise BadInput(path, f"case {case.id!r} is in {owners[case.id]} too")
            owners[case.id] = given.name
            taken = _with_images(case, source, folder, copied)
            lines[case.id] = hashed(written(taken))
            given.cases += 1
            given.questions += len(case.questions)
            yield taken
        given.hash = hashed("".join(lines[id].hex() for id in sorted(lines))).hex()


def _with_images(case: Case, source: Source, folder: Path, copied: dict[str, str]) -> Case:
    images = []
    for image in case.images:
        if image.path not in copied:
            copied[image.path] = _copied(image, source, folder)
        images.append(image.model_copy(update={"path": copied[image.path]}))
    return case.model_copy(update={"images": images}) if images else case


def _copied(image: Image, source: Source, folder: Path) -> str:
    draft = folder / "images" / ".draft"
    source.copy_image(image, draft)
    name = f"images/{sha256_file(draft)[:24]}{_suffix(image.path)}"
    draft.replace(folder / name)
    return name


def _suffix(path: str) -> str:
    """What a file is, is told by its suffix; DICOM files often have none, or one that means nothing."""
    suffixes = PurePosixPath(path.lower()).suffixes
    return "".join(suffixes[-2:] if suffixes[-2:] == [".nii", ".gz"] else suffixes[-1:])
