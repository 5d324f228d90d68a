"""The answers that a run used (`used.parquet`) and their evidence, from which marks can be made again."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wardround.core.evidence import Document, Evidence
from wardround.running.inputs.used_rows import DIGEST_SIZE, UsedRows
from wardround.running.parquet import open_table, write_in_parts
from wardround.running.store import AnswerKey

FILE = "used.parquet"
ROWS_FOLDER = ".used.rows"  # of a run that does not fit into memory, until used.parquet is written
# further keys of the store, each listed in a file of its own
JUDGE_ANSWERS = "used_by_judge.parquet"
READER_ANSWERS = "used_by_reader.parquet"
TOOL_RESULTS = "used_results.parquet"
KEY_SCHEMA = {"ask": pl.String, "trial": pl.Int32, "turn": pl.Int16}

EVIDENCE = "evidence.parquet"
EVIDENCE_SCHEMA: dict[str, Any] = {
    "candidate": pl.String,
    "case": pl.String,
    "question": pl.String,
    "condition": pl.String,
    "trial": pl.Int32,
    "documents": pl.List(pl.String),  # ids of documents.parquet, in the order shown
    "found": pl.List(pl.String),  # PMIDs of search results, best first
    "queries": pl.List(pl.String),
    "missing": pl.List(pl.String),  # PMIDs that are not in the index
    "ended": pl.String,  # why an agent stopped searching
}
DOCUMENTS = "documents.parquet"
DOCUMENT_SCHEMA = {"document": pl.String, "pmid": pl.String, "title": pl.String, "text": pl.String}


class UsedAnswer(NamedTuple):
    """One answer that the run used: what it answers, and its key in the store."""

    case: int  # number of the case in its set
    question: str
    condition: int  # number of the condition in the study
    key: AnswerKey
    scored: bool
    cut: bool  # whether something did not fit the candidate's context
    evidence: Evidence | None = None
    digest: bytes | None = None  # `body_digest` of the answer, if it was read before


def body_digest(body: bytes) -> bytes:
    """A hash of a stored answer."""
    return blake2b(body, digest_size=DIGEST_SIZE).digest()


class UsedAnswers:
    """Collects used answers compactly, in any order."""

    def __init__(self, folder: Path) -> None:
        self._rows = UsedRows(folder / ROWS_FOLDER)
        self.counts: Counter[int] = Counter()  # by candidate
        self.cuts: Counter[int] = Counter()
        self.missing: dict[int, set[str]] = defaultdict(set)  # by candidate: PMIDs that the index lacks
        self._evidence: list[tuple[Any, ...]] = []
        self._documents: dict[str, Document] = {}

    @property
    def answers_hash(self) -> str | None:
        """As `hash_answers` gives it; known after `tables` if all answers were read before."""
        return self._rows.answers_hash

    def add(self, candidate: int, used: UsedAnswer) -> None:
        case, question, condition, (ask, trial, turn), scored, cut, evidence, digest = used
        if evidence is not None:
            self._add_evidence((candidate, case, question, condition, trial), evidence)
        self.counts[candidate] += 1
        if cut:
            self.cuts[candidate] += 1
        self._rows.add((candidate, case, question, condition, trial, ask, turn, scored, digest))

    def _add_evidence(self, key: tuple[int, int, str, int, int], evidence: Evidence) -> None:
        documents = {document.id: document for document in evidence.documents}
        self._documents |= documents
        self.missing[key[0]].update(evidence.missing)
        lists = [list(values) for values in (documents, evidence.hits, evidence.queries, evidence.missing)]
        self._evidence.append((*key, *lists, evidence.ended))

    def tables(self, candidates: list[str], case_ids: list[str], conditions: list[str]) -> Iterator[pl.DataFrame]:
        """All rows sorted by candidate, case, question, condition and trial, with names for numbers."""
        names = {
            name: pl.Series(values, dtype=pl.String)
            for name, values in (("candidate", candidates), ("case", case_ids), ("condition", conditions))
        }
        for rows in self._rows.tables():
            yield rows.with_columns(
                *(values.gather(rows[name]).alias(name) for name, values in names.items()),
                rows["ask"].bin.encode("hex").alias("ask"),
            )

    def write_evidence(self, folder: Path, candidates: list[str], case_ids: list[str], conditions: list[str]) -> None:
        """Writes the evidence of each question and the documents, if there are any."""
        if not self._evidence:
            return
        rows = [
            (candidates[candidate], case_ids[case], question, conditions[condition], trial, *evidence)
            for candidate, case, question, condition, trial, *evidence in sorted(
                self._evidence, key=lambda row: row[:5]
            )
        ]
        documents = [(id, *document) for id, document in sorted(self._documents.items())]
        write_in_parts(folder / EVIDENCE, [pl.DataFrame(rows, schema=EVIDENCE_SCHEMA, orient="row")])
        write_in_parts(folder / DOCUMENTS, [pl.DataFrame(documents, schema=DOCUMENT_SCHEMA, orient="row")])


class RunEvidence:
    """The evidence of a run, read from its folder."""

    def __init__(self, folder: Path) -> None:
        self._documents: dict[str, Document] = {}
        self._evidence: dict[tuple[Any, ...], Evidence] = {}
        if (folder / EVIDENCE).exists():
            for id, pmid, title, text in pl.read_parquet(folder / DOCUMENTS).iter_rows():
                self._documents[id] = Document(pmid, title, text)
            for *key, ids, hits, queries, missing, ended in pl.read_parquet(folder / EVIDENCE).iter_rows():
                documents = tuple(self._documents[id] for id in ids)
                evidence = Evidence(documents, tuple(hits), tuple(queries), tuple(missing), ended)
                self._evidence[tuple(key)] = evidence

    def __bool__(self) -> bool:
        return bool(self._evidence)

    def of_answer(self, row: Mapping[str, Any]) -> Evidence | None:
        """The evidence of a row of used.parquet or marks.parquet; None if the condition shows none."""
        return self._evidence.get(tuple(row[name] for name in ("candidate", "case", "question", "condition", "trial")))


def write_keys(file: Path, keys: Iterable[AnswerKey]) -> None:
    """Lists keys of the store in a file; without any there is none."""
    rows = [(ask.hex(), trial, turn) for ask, trial, turn in sorted(set(keys))]
    if rows:
        write_in_parts(file, [pl.DataFrame(rows, schema=KEY_SCHEMA, orient="row")])
    else:
        file.unlink(missing_ok=True)


def scan_used(folder: Path) -> pl.LazyFrame:
    return open_table(folder / FILE, "continue the run by `wardround run STUDY`, which writes it")


def read_used(folder: Path) -> pl.DataFrame:
    return scan_used(folder).collect()


def asks_of(folder: Path, candidate: str) -> Iterator[bytes]:
    """The distinct Asks of a candidate whose answers the run used."""
    own = scan_used(folder).filter(pl.col("candidate") == candidate)
    yield from map(bytes.fromhex, own.select(pl.col("ask").unique()).collect()["ask"])
