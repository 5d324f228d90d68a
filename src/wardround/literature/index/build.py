"""Builds and updates an index: files to records, records to articles, articles to BM25 and vectors.

A killed build continues when it is started again: files that were read, articles that were committed and indices that
were created are not made again.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput, WardroundError
from wardround.literature.encoders import make_encoder, parse_spec
from wardround.literature.index import about, articles
from wardround.literature.index.embedding import embed
from wardround.literature.index.index import Index, check_format, connect_to_index
from wardround.literature.index.location import (
    Connection,
    connect,
    is_address,
    one_line_errors,
    table_names,
    work_folder,
)
from wardround.literature.index.mesh_table import write_thesaurus
from wardround.literature.index.versions import VERSIONED, restore_tables, table_versions
from wardround.literature.ingest.ingest import ingest
from wardround.literature.ingest.ledger import LedgerEntry, locked, read_entries
from wardround.literature.ingest.sources import list_files
from wardround.literature.words.tables import (
    change_articles,
    clear_words,
    count_parts,
    index_articles,
    needs_compaction,
)
from wardround.literature.words.word_index import BM25_RULES

Note = Callable[[str], None]


@dataclass(frozen=True)
class IndexBuild:
    """The result of a build or an update."""

    index: str
    work: str
    files: int
    read: int  # files that were read now
    records: int
    deletions: int
    problems: int
    named: list[str]  # the first problems
    articles: int
    retrievers: list[str]
    fingerprint: str


@dataclass(frozen=True)
class IndexCompaction:
    """The result of a compaction."""

    index: str
    parts_before: int  # of the word index
    parts: int


def build(
    sources: Sequence[Path],
    location: str | Path,
    *,
    columns: Sequence[str] = ("wordllama",),
    work: Path | None = None,
    workers: int = 1,
    note: Note = lambda message: None,
) -> IndexBuild:
    """Builds the index of all articles in the sources, or continues it. New sources are added to earlier ones."""
    folder = work or work_folder(location)
    for column in columns:
        parse_spec(column)  # an unknown encoder is an error now, not after hours
    list_files(sources)  # and a missing source, before a folder is created
    _check_free(location)
    connection = connect(location)
    with locked(folder, ".index.lock"):
        new_entries: list[LedgerEntry] = []

        def add_entry(entry: LedgerEntry) -> None:
            new_entries.append(entry)
            problems = f", {entry.problems:,} problems" if entry.problems else ""
            note(f"{entry.source}: {entry.records:,} records, {entry.deletions:,} deletions{problems}")

        all_entries = ingest(sources, folder, workers=workers, note=add_entry)
        with one_line_errors(location):
            _follow_ledger(connection, folder, note)
        for column in columns:
            embed(Index.open(location), make_encoder(column, fetch=True), note=note)
        index = Index.open(location)
    return IndexBuild(
        index=str(location),
        work=str(folder),
        files=len(all_entries),
        read=len(new_entries),
        records=sum(entry.records for entry in all_entries),
        deletions=sum(entry.deletions for entry in all_entries),
        problems=sum(entry.problems for entry in all_entries),
        named=[line for entry in all_entries for line in entry.named],
        articles=index.about["articles"]["count"],
        retrievers=index.retrievers,
        fingerprint=index.fingerprint,
    )


def update(
    location: str | Path,
    sources: Sequence[Path],
    *,
    work: Path | None = None,
    workers: int = 1,
    note: Note = lambda message: None,
) -> IndexBuild:
    """Adds files to an existing index: newer versions replace, deletions delete, vectors follow."""
    _, about_index = connect_to_index(location)
    check_format(location, about_index)
    folder = work or work_folder(location)
    known_hashes = {entry.sha256 for entry in read_entries(folder).values()}
    if not known_hashes.issuperset(about_index["articles"]["files"]):
        raise BadInput(folder, f"does not have the records of {location}; name their folder with --work")
    columns = [column["spec"]["encoder"] for column in about_index.get("columns", {}).values()]
    return build(sources, location, columns=columns, work=work, workers=workers, note=note)


def add_thesaurus(location: str | Path, descriptor_file: Path) -> dict[str, Any]:
    """Adds the MeSH headings of the NLM's descriptor file to an index, in place of earlier ones."""
    connection, _ = connect_to_index(location)
    with locked(work_folder(location), ".index.lock"), one_line_errors(location):
        return write_thesaurus(connection, descriptor_file)


