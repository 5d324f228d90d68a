"""The table of marks, made column by column: equal judgements and equal slices are made once in each part."""

from collections.abc import Collection, Iterator
from operator import attrgetter
from typing import Any

import orjson
import polars as pl

from wardround.asking.applicable import unseen_reason
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.distinct_rows import DistinctRows
from wardround.marking.evidence.grounding import SupportTest, evidence_marks, is_supported
from wardround.marking.judges.judge import Judge
from wardround.marking.judges.rubric_judge import RubricVerdicts
from wardround.marking.marks import MARK_KEY, MARKS_SCHEMA, AnswerMarker, ParseChoice
from wardround.marking.model_reader import ModelReadings
from wardround.marking.parser.choice import parse_choice
from wardround.marking.slice_values import (
    CASE_SCHEMA,
    QUESTION_SCHEMA,
    STRATA_SCHEMA,
    case_values,
    degradation_values,
    person_values,
    question_values,
)
from wardround.running.parquet import in_parts
from wardround.running.store import AnswerStore
from wardround.running.stored_run import used_keys
from wardround.running.used_answers import RunEvidence

SUBJECT_SCHEMA = CASE_SCHEMA | QUESTION_SCHEMA | STRATA_SCHEMA
JUDGEMENT_SCHEMA = {
    name: dtype for name, dtype in MARKS_SCHEMA.items() if name not in (*MARK_KEY, "cluster", *SUBJECT_SCHEMA)
}
FIELDS_OF_QUESTION = attrgetter(*QUESTION_SCHEMA)  # the last one is `given`
# fields of stored answers on which the mark of a choice depends beyond its text
RARE_FIELDS = frozenset({"first_token", "person", "foretold"})


def mark_answers(
    used: pl.LazyFrame,
    cases: CaseSet,
    store: AnswerStore,
    study: Study,
    *,
    parser: str = "strict",
    judge: Judge | None = None,
    readings: ModelReadings | None = None,
    rubrics: RubricVerdicts | None = None,
    parse: ParseChoice = parse_choice,
    run_evidence: RunEvidence | None = None,
    support_test: SupportTest = is_supported,
    blind: Collection[str] = (),
) -> Iterator[pl.DataFrame]:
    """One mark per used answer, in parts; for an answer by log-probabilities, one that contains the distribution.

    Without a judge, open answers are unscored; rubric answers are without `rubrics`, a model's verdicts on criteria.
    `readings` are those of choice answers that the parser could not read; they are marked with the rule `reader`.
    `support_test` decides whether documents support a diagnosis. Of `blind` candidates, answers that differ in images
    alone are left out: an earlier wardround asked for them. `parse` reads choices.
    """
    marker = AnswerMarker(cases, store, study, parser, judge, readings, rubrics, parse)
    yield pl.DataFrame(schema=MARKS_SCHEMA)  # so that there is a table even without marks
    for part in in_parts(used):
        if len(marks := _PartMarks(marker, cases, run_evidence, support_test, blind).table(part.filter("scored"))):
            yield marks


