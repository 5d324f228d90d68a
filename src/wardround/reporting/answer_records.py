"""Answers of a run as Python sees them: what was shown, what was replied, how it was marked."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import orjson
import polars as pl
from markupsafe import Markup, escape

from wardround.core.condition import DEFAULTS
from wardround.core.errors import WardroundError
from wardround.core.study import OUTCOMES
from wardround.reporting.case_pages import changed_axes
from wardround.reporting.case_views import CaseViews
from wardround.running.stored_run import StoredRun
from wardround.running.used_answers import read_used

KEY = ("candidate", "case", "question", "condition", "trial", "ask")
SHOWN_ROWS = 20
SHOWN_CHARACTERS = 300


@dataclass(frozen=True)
class AnswerRecord:
    """One answer and its mark. `images` are the encoded files as they were sent; `option` is an index of the Case."""

    candidate: str
    case: str
    question: str
    condition: Mapping[str, str]
    trial: int
    outcome: str
    prompt: str
    images: tuple[bytes, ...] = field(repr=False)
    reply: str
    reasoning: str | None
    option: int | None
    gold: int | str | None
    confidence: float | None

    def _repr_html_(self) -> str:
        images = Markup("").join(
            Markup('<img style="max-width: 20em" src="data:image/png;base64,{}">').format(
                base64.b64encode(image).decode()
            )
            for image in self.images
        )
        return Markup(
            "<p><b>{}</b> on {} / {}, trial {}: <b>{}</b></p><pre>{}</pre>{}<blockquote>{}</blockquote>"
        ).format(self.candidate, self.case, self.question, self.trial, self.outcome, self.prompt, images, self.reply)


class AnswerRecords(Sequence[AnswerRecord]):
    """The answers that a filter leaves, rendered one at a time as they are read; `marks` has them as a table."""

    def __init__(self, run: StoredRun, marks: pl.DataFrame, filters: Mapping[str, Any]) -> None:
        self._run, self._all_marks = run, marks
        self.marks = _filtered(marks, filters)

    def __len__(self) -> int:
        return len(self.marks)

    @overload
    def __getitem__(self, place: int) -> AnswerRecord: ...
    @overload
    def __getitem__(self, place: slice) -> list[AnswerRecord]: ...
    def __getitem__(self, place: int | slice) -> AnswerRecord | list[AnswerRecord]:
        if isinstance(place, slice):
            return [self[index] for index in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._record(self.marks.row(place, named=True))

    def _record(self, mark: dict[str, Any]) -> AnswerRecord:
        of_case = self._turned.filter(case=mark["case"])
        group = of_case.filter(**{key: mark[key] for key in ("candidate", "question", "condition", "trial")})
        case = self._run.cases.case(self._run.cases.index_of(mark["case"]))
        view = self._views.make_ask_view(case, group, of_case)
        trial = view.trials[0]
        return AnswerRecord(
            **{key: mark[key] for key in ("candidate", "case", "question", "trial", "option", "confidence")},
            condition=axis_values(mark["condition"]),
            outcome=trial.outcome,
            prompt="\n".join(part.text for part in view.prompt if part.image is None),
            images=tuple(base64.b64decode(part.image.partition(",")[2]) for part in view.prompt if part.image),
            reply=trial.text,
            reasoning=trial.reasoning,
            gold=view.gold,
        )

    @cached_property
    def _views(self) -> CaseViews:
        return CaseViews(self._run)

    @cached_property
    def _turned(self) -> pl.DataFrame:
        """All marks of the run, each with the turn of its answer."""
        turns = read_used(self._run.folder).select(*KEY, "turn")
        return self._all_marks.join(turns, on=KEY, how="left", maintain_order="left")

    def _repr_html_(self) -> str:
        columns = ("candidate", "case", "question", "condition", "trial", "outcome", "reply")
        head = Markup("").join(Markup("<th>{}</th>").format(column) for column in columns)
        rows = Markup("").join(_row(record) for record in self[:SHOWN_ROWS])
        rest = f"{len(self) - SHOWN_ROWS:,} more" if len(self) > SHOWN_ROWS else ""
        return Markup("<table><tr>{}</tr>{}</table><p>{}</p>").format(head, rows, rest)


def axis_values(condition: str) -> dict[str, str]:
    """The value on each axis of a condition as marks have it."""
    return {**DEFAULTS, **orjson.loads(condition)}


def _filtered(marks: pl.DataFrame, filters: Mapping[str, Any]) -> pl.DataFrame:
    """The marks whose columns have these values; a value may be a list of values, a condition a mapping of axes."""
    for column, value in filters.items():
        if column == "condition" and isinstance(value, Mapping):
            texts = [text for text in marks["condition"].unique() if value.items() <= axis_values(text).items()]
            marks = marks.filter(pl.col("condition").is_in(texts))
            continue
        if column not in marks.columns:
            raise WardroundError(f"answers cannot be filtered by {column!r}; marks have {', '.join(marks.columns)}")
        values = [value] if isinstance(value, (str, int)) else list(value)
        if column == "outcome" and (unknown := {*values} - {*OUTCOMES, *marks["outcome"]}):
            raise WardroundError(f"there is no outcome {min(unknown)!r}; outcomes are {', '.join(OUTCOMES)}")
        marks = marks.filter(pl.col(column).is_in(values))
    return marks


def _row(record: AnswerRecord) -> Markup:
    condition = ", ".join(f"{axis} = {value}" for axis, value in changed_axes(record.condition).items())
    reply = record.reply[:SHOWN_CHARACTERS] + ("..." if len(record.reply) > SHOWN_CHARACTERS else "")
    cells = (record.candidate, record.case, record.question, condition, record.trial, record.outcome, reply)
    return Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(escape(cell)) for cell in cells))
