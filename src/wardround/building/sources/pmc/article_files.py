"""Files of articles: JATS, text, lists of blocks by MinerU, and packages (.tar.gz), which are unpacked safely."""

import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.pipeline.source_files import list_source_files, read_records
from wardround.building.sources.pmc.article import PmcArticle
from wardround.building.sources.pmc.jats import SUFFIXES, read_jats
from wardround.building.sources.pmc.mineru import SUFFIX as MINERU
from wardround.building.sources.pmc.mineru import read_content_list
from wardround.building.sources.pmc.plain_text import read_plain
from wardround.core.safe_xml import UnusableFile

JATS, PLAIN, PACKAGES = (".nxml", ".xml"), (".md", ".markdown", ".txt"), (".tar.gz", ".tgz")
MAX_FILES, MAX_BYTES = 2_000, 1 << 30  # of one package
NOT_ARTICLES = ("readme", "license", "licence", "manifest")


def read_articles(source: Path, unpacked: Path, build: Build) -> Iterator[Record]:
    """Each article as a record; other files are rejected."""

    def read(file: Path) -> Record:
        article_file = _unpack_article(file, unpacked) if file.name.lower().endswith(PACKAGES) else file
        return {**_read_article(article_file)}

    return read_records(list_articles(source), source, read, build, wanted="a usable article", unit="article")


def list_articles(source: Path) -> list[Path]:
    """The articles and packages of a folder, or the one file. MinerU's list of blocks stands for its Markdown."""
    suffixes = (*JATS, *PLAIN, *PACKAGES, MINERU)
    kinds = f".nxml, .xml, .md, .txt, *{MINERU} or .tar.gz"

    def is_wanted(file: Path) -> bool:
        return _is_article(file.name, suffixes) and not file.with_name(f"{file.stem}{MINERU}").is_file()

    return list_source_files(source, is_wanted, kinds)


def _read_article(file: Path) -> PmcArticle:
    name = file.name.lower()
    if name.endswith(MINERU):
        return read_content_list(file)
    return read_jats(file) if name.endswith(JATS) else read_plain(file)


def _is_article(name: str, suffixes: tuple[str, ...]) -> bool:
    return name.lower().endswith(suffixes) and not name.lower().startswith((*NOT_ARTICLES, "."))


def _unpack_article(package: Path, unpacked: Path) -> Path:
    """The article of a package, unpacked together with its figures."""
    folder = unpacked / f"{len(list(unpacked.iterdir())) if unpacked.exists() else 0}"
    folder.mkdir(parents=True)
    try:
        with tarfile.open(package, "r|gz") as members:
            _unpack(members, folder)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise UnusableFile(f"is a package that cannot be unpacked: {error}") from None
    articles = sorted(file for file in folder.rglob("*") if _is_article(file.name, JATS))
    if not articles:
        raise UnusableFile("is a package without an article")
    return articles[0]


def _unpack(members: tarfile.TarFile, folder: Path) -> None:
    """Writes the regular files of the needed types; refuses paths out of the folder, and packages beyond the limits."""
    total = 0
    for number, member in enumerate(members, start=1):
        total += member.size
        if number > MAX_FILES or total > MAX_BYTES:
            raise UnusableFile(f"is a package of more than {MAX_FILES:,} files or {MAX_BYTES >> 20:,} MB")
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or "\\" in member.name or "\0" in member.name:
            raise UnusableFile(f"is a package with a path that leads out of it: {member.name!r}")
        if not member.isfile() or name.suffix.lower() not in (*JATS, *SUFFIXES):
            continue
        content = members.extractfile(member)
        if content is not None:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as out:
                shutil.copyfileobj(content, out)