class _PartMarks:
    """The marks of some rows of used.parquet."""

    def __init__(
        self,
        marker: AnswerMarker,
        cases: CaseSet,
        run_evidence: RunEvidence | None,
        support_test: SupportTest,
        blind: Collection[str],
    ) -> None:
        self._marker, self._cases, self._blind = marker, cases, blind
        self._evidence, self._support_test = run_evidence, support_test
        self._degrades = any(condition.degradation != "none" for condition in marker.conditions.values())
        self._of_cases, self._of_questions = DistinctRows(CASE_SCHEMA), DistinctRows(QUESTION_SCHEMA)
        self._strata, self._judgements = DistinctRows(STRATA_SCHEMA), DistinctRows(JUDGEMENT_SCHEMA)
        self._contexts: dict[tuple[Any, ...], int] = {}  # what the mark of a choice depends on besides the answer

    def table(self, used: pl.DataFrame) -> pl.DataFrame:
        """One row per answer that has a mark, with the columns of MARKS_SCHEMA."""
        rows: list[int] = []
        clusters: list[str] = []
        numbers: list[tuple[int, int, int, int]] = []  # of the judgement, the case, the question and the degradation
        place: tuple[str, ...] | None = None
        case: Case
        bodies = self._marker.store.bodies(list(used_keys(used)))
        names = (used[name].to_list() for name in ("candidate", "case", "question", "condition", "trial"))
        for row, (body, candidate, *asked, trial) in enumerate(zip(bodies, *names, strict=True)):
            if place != tuple(asked):
                previous, place = place, tuple(asked)
                case_id, question_id, condition_name = place
                if previous is None or previous[0] != case_id:
                    case = self._cases.case(self._cases.index_of(case_id))
                    questions = {question.id: question for question in case.questions}
                    of_case = self._case_slices(case)
                question, condition = questions[question_id], self._marker.conditions[condition_name]
                slices = (of_case, *self._slices(case, question, condition))
                order, context = self._shown(case, question, condition, trial)
            elif condition.options == "rotated":
                order, context = self._shown(case, question, condition, trial)
            if body is None or (candidate in self._blind and unseen_reason(case, question, condition)):
                continue
            fields, number, depends_on = orjson.loads(body), None, None
            if context is not None and RARE_FIELDS.isdisjoint(fields):
                depends_on = context, fields["text"], fields.get("finish"), fields.get("refusal")
                number = self._judgements.numbers.get(depends_on)
            if number is None:
                answer = Answer.from_dict(fields)
                values = self._marker.judgement(answer, case, question, condition, order)
                if values is None:
                    continue
                values |= person_values(answer, case)
                if self._evidence:
                    values |= self._evidence_values((candidate, *asked, trial), case, question, answer, values)
                number = self._judgements.add(values, depends_on)
            rows.append(row)
            clusters.append(case.cluster_id)
            numbers.append((number, *slices))
        if not rows:
            return pl.DataFrame(schema=MARKS_SCHEMA)
        columns = [
            used[rows].select(*MARK_KEY).cast({name: MARKS_SCHEMA[name] for name in MARK_KEY}),
            pl.DataFrame({"cluster": clusters}, schema={"cluster": MARKS_SCHEMA["cluster"]}),
        ]
        tables = (self._judgements, self._of_cases, self._of_questions, self._strata)
        columns += [table.columns(own) for table, own in zip(tables, zip(*numbers, strict=True), strict=True)]
        return pl.concat(columns, how="horizontal").select(*MARKS_SCHEMA)

    def _case_slices(self, case: Case) -> int:
        """The number of the slice values of a case."""
        values = case_values(case)
        key = tuple([tuple(value) if isinstance(value, list) else value for value in values.values()])
        return self._of_cases.number(key, lambda: values)

    def _slices(self, case: Case, question: Question, condition: Condition) -> tuple[int, int]:
        """The numbers of the slice values of a question, and of its degradation."""
        *values, parents = FIELDS_OF_QUESTION(question)
        of_question = self._of_questions.number((*values, *(parents or ())), question_values, question)
        if not self._degrades:
            return of_question, self._strata.number((), dict)
        degradation = degradation_values(case, question, condition)
        return of_question, self._strata.number(tuple(degradation.values()), lambda: degradation)

    def _shown(
        self, case: Case, question: Question, condition: Condition, trial: int
    ) -> tuple[tuple[int, ...], int | None]:
        """The order of the options, and the number of all that the mark of a choice depends on but the answer.

        None if it depends on more, or is no choice.
        """
        order = self._marker.order_shown(case, question, condition, trial)
        if question.kind != "choice" or condition.probe != "none" or self._evidence:
            return order, None
        about = (*question.choices, question.gold, order, condition.confidence)
        return order, self._contexts.setdefault(about, len(self._contexts))

    def _evidence_values(
        self, place: tuple[Any, ...], case: Case, question: Question, answer: Answer, values: dict[str, Any]
    ) -> dict[str, Any]:
        assert self._evidence is not None
        row = dict(zip(("candidate", "case", "question", "condition", "trial"), place, strict=True))
        if (evidence := self._evidence.of_answer(row)) is None:
            return {}
        return evidence_marks(case, question, answer, values, evidence, self._marker.synonyms, self._support_test)
