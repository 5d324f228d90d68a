"""Sources: lists files of articles and reads each in its format."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from wardround.core.errors import BadInput, Problem, describe_unreadable
from wardround.literature.ingest.article_rows import read_csv, read_jsonl
from wardround.literature.ingest.full_text import read_article, read_package
from wardround.literature.ingest.pubmed_files import read_pubmed
from wardround.literature.ingest.record import ArticleRecord

READERS = {".xml": read_pubmed, ".jsonl": read_jsonl, ".csv": read_csv, ".nxml": read_article, ".tar": read_package}
READ_IN_CHUNKS = (".xml", ".nxml", ".tar")  # the others by lines
CHUNK = 1 << 20
MAX_LINE_BYTES = 64 << 20  # a longer line is read in pieces, which are problems
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_records(file: Path) -> Iterator[ArticleRecord | Problem]:
    """The records, deletions and problems of one file in order. A truncated gzip file yields its complete records."""
    kind = _kind(file)
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
            read_piece = (
                partial(opened.read1, CHUNK) if kind in READ_IN_CHUNKS else partial(opened.readline, MAX_LINE_BYTES)
            )
            yield from READERS[kind](file, _without_mark(iter(read_piece, b"")))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield Problem(file, None, None, f"is truncated or damaged ({error}); the records before that are kept")
    except OSError as error:
        raise BadInput(file, describe_unreadable(error)) from None


def list_files(sources: Sequence[Path]) -> list[Path]:
    """The files of all sources, each once; those of a folder by name, which is PubMed's order."""
    listed: dict[Path, None] = {}
    for source in sources:
        if source.is_dir():
            paths = sorted(path for path in source.rglob("*") if _kind(path) in READERS and path.is_file())
            if not paths:
                raise BadInput(source, f"contains no {', '.join(READERS)} files (also with .gz)")
        elif not source.exists():
            raise BadInput(source, "does not exist")
        elif _kind(source) not in READERS:
            raise BadInput(source, f"is not a {', '.join(READERS)} file (also with .gz)")
        else:
            paths = [source]
        listed |= dict.fromkeys(path.resolve() for path in paths)
    return list(listed)


def _kind(file: Path) -> str:
    return Path(file.name.removesuffix(".gz")).suffix.lower()


def _without_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Removes the byte order mark that some programs write."""
    yield next(pieces, b"").removeprefix(BYTE_ORDER_MARK)
    yield from pieces
