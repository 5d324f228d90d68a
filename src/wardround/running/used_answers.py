"""The answers that a run used: `used.parquet`, from which marks can be made again at any time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wardround.core.evidence import Document, Evidence
from wardround.running.parquet import write_in_parts
from wardround.running.store import Row

FILE = "used.parquet"
CHUNK = 20_000
SCHEMA = {
    "candidate": pl.Int16,
    "case": pl.Int32,
    "question": pl.String,
    "condition": pl.Int16,
    "trial": pl.Int32,
    "ask": pl.Binary,
    "turn": pl.Int16,
    "scored": pl.Boolean,
}


EVIDENCE = "evidence.parquet"
EVIDENCE_SCHEMA: dict[str, Any] = {
    "candidate": pl.String,
    "case": pl.String,
    "question": pl.String,
    "condition": pl.String,
    "trial": pl.Int32,
    "documents": pl.List(pl.String),  # what was shown, in order, by the names of documents.parquet
    "found": pl.List(pl.String),  # PMIDs that searches brought, best first
    "queries": pl.List(pl.String),
    "missing": pl.List(pl.String),  # PMIDs that were to be shown and are not in the index
    "ended": pl.String,  # why an agent stopped searching
}
DOCUMENTS = "documents.parquet"
DOCUMENT_SCHEMA = {"document": pl.String, "pmid": pl.String, "title": pl.String, "text": pl.String}


class Used(NamedTuple):
    """One answer that the run used: what it answers, and where it stands in the store."""

    case: int  # number of the case in its set
    question: str
    condition: int  # number of the condition in the study
    row: Row
    scored: bool
    cut: bool  # whether something did not fit the candidate's context
    evidence: Evidence | None = None


class UsedRows:
    """Collects what was used, compactly; the order of arrival does not matter."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []
        self._rows: list[tuple[int, int, str, int, int, bytes, int, bool]] = []
        self.counts: Counter[int] = Counter()  # by candidate
        self.cuts: Counter[int] = Counter()
        self.missing: dict[int, set[str]] = defaultdict(set)  # by candidate: PMIDs that the index lacks
        self._evidence: list[tuple[Any, ...]] = []
        self._documents: dict[str, Document] = {}

    def add(self, candidate: int, used: Used) -> None:
        case, question, condition, (ask, trial, turn), scored, cut, evidence = used
        if evidence is not None:
            self._add_evidence((candidate, case, question, condition, trial), evidence)
        self.counts[candidate] += 1
        if cut:
            self.cuts[candidate] += 1
        self._rows.append((candidate, case, question, condition, trial, ask, turn, scored))
        if len(self._rows) >= CHUNK:
            self._pack()

    def _add_evidence(self, place: tuple[int, int, str, int, int], evidence: Evidence) -> None:
        shown = {document.id: document for document in evidence.documents}
        self._documents |= shown
        self.missing[place[0]].update(evidence.missing)
        told = (list(shown), list(evidence.found), list(evidence.queries), list(evidence.missing), evidence.ended)
        self._evidence.append((*place, *told))

    def _pack(self) -> None:
        self._frames.append(pl.DataFrame(self._rows, schema=SCHEMA, orient="row"))
        self._rows = []

    def tables(self, candidates: list[str], case_ids: list[str], conditions: list[str]) -> Iterator[pl.DataFrame]:
        """All rows in the order of candidate, case, question, condition and trial, with names for numbers."""
        self._pack()
        every = pl.concat(self._frames).sort("candidate", "case", "question", "condition", "trial", "turn", "ask")
        self._frames = []
        names = {
            name: pl.Series(values, dtype=pl.String)
            for name, values in (("candidate", candidates), ("case", case_ids), ("condition", conditions))
        }
        for rows in every.iter_slices(CHUNK) if len(every) else [every]:
            yield rows.with_columns(
                *(values.gather(rows[name]).alias(name) for name, values in names.items()),
                rows["ask"].bin.encode("hex").alias("ask"),
            )

    def write_evidence(self, folder: Path, candidates: list[str], case_ids: list[str], conditions: list[str]) -> None:
        """What was shown with each question, and the documents themselves; nothing where nothing was."""
        if not self._evidence:
            return
        rows = [
            (candidates[candidate], case_ids[case], question, conditions[condition], trial, *told)
            for candidate, case, question, condition, trial, *told in sorted(self._evidence, key=lambda row: row[:5])
        ]
        documents = [(id, *document) for id, document in sorted(self._documents.items())]
        write_in_parts(folder / EVIDENCE, [pl.DataFrame(rows, schema=EVIDENCE_SCHEMA, orient="row")])
        write_in_parts(folder / DOCUMENTS, [pl.DataFrame(documents, schema=DOCUMENT_SCHEMA, orient="row")])


class Shown:
    """The evidence of a run, read again: what was shown with each question."""

    def __init__(self, folder: Path) -> None:
        self._documents: dict[str, Document] = {}
        self._evidence: dict[tuple[Any, ...], Evidence] = {}
        if (folder / EVIDENCE).exists():
            for id, pmid, title, text in pl.read_parquet(folder / DOCUMENTS).iter_rows():
                self._documents[id] = Document(pmid, title, text)
            for *place, ids, found, queries, missing, ended in pl.read_parquet(folder / EVIDENCE).iter_rows():
                documents = tuple(self._documents[id] for id in ids)
                told = Evidence(documents, tuple(found), tuple(queries), tuple(missing), ended)
                self._evidence[tuple(place)] = told

    def __bool__(self) -> bool:
        return bool(self._evidence)

    def with_answer(self, row: Mapping[str, Any]) -> Evidence | None:
        """The evidence of a row of used.parquet or marks.parquet; None where the condition shows none."""
        return self._evidence.get(tuple(row[name] for name in ("candidate", "case", "question", "condition", "trial")))


def scan_used(folder: Path) -> pl.LazyFrame:
    return pl.scan_parquet(folder / FILE)


def read_used(folder: Path) -> pl.DataFrame:
    return scan_used(folder).collect()


def asks_of(folder: Path, candidate: str) -> Iterator[bytes]:
    """The Asks whose answers the run used of a candidate, each once."""
    own = scan_used(folder).filter(pl.col("candidate") == candidate)
    yield from map(bytes.fromhex, own.select(pl.col("ask").unique()).collect()["ask"])
