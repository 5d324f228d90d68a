"""Marks with their texts replaced by whole numbers, so that every sum is taken over integers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.core.condition import DEFAULTS
from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.marking.judges.rubric_judge import RUBRIC_SCHEMA
from wardround.marking.marks import FEW_MARKS
from wardround.marking.slice_values import CARRIED_SCHEMA, SLICE_SCHEMA, STRATA_SCHEMA
from wardround.measuring.engine.runs import Runs, TextRuns, common_ends, read_runs
from wardround.measuring.engine.sums import Integers
from wardround.measuring.measures.record import MeasureRecord, mark_sums, plugin_records

OPTIONAL: dict[str, Any] = {  # columns of marks; without its column a measure does not apply
    "gold": pl.Int16(),  # index of the right option
    "k": pl.Int16(),  # number of options
    "shares": pl.List(pl.Float64),  # probability of each option, from log-probabilities
    "judge": pl.String(),  # name of the judge of an open answer
    "parser": pl.String(),  # name of the parser that read the answer
    "grounded": pl.Boolean(),  # the first diagnosis is supported by the documents that were supplied
    "covered": pl.Boolean(),  # the documents that were supplied contain the true diagnosis
    "relevant": pl.Int32(),  # number of relevant documents
    "relevant_ranks": pl.List(pl.Int32),  # ranks, from 1, at which relevant documents were retrieved
    "labels": pl.List(pl.Boolean),  # a reader's verdict on each diagnosis that `hits` judges
    "logprob": pl.Float64(),  # sum of the reference text's log-probabilities (natural)
    "tokens": pl.Int32(),  # tokens of the reference text
    "bytes": pl.Int32(),  # UTF-8 bytes of the reference text
    "rouge_l": pl.Float64(),  # ROUGE-L F1 of the generated rationale against the reference
    "eds": pl.Float64(),  # 1 - Levenshtein / longer length, of the same two texts
    "strict_option": pl.Int16(),  # read by the strict parser if another one marks; -1 if it reads none
    "place": pl.Int16(),  # position of the chosen option as shown; without it only unshuffled answers count
    "gold_place": pl.Int16(),  # position of the right option as shown
    "criteria": RUBRIC_SCHEMA["criteria"],  # verdicts on the criteria of a rubric answer
    "score": pl.Float64(),  # of a rubric answer: points met / positive points
}
REQUIRED = ("candidate", "case", "cluster", "question", "condition", "trial", "option", "outcome", "confidence", "hits")
ITEM = ("candidate", "cluster", "subject", "condition")
# a refused mark has the flag `refused` and one of these
OUTCOMES = ("right", "wrong", "unparsed", "unscored", "graded")
STRATUM = tuple(STRATA_SCHEMA)


@dataclass(frozen=True)
class EncodedMarks:
    """Marks with texts as numbers; a number is the index of its text in the list of that kind."""

    source: pl.LazyFrame
    mark_count: int
    candidates: list[str]
    clusters: list[str]
    conditions: list[dict[str, str]]
    subjects: pl.DataFrame  # one row per question of a case (`subject` is its number), with its slice values
    strata: dict[str, list[str]]  # values of type, severity and category
    filled_columns: tuple[str, ...]  # the optional columns that are not empty
    parsers: str
    judges: str
    axes: list[str]  # of the criteria of rubrics
    refused_as: str | None  # the outcome that refused marks count as; None if there are none
    mark_records: tuple[MeasureRecord, ...]  # of plug-ins that give a value per mark
    _runs: dict[str, Runs]  # of ITEM and the strata

    @property
    def cluster_count(self) -> int:
        return len(self.clusters)

    def marks_of(self, first: int, last: int | None = None) -> pl.DataFrame:
        """The marks of one candidate, or of the candidates first to last: ITEM as numbers, trial, and the judgement."""
        chosen = range(first, (first if last is None else last) + 1)
        candidate = self._runs["candidate"]
        is_chosen = candidate.numbers.is_in(chosen).to_numpy()
        start, end = _extent(candidate.ends, is_chosen)
        is_adjacent = candidate.lengths[is_chosen].sum() == end - start
        if is_adjacent:
            source = self.source.slice(start, end - start)
        else:
            start, end = 0, self.mark_count
            source = self.source.filter(_one_of("candidate", [self.candidates[number] for number in chosen]))
        judgements = source.select(
            "trial",
            "option",
            *self._outcome(),
            *(name for name in ("confidence", "hits") if name in self.filled_columns),
            *(name for name in self.filled_columns if name not in ("confidence", "hits", "judge", "parser")),
            *(_mark_value(record) for record in self.mark_records),
            open=_is_open(),
            rubric=pl.col("kind").eq_missing("rubric"),
        ).collect()
        numbers = pl.DataFrame([runs.rows(start, end).alias(name) for name, runs in self._runs.items()])
        if not is_adjacent:
            numbers = numbers.filter(pl.col("candidate").is_in(chosen))
        marks = numbers.hstack(judgements).with_columns(verbal=self.has_value("confidence", "verbal"))
        return marks if self.refused_as is None else self._with_refused_shares(marks)

    def _outcome(self) -> list[pl.Expr]:
        """The outcome as a number; if there are refused marks, also the flag `refused`."""
        if self.refused_as is None:
            return [_number("outcome", OUTCOMES).cast(pl.UInt8)]
        outcome = pl.col("outcome").cast(pl.String)
        counted = outcome.replace("refused", self.refused_as).cast(pl.Enum(OUTCOMES)).to_physical()
        return [counted.cast(pl.UInt8).alias("outcome"), (outcome == "refused").fill_null(False).alias("refused")]

    def _with_refused_shares(self, marks: pl.DataFrame) -> pl.DataFrame:
        """No option has a probability if the question for log-probabilities was refused: one mark for all trials."""
        alone = pl.len().over("candidate", "subject", "condition") == 1
        by_logprobs = self.has_value("confidence", "logprobs") & ~pl.col("open")
        known = pl.col("shares") if "shares" in marks.columns else pl.lit(None, pl.List(pl.Float64))
        shares = pl.when(pl.col("refused") & alone & by_logprobs).then(pl.lit([0.0])).otherwise(known).alias("shares")
        with_shares = marks.with_columns(shares)
        return marks if with_shares["shares"].is_null().all() else with_shares

    @cached_property
    def max_options(self) -> int | None:
        """The largest number of options of a question; None if no mark has one."""
        if "k" not in self.filled_columns:
            return None
        return int(self.source.select(pl.col("k").max()).collect().item())

    @property
    def has_probes(self) -> bool:
        return any(axes["probe"] != "none" for axes in self.conditions)

    @property
    def is_probe(self) -> pl.Expr:
        """Whether a mark is that of a leakage probe, not of an answer."""
        return ~self.has_value("probe", "none")

    def has_value(self, axis: str, value: str) -> pl.Expr:
        """Whether the condition of a mark has this value."""
        return pl.col("condition").is_in([n for n, axes in enumerate(self.conditions) if axes[axis] == value])


Marks = pl.DataFrame | pl.LazyFrame | EncodedMarks  # encoded ones serve several figures of the same study


def is_empty(marks: Marks) -> bool:
    """Whether there are no marks."""
    return not marks.mark_count if isinstance(marks, EncodedMarks) else marks.lazy().head(1).collect().is_empty()


def encode_once(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> Marks:
    """Marks for several figures of the same study: encoded, unless there are none."""
    return marks if is_empty(marks) else encode_marks(marks, study)


def encode_marks(marks: Marks, study: Study) -> EncodedMarks:
    """Numbers for candidates (in the study's order), clusters, conditions and questions (each sorted)."""
    if isinstance(marks, EncodedMarks):
        return marks
    source = _with_all_columns(marks.lazy())
    mark_count = source.select(pl.len()).collect().item()
    # of many marks one column after another is read, so that only one is in memory
    if is_small := mark_count <= FEW_MARKS:
        frame = source.collect()
        source = frame.lazy()

    def runs_of(name: str) -> TextRuns:
        return read_runs(frame[name] if is_small else source.select(name).collect().to_series())

    texts = {name: runs_of(name) for name in ("cluster", "condition", "case", "question", *STRATUM)}
    present = runs_of("candidate")
    declared = [candidate.name for candidate in study.candidates if candidate.name in present.values]
    candidate = present.in_order([*declared, *(name for name in present.values if name not in declared)])
    kinds, parsers, judges = (runs_of(name).values for name in ("kind", "parser", "judge"))
    filled = _filled_columns(source, has_rubrics="rubric" in kinds, at_once=is_small)
    subjects, subject = _subjects(source, texts["case"], texts["question"], present, at_once=is_small)
    strata = {name: texts[name] for name in STRATUM} if any(texts[name].values for name in STRATUM) else {}
    numbered = {"candidate": candidate, "cluster": texts["cluster"], "condition": texts["condition"], **strata}
    return EncodedMarks(
        source,
        mark_count,
        candidate.values,
        texts["cluster"].values,
        [{**DEFAULTS, **json.loads(condition)} for condition in texts["condition"].values],
        subjects,
        {name: stratum.values for name, stratum in strata.items()},
        filled,
        "+".join(parsers),
        "+".join(judges),
        _criterion_axes(source) if "criteria" in filled else [],
        _refused_as(source, study),
        _mark_records(source),
        {"subject": subject} | {name: text.runs for name, text in numbered.items()},
    )


def _filled_columns(source: pl.LazyFrame, *, has_rubrics: bool, at_once: bool) -> tuple[str, ...]:
    """The optional columns that are not empty. Criteria are read only if there are rubrics: empty ones take long."""
    counts = {
        name: pl.col(name).count() for name in (*OPTIONAL, "confidence", "hits") if has_rubrics or name != "criteria"
    }
    return tuple(name for name, count in _row(source, counts, at_once=at_once).items() if count)


def _criterion_axes(source: pl.LazyFrame) -> list[str]:
    axis = pl.col("criteria").drop_nulls().explode().struct.field("axis").drop_nulls().unique().sort()
    return source.select(axis).collect().to_series().to_list()


def _row(source: pl.LazyFrame, expressions: dict[str, pl.Expr], *, at_once: bool) -> dict[str, Any]:
    """The one value of every expression, by name; of many marks, parts of a few columns at a time are in memory."""
    engine: Literal["in-memory", "streaming"] = "in-memory" if at_once else "streaming"
    return source.select(**expressions).collect(engine=engine).row(0, named=True)


def _refused_as(source: pl.LazyFrame, study: Study) -> str | None:
    is_refused = (pl.col("outcome").cast(pl.String) == "refused").any()
    if not source.select(is_refused).collect().item():
        return None
    return "unparsed" if "refused" in study.scored_outcomes else "unscored"


def _mark_records(source: pl.LazyFrame) -> tuple[MeasureRecord, ...]:
    """The measures of plug-ins that give a value per mark, if marks have the columns of its expression."""
    records = tuple(record for record in plugin_records() if record.mark_value is not None)
    present = source.collect_schema().names()
    for record in records:
        names = record.mark_value.meta.root_names() if record.mark_value is not None else ()
        if missing := [name for name in names if name not in present]:
            raise WardroundError(f"measure {record.name!r}: marks have no column {missing[0]!r}")
    return records


def _mark_value(record: MeasureRecord) -> pl.Expr:
    assert record.mark_value is not None
    return record.mark_value.cast(pl.Float64).alias(mark_sums(record.name)[0])


def _with_all_columns(marks: pl.LazyFrame) -> pl.LazyFrame:
    present = marks.collect_schema().names()
    if missing := [name for name in REQUIRED if name not in present]:
        raise WardroundError(f"marks lack the column {missing[0]!r}")
    known = OPTIONAL | SLICE_SCHEMA | STRATA_SCHEMA | CARRIED_SCHEMA
    absent = {name: dtype for name, dtype in known.items() if name not in present}
    return marks.with_columns(
        *(pl.lit(None, dtype=dtype).alias(name) for name, dtype in absent.items()),
        pl.col("hits").cast(pl.List(pl.Boolean)),
        pl.col("confidence").cast(pl.Float64),
    )


def _subjects(
    source: pl.LazyFrame, case: TextRuns, question: TextRuns, candidate: TextRuns, *, at_once: bool
) -> tuple[pl.DataFrame, Runs]:
    """Each question of each case once, as its first mark has it, of the first candidate that it has one of."""
    ends = common_ends(case.runs, question.runs, candidate.runs)
    of_case, of_question = (text.runs.before(ends).to_numpy().astype(np.int64) for text in (case, question))
    key = of_case * len(question.values) + of_question
    order = np.lexsort((candidate.runs.before(ends).to_numpy() > 0, key))  # stable
    runs = order[np.flatnonzero(np.diff(key[order], prepend=-1))]
    rows = np.concatenate([[0], ends[:-1]])[runs]
    names = ("case", "question", *SLICE_SCHEMA, *CARRIED_SCHEMA)
    subjects = _columns_at(source, names, rows, at_once=at_once).with_row_index("subject")
    return subjects, Runs(pl.Series(np.searchsorted(key[runs], key).astype(np.uint32)), ends)


def _columns_at(source: pl.LazyFrame, names: Sequence[str], rows: Integers, *, at_once: bool) -> pl.DataFrame:
    """Some columns of some rows, read one by one if the marks are many."""
    first = int(rows.min())
    around, place = source.slice(first, int(rows.max()) + 1 - first), rows - first
    if at_once:
        return around.select(names).collect()[place]
    return pl.DataFrame([around.select(name).collect().to_series().gather(place) for name in names])


def _extent(ends: Integers, is_chosen: NDArray[np.bool_]) -> tuple[int, int]:
    """The first row of the chosen runs, and the row after the last one."""
    starts = np.concatenate([[0], ends[:-1]])
    return int(starts[is_chosen].min(initial=ends[-1])), int(ends[is_chosen].max(initial=0))


def _is_open() -> pl.Expr:
    kind = pl.col("kind")
    return kind.eq_missing("open") | (kind.is_null() & pl.col("hits").is_not_null())


def _one_of(name: str, values: Sequence[str]) -> pl.Expr:
    return pl.col(name).cast(pl.String).is_in(list(values))


def _number(name: str, values: Sequence[str]) -> pl.Expr:
    if not values:
        return pl.lit(None, dtype=pl.UInt32).alias(name)
    return pl.col(name).cast(pl.Enum(list(values))).to_physical().cast(pl.UInt32).alias(name)
