"""Sources: which files there are, and each read as what it is."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.literature.ingest.article_rows import read_csv, read_jsonl
from wardround.literature.ingest.pubmed_files import read_pubmed
from wardround.literature.ingest.record import Record

READERS = {".xml": read_pubmed, ".jsonl": read_jsonl, ".csv": read_csv}
CHUNK = 1 << 20
LONGEST = 64 << 20  # bytes of a line: a longer one comes in pieces, which are problems
MARK = b"\xef\xbb\xbf"


def read(file: Path) -> Iterator[Record | Problem]:
    """Records, deletions and problems of one file in its order. A gzip file cut short gives what was whole."""
    kind = _kind(file)
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
            taken = partial(opened.read1, CHUNK) if kind == ".xml" else partial(opened.readline, LONGEST)
            yield from READERS[kind](file, _unmarked(iter(taken, b"")))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield Problem(file, None, None, f"is cut short or damaged ({error}); what was whole before that is kept")
    except OSError as error:
        raise WardroundError(f"{file}: cannot be read: {error.strerror}") from None


def files(sources: Sequence[Path]) -> list[Path]:
    """The files that sources name, each once: a folder's in the order of their names, as PubMed numbers them."""
    found: dict[Path, None] = {}
    for source in sources:
        if source.is_dir():
            inside = sorted(each for each in source.rglob("*") if _kind(each) in READERS and each.is_file())
            if not inside:
                raise BadInput(source, f"holds no file of {', '.join(READERS)}, nor of these with .gz")
        elif not source.exists():
            raise BadInput(source, "does not exist")
        elif _kind(source) not in READERS:
            raise BadInput(source, f"is none of {', '.join(READERS)}, nor of these with .gz")
        else:
            inside = [source]
        found |= dict.fromkeys(each.resolve() for each in inside)
    return list(found)


def _kind(file: Path) -> str:
    return Path(file.name.removesuffix(".gz")).suffix.lower()


def _unmarked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Without the byte order mark that some programs write first."""
    yield next(pieces, b"").removeprefix(MARK)
    yield from pieces
