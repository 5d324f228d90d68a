"""Where articles come from: JATS files, text, and whole packages (.tar.gz), which are unpacked with care."""

from __future__ import annotations

import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.building.pipeline.source_files import records
from wardround.building.sources.pmc.jats import SUFFIXES, read_jats
from wardround.building.sources.pmc.plain import read_plain
from wardround.building.sources.pmc.xml import NotUsable
from wardround.core.errors import BadInput

JATS, PLAIN, PACKAGES = (".nxml", ".xml"), (".md", ".markdown", ".txt"), (".tar.gz", ".tgz")
MOST_FILES, MOST_BYTES = 2_000, 1 << 30  # of one package
NOT_ARTICLES = ("readme", "license", "licence", "manifest")


def articles(source: Path, unpacked: Path, build: Build) -> Iterator[Record]:
    """Each article as a record; what is none is told to the build with its reason."""

    def read(file: Path) -> Record:
        found = _in_package(file, unpacked) if file.name.lower().endswith(PACKAGES) else file
        return {**(read_jats(found) if found.name.lower().endswith(JATS) else read_plain(found))}

    return records(files(source), source, read, build, wanted="a usable article", unit="article")


def files(source: Path) -> list[Path]:
    """The articles and packages of a folder, or the one file."""
    if not source.exists():
        raise BadInput(source, "there is no such file or folder")
    if not source.is_dir():
        return [source]
    ends = (*JATS, *PLAIN, *PACKAGES)
    found = sorted(file for file in source.rglob("*") if _wanted(file.name, ends) and file.is_file())
    if not found:
        raise BadInput(source, "there is no .nxml, .xml, .md, .txt or .tar.gz file in it")
    return found


def _wanted(name: str, ends: tuple[str, ...]) -> bool:
    return name.lower().endswith(ends) and not name.lower().startswith((*NOT_ARTICLES, "."))


def _in_package(package: Path, unpacked: Path) -> Path:
    """The article of a package, its figures beside it."""
    folder = unpacked / f"{len(list(unpacked.iterdir())) if unpacked.exists() else 0}"
    folder.mkdir(parents=True)
    try:
        with tarfile.open(package, "r|gz") as members:
            _unpack(members, folder)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise NotUsable(f"is a package that cannot be unpacked: {error}") from None
    found = sorted(file for file in folder.rglob("*") if _wanted(file.name, JATS))
    if not found:
        raise NotUsable("is a package without an article")
    return found[0]


def _unpack(members: tarfile.TarFile, folder: Path) -> None:
    """Plain files with names that stay inside, of the kinds that are needed, up to a size; nothing else."""
    total = 0
    for number, member in enumerate(members, start=1):
        total += member.size
        if number > MOST_FILES or total > MOST_BYTES:
            raise NotUsable(f"is a package of more than {MOST_FILES:,} files or {MOST_BYTES >> 20:,} MB")
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or "\\" in member.name or "\0" in member.name:
            raise NotUsable(f"is a package with a path that leads out of it: {member.name!r}")
        if not member.isfile() or name.suffix.lower() not in (*JATS, *SUFFIXES):
            continue
        content = members.extractfile(member)
        if content is not None:
            there = folder / name
            there.parent.mkdir(parents=True, exist_ok=True)
            with there.open("wb") as out:
                shutil.copyfileobj(content, out)
