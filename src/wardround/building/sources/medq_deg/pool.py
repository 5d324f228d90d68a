"""The pool: the cases of all sources in one folder; images are named by the hash of their bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from wardround.cases.readers import CaseSource, reader_for
from wardround.cases.set import CaseSet, case_to_json, write_case_set
from wardround.core.canonical import hash_text, sha256_file
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem, WardroundError


@dataclass
class PoolSource:
    """One source of the pool, and how much was read of it."""

    name: str
    layout: str
    problems: list[Problem]
    cases: int = 0
    questions: int = 0
    names: dict[str, str] = field(default_factory=dict)  # of image files in the pool: as the source named them
    hash: str = ""  # of its cases by id, so that their order in the source does not count


def write_pool(sources: Sequence[Path], layouts: Sequence[str], folder: Path) -> tuple[CaseSet, list[PoolSource]]:
    """Writes the cases of all sources, with their images, as one set; a case id in two sources is refused."""
    if len(layouts) not in (1, len(sources)):
        raise WardroundError(
            f"{len(sources)} sources and {len(layouts)} layouts: give one layout, or one for each source"
        )
    pool_sources: list[PoolSource] = []
    (folder / "images").mkdir(parents=True)
    write_case_set(_pool_cases(sources, layouts, folder, pool_sources), folder)
    return CaseSet.open(folder), pool_sources


def _pool_cases(
    sources: Sequence[Path], layouts: Sequence[str], folder: Path, pool_sources: list[PoolSource]
) -> Iterator[Case]:
    source_by_case: dict[str, str] = {}
    for number, path in enumerate(sources):
        layout = layouts[number if len(layouts) > 1 else 0]
        source = reader_for(layout)(path)
        pool_source = PoolSource(path.resolve().name, layout, list(source.problems))
        pool_sources.append(pool_source)
        hash_by_case: dict[str, bytes] = {}
        copied: dict[str, str] = {}
        for case in source:
            if case.id in source_by_case:
                raise BadInput(path, f"case {case.id!r} is in {source_by_case[case.id]} too")
            source_by_case[case.id] = pool_source.name
            pooled = _copy_images(case, source, folder, copied)
            hash_by_case[case.id] = hash_text(case_to_json(pooled))
            pool_source.cases += 1
            pool_source.questions += len(case.questions)
            yield pooled
        pool_source.names = {name: path for path, name in copied.items()}
        pool_source.hash = hash_text("".join(hash_by_case[id].hex() for id in sorted(hash_by_case))).hex()


def _copy_images(case: Case, source: CaseSource, folder: Path, copied: dict[str, str]) -> Case:
    images = []
    for image in case.images:
        if image.path not in copied:
            copied[image.path] = _copy_image(image, source, folder)
        images.append(image.model_copy(update={"path": copied[image.path]}))
    return case.model_copy(update={"images": images}) if images else case


def _copy_image(image: Image, source: CaseSource, folder: Path) -> str:
    draft = folder / "images" / ".draft"
    source.copy_image(image, draft)
    name = f"images/{sha256_file(draft)[:24]}{_suffix(image.path)}"
    draft.replace(folder / name)
    return name


def _suffix(path: str) -> str:
    """The suffix that gives the type of a file; DICOM files often have none, or a meaningless one."""
    suffixes = PurePosixPath(path.lower()).suffixes
    return "".join(suffixes[-2:] if suffixes[-2:] == [".nii", ".gz"] else suffixes[-1:])
