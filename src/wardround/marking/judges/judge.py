"""Judges mark open answers: what every judge can say, and the diagnoses that are put to it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import polars as pl

from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.marking.parser.open import ranked_diagnoses
from wardround.running.parquet import in_parts
from wardround.running.store import Row, Store

RANKS = 3  # the diagnoses of an answer that are judged, from the first
LONGEST_NAME = 300
FILE = "verdicts.parquet"
_AROUND = " .,;:*_`'\""
PLACE: dict[str, Any] = {
    "candidate": pl.String,
    "case": pl.String,
    "cluster": pl.String,
    "question": pl.String,
    "condition": pl.String,
    "trial": pl.Int32,
    "rank": pl.Int16,
}
PREDICTIONS = {**PLACE, "gold": pl.String, "accept": pl.List(pl.String), "diagnosis": pl.String}
VERDICTS = {**PREDICTIONS, "same": pl.Boolean, "judge": pl.String}


class Judge(Protocol):
    """Says whether a diagnosis is the one that a question is after."""

    name: str  # with its version, as marks carry it

    def same(self, question: Question, diagnosis: str) -> bool | None:
        """None where it has no verdict."""
        ...


class Pair(NamedTuple):
    """A gold diagnosis with its accepted names, and a diagnosis to compare with it, all as a judge sees them."""

    gold: str
    accept: tuple[str, ...]
    diagnosis: str

    @classmethod
    def of(cls, question: Question, diagnosis: str) -> Pair:
        accept = dict.fromkeys(shown(name) for name in question.accept)
        return cls(shown(str(question.gold)), tuple(accept), shown(diagnosis))


def shown(name: str) -> str:
    """A name as a judge sees it: one line, and no capitals but those of abbreviations, so that pairs are few."""
    words = unicodedata.normalize("NFKC", name[: 4 * LONGEST_NAME]).split()
    return " ".join(map(_without_capital, words)).strip(_AROUND)[:LONGEST_NAME].strip(_AROUND)


def _without_capital(word: str) -> str:
    """A word that has no capital but its first letter, in small letters."""
    letters = word.lstrip("([{" + _AROUND)
    return word.lower() if letters[1:] == letters[1:].lower() else word


def judged_diagnoses(text: str) -> list[str]:
    """The diagnoses of an answer that are judged, as a judge sees them."""
    names = (shown(diagnosis) for diagnosis in ranked_diagnoses(text))
    return [name for name in names if name][:RANKS]


def answered(used: pl.LazyFrame, cases: CaseSet) -> Iterator[tuple[dict[str, Any], Case, Question]]:
    """Every used answer that counts, with its case and its question."""
    case: Case | None = None
    for part in in_parts(used):
        for row in part.filter("scored").iter_rows(named=True):
            if case is None or case.id != row["case"]:
                case = cases.case(cases.index_of(row["case"]))
                questions = {question.id: question for question in case.questions}
            yield row, case, questions[row["question"]]


@lru_cache
def is_probe(condition: str) -> bool:
    """Whether a condition, as marks carry it, is a probe of leakage: its answers diagnose nothing."""
    return "probe" in json.loads(condition)  # not told where it is none


def row_of(used: dict[str, Any]) -> Row:
    """Where a used answer stands in the store."""
    return Row(bytes.fromhex(used["ask"]), used["trial"], used["turn"])


def predictions(used: pl.LazyFrame, cases: CaseSet, store: Store) -> pl.DataFrame:
    """The first diagnoses of every open answer, one a row, as a judge sees them."""
    rows = []
    for row, case, question in answered(used, cases):
        if question.kind != "open" or is_probe(row["condition"]) or (answer := store.get(row_of(row))) is None:
            continue
        place = {name: row[name] for name in ("candidate", "case", "question", "condition", "trial")}
        for rank, diagnosis in enumerate(judged_diagnoses(answer.text), 1):
            pair = Pair.of(question, diagnosis)._asdict()
            rows.append(place | {"cluster": case.resampled_as, "rank": rank} | pair)
    return pl.DataFrame(rows, schema=PREDICTIONS)


def pairs(predicted: pl.DataFrame) -> list[Pair]:
    """The distinct pairs, in a fixed order."""
    distinct = {
        Pair(gold, tuple(accept), diagnosis)
        for gold, accept, diagnosis in predicted.select("gold", "accept", "diagnosis").iter_rows()
    }
    return sorted(distinct)


def verdict_table(predicted: pl.DataFrame, cases: CaseSet, judge: Judge) -> pl.DataFrame:
    """What the judge says of every prediction."""
    known: dict[tuple[str, str, str], bool | None] = {}
    questions: dict[tuple[str, str], Question] = {}
    for case, question, diagnosis in predicted.select("case", "question", "diagnosis").iter_rows():
        if (case, question) not in questions:
            whole = cases.case(cases.index_of(case))
            questions |= {(case, each.id): each for each in whole.questions}
        if (case, question, diagnosis) not in known:
            known[case, question, diagnosis] = judge.same(questions[case, question], diagnosis)
    same = [known[place] for place in predicted.select("case", "question", "diagnosis").iter_rows()]
    given = predicted.with_columns(pl.Series("same", same, pl.Boolean), pl.lit(judge.name).alias("judge"))
    return given.select(*VERDICTS)


def write_verdicts(folder: Path, table: pl.DataFrame, judge: str) -> None:
    """Keeps the verdicts of this judge in the run folder, beside those of other judges."""
    others = [each for each in read_verdicts(folder).partition_by("judge") if each["judge"][0] != judge]
    waiting = folder / f".{FILE}.new"
    pl.concat([*others, table]).write_parquet(waiting)
    waiting.replace(folder / FILE)


def read_verdicts(folder: Path) -> pl.DataFrame:
    """All verdicts of a run folder; none where none were given."""
    file = folder / FILE
    return pl.read_parquet(file) if file.exists() else pl.DataFrame(schema=VERDICTS)
