"""The interface of a judge of open answers, the pairs of diagnoses it compares, and the table of its verdicts."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import polars as pl

from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.files import replacement
from wardround.marking.judges.judged_text import INSTRUCTION, OVERLONG, flag_judged_text, split_diseases
from wardround.running.parquet import in_parts
from wardround.running.store import AnswerKey, AnswerStore

JUDGED_RANKS = 3  # of an answer's diagnoses
MAX_NAME_LENGTH = 300
VERDICTS_FILE = "verdicts.parquet"
_PUNCTUATION = " .,;:*_`'\""
PLACE_SCHEMA: dict[str, Any] = {
    "candidate": pl.String,
    "case": pl.String,
    "cluster": pl.String,
    "question": pl.String,
    "condition": pl.String,
    "trial": pl.Int32,
    "rank": pl.Int16,
}
PREDICTION_SCHEMA = {**PLACE_SCHEMA, "gold": pl.String, "accept": pl.List(pl.String), "diagnosis": pl.String}
VERDICT_SCHEMA = {**PREDICTION_SCHEMA, "same": pl.Boolean, "judge": pl.String, "flag": pl.String}


class Judge(Protocol):
    """Decides whether a diagnosis is the right answer to a question."""

    name: str  # with its version, as in marks

    def same(self, question: Question, diagnosis: str) -> bool | None:
        """None without a verdict."""
        ...


class DiagnosisPair(NamedTuple):
    """A gold diagnosis with its accepted names, and a diagnosis to compare with it, all normalized."""

    gold: str
    accept: tuple[str, ...]
    diagnosis: str

    @classmethod
    def of(cls, question: Question, diagnosis: str) -> DiagnosisPair:
        accept = dict.fromkeys(normalize_name(name) for name in question.accept)
        return cls(normalize_name(str(question.gold)), tuple(accept), normalize_name(diagnosis))


def normalize_name(name: str) -> str:
    """A name on one line, in lower case except for abbreviations, so that there are few distinct pairs."""
    words = unicodedata.normalize("NFKC", name[: 4 * MAX_NAME_LENGTH]).split()
    return " ".join(map(_without_capital, words)).strip(_PUNCTUATION)[:MAX_NAME_LENGTH].strip(_PUNCTUATION)


def _without_capital(word: str) -> str:
    """A word in lower case, unless it has a capital after its first letter."""
    letters = word.lstrip("([{" + _PUNCTUATION)
    return word.lower() if letters[1:] == letters[1:].lower() else word


def judged_diagnoses(text: str) -> list[str]:
    """The diagnoses of an answer that are judged, normalized."""
    from wardround.marking.parser.open import ranked_diagnoses  # not loaded for studies of choices: 0.05 s

    return judged_names(ranked_diagnoses(text))


def judged_names(diagnoses: Iterable[str]) -> list[str]:
    """The first diseases in a list of diagnoses, normalized; several diseases in one entry count as several."""
    names = (normalize_name(disease) for diagnosis in diagnoses for disease in split_diseases(diagnosis))
    return [name for name in dict.fromkeys(names) if name][:JUDGED_RANKS]


def scored_answers(used: pl.LazyFrame, cases: CaseSet) -> Iterator[tuple[dict[str, Any], Case, Question]]:
    """Every used answer that is scored, with its case and its question."""
    case: Case | None = None
    for part in in_parts(used):
        for row in part.filter("scored").iter_rows(named=True):
            if case is None or case.id != row["case"]:
                case = cases.case(cases.index_of(row["case"]))
                questions = {question.id: question for question in case.questions}
            yield row, case, questions[row["question"]]


@lru_cache
def is_probe(condition: str) -> bool:
    """Whether a condition, in the JSON of marks, is a leakage probe: its answers contain no diagnosis."""
    return "probe" in json.loads(condition)  # left out if there is none


def answer_key(used: dict[str, Any]) -> AnswerKey:
    """The key of a used answer in the store."""
    return AnswerKey(bytes.fromhex(used["ask"]), used["trial"], used["turn"])


def list_predictions(used: pl.LazyFrame, cases: CaseSet, store: AnswerStore) -> pl.DataFrame:
    """The first diagnoses of every open answer that was not refused, one a row, normalized."""
    rows = []
    for row, case, question in scored_answers(used, cases):
        if question.kind != "open" or is_probe(row["condition"]):
            continue
        answer = store.get(answer_key(row))
        if answer is None or answer.refused_for is not None:
            continue
        place = {name: row[name] for name in ("candidate", "case", "question", "condition", "trial")}
        for rank, diagnosis in enumerate(judged_diagnoses(answer.text), 1):
            pair = DiagnosisPair.of(question, diagnosis)._asdict()
            rows.append(place | {"cluster": case.cluster_id, "rank": rank} | pair)
    return pl.DataFrame(rows, schema=PREDICTION_SCHEMA)


def distinct_pairs(predictions: pl.DataFrame) -> list[DiagnosisPair]:
    """The distinct pairs, in a fixed order."""
    pairs = {
        DiagnosisPair(gold, tuple(accept), diagnosis)
        for gold, accept, diagnosis in predictions.select("gold", "accept", "diagnosis").iter_rows()
    }
    return sorted(pairs)


def verdict_table(predictions: pl.DataFrame, cases: CaseSet, judge: Judge) -> pl.DataFrame:
    """The judge's verdict on every prediction."""

    @cache
    def questions(case_id: str) -> dict[str, Question]:
        return {question.id: question for question in cases.case(cases.index_of(case_id)).questions}

    @cache
    def is_same(case_id: str, question_id: str, diagnosis: str) -> bool | None:
        return judge.same(questions(case_id)[question_id], diagnosis)

    same = [is_same(*place) for place in predictions.select("case", "question", "diagnosis").iter_rows()]
    flags = [flag_judged_text(diagnosis) for diagnosis in predictions["diagnosis"]]
    columns = (pl.Series("same", same, pl.Boolean), pl.Series("flag", flags, pl.String))
    return predictions.with_columns(*columns, pl.lit(judge.name).alias("judge")).select(*VERDICT_SCHEMA)


def count_flagged(verdicts: pl.DataFrame) -> dict[str, int]:
    """How many answers have a judged diagnosis that is overlong or reads like an instruction."""
    answers = ["candidate", "case", "question", "condition", "trial"]
    return {kind: verdicts.filter(pl.col("flag") == kind).n_unique(answers) for kind in (INSTRUCTION, OVERLONG)}


def write_verdicts(folder: Path, table: pl.DataFrame, judge: str) -> None:
    """Writes the verdicts of this judge into the run folder; those of other judges are kept."""
    others = [part for part in read_verdicts(folder).partition_by("judge") if part["judge"][0] != judge]
    with replacement(folder / VERDICTS_FILE) as draft:
        pl.concat([*others, table]).write_parquet(draft)


def read_verdicts(folder: Path) -> pl.DataFrame:
    """All verdicts of a run folder."""
    file = folder / VERDICTS_FILE
    empty = pl.DataFrame(schema=VERDICT_SCHEMA)
    return pl.concat([empty, pl.read_parquet(file)], how="diagonal") if file.exists() else empty