def store_tuning(location: str | Path, tuning: dict[str, Any]) -> None:
    """Keeps the weights of `fused` in an index, in place of earlier ones."""
    connection, _ = connect_to_index(location)
    with locked(work_folder(location), ".index.lock"), one_line_errors(location):
        about.write_about(connection, tuning=tuning)


def compact_index(
    location: str | Path, *, work: Path | None = None, note: Note = lambda message: None
) -> IndexCompaction:
    """Combines what updates have added and removes what they made obsolete. Articles and results stay the same."""
    connection, about_index = connect_to_index(location)
    check_format(location, about_index)
    with locked(work or work_folder(location), ".index.lock"), one_line_errors(location):
        recorded = about.read_about(connection)["articles"]
        if recorded["state"] == "following":  # an update that was stopped is undone; its files can be added again
            restore_tables(connection, recorded["versions"])
        elif recorded["state"] != "whole":
            raise WardroundError(f"{location}: is incomplete: its build was stopped; run it again")
        parts = count_parts(connection)
        about.write_about(connection, articles={**recorded, "state": "following"})
        if needs_compaction(connection):
            clear_words(connection)
            index_articles(connection, connection.open_table(articles.NAME), note)
        for name in VERSIONED:
            articles.compact(connection.open_table(name), is_fresh=False)
        about.write_about(connection, articles={**recorded, "state": "whole", "versions": table_versions(connection)})
        for name in table_names(connection):
            articles.remove_obsolete(connection.open_table(name))
        return IndexCompaction(str(location), parts, count_parts(connection))


def _follow_ledger(connection: Connection, folder: Path, note: Note) -> None:
    """Brings the articles up to date with the ledger, and records it when done."""
    hashes = [entry.sha256 for entry in read_entries(folder).values()]
    recorded: dict[str, Any] = about.read_about(connection).get("articles", {"state": "none", "files": []})
    state, recorded_hashes = recorded["state"], recorded["files"]
    if state == "whole" and hashes == recorded_hashes and "versions" in recorded:
        return
    if "versions" in recorded and hashes[: len(recorded_hashes)] == recorded_hashes:
        if state == "following":
            restore_tables(connection, recorded["versions"])
        about.write_about(connection, articles={**recorded, "state": "following"})
        table = connection.open_table(articles.NAME)
        changes = articles.find_changes(table, folder, len(recorded_hashes))
        articles.apply_changes(table, changes)
        change_articles(connection, changes.added, changes.removed)
        articles.create_indices(table, note)
        content = articles.changed_sum(recorded, changes)
        revised = changes.added["pmid"].is_in(changes.removed["pmid"].implode()).sum()
        note(
            f"{len(changes.added) - revised:,} articles added, {revised:,} revised, "
            f"{len(changes.removed) - revised:,} deleted"
        )
    else:
        if state != "filling" or hashes != recorded_hashes:
            about.write_about(connection, articles={"state": "clearing", "files": []}, columns={})
            for name in table_names(connection):
                if name in VERSIONED or name.startswith("vectors_"):
                    connection.drop_table(name)
            about.write_about(connection, articles={"state": "filling", "files": hashes})
        table = articles.fill_articles(connection, folder, note)
        index_articles(connection, table, note)
        articles.create_indices(table, note)
        content = articles.count_and_sum(table)
        for name in VERSIONED:
            articles.compact(connection.open_table(name), is_fresh=True)
    complete = {"state": "whole", "files": hashes, **content, "versions": table_versions(connection)}
    about.write_about(connection, articles=complete, bm25=BM25_RULES)


def _check_free(location: str | Path) -> None:
    """Refuses a folder that has other contents."""
    folder = Path(location)
    if is_address(location) or not folder.exists():
        return
    with suppress(NotADirectoryError):
        if not any(folder.iterdir()) or (folder / "work").is_dir() or (folder / f"{about.NAME}.lance").is_dir():
            return
    raise BadInput(folder, "exists and is not a literature index; use a new or empty folder")
