"""Building and updating an index: files into records, records into articles, articles into what finds them.

Killed at any moment, it goes on when it is started again: a file that was read is not read again, articles that were
committed are not written again, and an index that was made is not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput, WardroundError
from wardround.literature.encoders import named
from wardround.literature.index import about, articles
from wardround.literature.index.index import Index
from wardround.literature.index.location import Connection, connect, is_address, refusals, tables, work_of
from wardround.literature.ingest.ingest import ingest
from wardround.literature.ingest.ledger import Entry, entries, locked
from wardround.literature.ingest.sources import files

SILENT: Callable[[str], None] = lambda _: None  # noqa: E731


@dataclass(frozen=True)
class Built:
    """What came of a build or an update."""

    index: str
    work: str
    files: int
    read: int  # of the files, those that were read now
    records: int
    deletions: int
    problems: int
    named: list[str]
    articles: int
    retrievers: list[str]
    fingerprint: str


def build(
    sources: Sequence[Path],
    place: str | Path,
    *,
    columns: Sequence[str] = ("wordllama",),
    work: Path | None = None,
    workers: int = 1,
    tell: Callable[[str], None] = SILENT,
) -> Built:
    """Makes the index of all articles in the sources, or goes on with it. New sources are added to those before."""
    folder = work or work_of(place)
    for column in columns:
        named(column)  # a word that is none is told now, not after hours
    files(sources)  # and a source that is not there, before a folder is made
    _check_free(place)
    connection = connect(place)
    with locked(folder, ".index.lock"):
        read: list[Entry] = []

        def heard(entry: Entry) -> None:
            read.append(entry)
            tell(f"{entry.source}: {entry.records:,} records, {entry.deletions:,} deletions" + _problems(entry))

        found = ingest(sources, folder, workers=workers, tell=heard)
        with refusals(place):
            _follow_ledger(connection, folder, workers, tell)
        for column in columns:
            _embed(place, column, tell)
        index = Index.open(place)
    return Built(
        index=str(place),
        work=str(folder),
        files=len(found),
        read=len(read),
        records=sum(entry.records for entry in found),
        deletions=sum(entry.deletions for entry in found),
        problems=sum(entry.problems for entry in found),
        named=[line for entry in found for line in entry.named],
        articles=index.about["articles"]["count"],
        retrievers=index.retrievers,
        fingerprint=index.fingerprint,
    )


def update(
    place: str | Path,
    sources: Sequence[Path],
    *,
    work: Path | None = None,
    workers: int = 1,
    tell: Callable[[str], None] = SILENT,
) -> Built:
    """Adds files to an index that is there: newer versions replace, deletions delete, vectors follow."""
    if not is_address(place) and not Path(place).is_dir():
        raise BadInput(Path(place), "is not an index of literature; `wardround literature build` makes one")
    with refusals(place):
        told = about.told(connect(place))
    if "articles" not in told:
        raise WardroundError(f"{place}: is not an index of literature; `wardround literature build` makes one")
    folder = work or work_of(place)
    known = {entry.sha256 for entry in entries(folder).values()}
    if not known.issuperset(told["articles"]["files"]):
        raise BadInput(folder, f"does not hold the records that {place} was made of; --work names the folder that does")
    columns = [column["spec"]["encoder"] for column in told.get("columns", {}).values()]
    return build(sources, place, columns=columns, work=work, workers=workers, tell=tell)


def _follow_ledger(connection: Connection, folder: Path, workers: int, tell: Callable[[str], None]) -> None:
    """Brings the articles to what the ledger holds, and says so when all of it is done."""
    read = [entry.sha256 for entry in entries(folder).values()]
    told: dict[str, Any] = about.told(connection).get("articles", {"state": "none", "files": []})
    state, before = told["state"], told["files"]
    if state == "whole" and read == before:
        return
    if state in ("whole", "following") and read[: len(before)] == before:
        about.tell(connection, articles={**told, "state": "following"})
        table = articles.follow(connection, folder, len(before), tell)
        articles.forget_words(table)
        articles.tidy(table, fresh=False)
        articles.find_by(table, workers, tell)
    else:
        if state != "filling" or read != before:
            about.tell(connection, articles={"state": "clearing", "files": []}, columns={})
            for name in tables(connection):
                if name == articles.NAME or name.startswith("vectors_"):
                    connection.drop_table(name)
            about.tell(connection, articles={"state": "filling", "files": read})
        table = articles.fill(connection, folder, tell)
        articles.find_by(table, workers, tell)
        articles.tidy(table, fresh=True)
    whole = {"state": "whole", "files": read, **articles.count_and_sum(table)}
    about.tell(connection, articles=whole, bm25={**articles.TOKENS, **articles.FORMULA})


def _embed(place: str | Path, encoder: str, tell: Callable[[str], None]) -> None:
    from wardround.literature.encoders import make_encoder
    from wardround.literature.index.embedding import embed

    embed(Index.open(place), make_encoder(encoder, fetch=True), tell=tell)


def _check_free(place: str | Path) -> None:
    """An index is not made among other things."""
    folder = Path(place)
    if is_address(place) or not folder.exists():
        return
    with suppress(NotADirectoryError):
        if not any(folder.iterdir()) or (folder / "work").is_dir() or (folder / f"{about.NAME}.lance").is_dir():
            return
    raise BadInput(folder, "is there and is not an index of literature; give a folder that is new or empty")


def _problems(entry: Entry) -> str:
    return f", {entry.problems:,} problems" if entry.problems else ""
