"""`people`: answers that people gave, from a CSV file.

Its columns are person,role,specialty,case,question,trial,option,confidence,seconds,at; `model` is the file.
`extra_body.role` (or `person`) says whose answers these are; without it, everybody's. All that they answered is asked,
each answer as a trial of its own, whatever number of trials the study names; what nobody answered is not asked, and is
counted as inapplicable; nor is a chain that somebody did not answer to its end. People saw one thing: their answers
count under the study's first condition, or under the one that `extra_body.when` names (`when = { telling =
"multimodal" }`).

`option` is the letter or the text of the option in the case's own order, of an open question the diagnosis; an empty
one is no answer. `confidence` is a share (0.8) or a percentage (80%).
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from wardround.asking.options import LETTERS
from wardround.candidates.candidate import Rejected, Reply, Request, Settled
from wardround.candidates.sampled import sent, with_confidence
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.canonical import blake
from wardround.core.case import Case, Question
from wardround.core.condition import Condition, check_value
from wardround.core.errors import BadInput, WardroundError
from wardround.core.field_errors import complaints

COLUMNS = ("person", "role", "specialty", "case", "question", "trial", "option", "confidence", "seconds", "at")
NEEDED = ("person", "role", "case", "question", "option")
Place = tuple[str, str]  # case and question, or case and chain


class Whose(BaseModel):
    """Whose answers are meant, and under which condition they were given."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    role: str | None = None
    person: str | None = None
    when: dict[str, str] = {}


@dataclass(frozen=True)
class Given:
    """One line: what one person answered to one question."""

    line: int
    person: str
    role: str
    specialty: str
    case: str
    question: str
    trial: int
    option: str
    confidence: float | None
    seconds: float | None
    at: str

    @property
    def place(self) -> Place:
        return self.case, self.question

    @property
    def sitting(self) -> tuple[str, int]:
        """Who gave it, and in which trial of theirs."""
        return self.person, self.trial

    def told(self) -> dict[str, Any]:
        """What of it is kept with the answer, so that marks need no other file."""
        kept: dict[str, Any] = {"person": self.person, "role": self.role, "specialty": self.specialty}
        kept |= {"trial": self.trial, "seconds": self.seconds, "at": self.at}
        return {name: value for name, value in kept.items() if value not in (None, "")}


class People(Settled):
    """The people of one role, or one of them, as a candidate."""

    def __post_init__(self) -> None:
        super().__post_init__()
        name = self.settings.name
        if not self.settings.model:
            raise WardroundError(f"candidate {name!r}: model is required: the CSV file with people's answers")
        try:
            self.whose = Whose.model_validate(self.settings.extra_body)
            for axis, value in self.whose.when.items():
                check_value(axis, value)
        except ValidationError as error:
            field, message = complaints(error)[0]
            raise WardroundError(f"candidate {name!r}: extra_body.{field}: {message}") from None
        except WardroundError as error:
            raise WardroundError(f"candidate {name!r}: extra_body.when: {error}") from None
        self._answers: dict[Place, list[tuple[Given, int | None]]] = {}

    async def prepare(self, cases: CaseSet) -> None:
        file, kept = Path(str(self.settings.model)), list[Given]()
        found: dict[Place, list[tuple[Given, int | None]]] = defaultdict(list)
        known, others, chains = set(cases.ids), 0, dict[Place, Place]()
        for given in read_people(file):
            if not self._is_meant(given) or not given.option:
                continue
            if given.case not in known:
                others += 1
                continue
            case = cases.case(cases.index_of(given.case))
            question = _question(file, given, case)
            chains[given.place] = given.case, question.chain or question.id
            found[given.place].append((given, _option(file, given, question)))
            kept.append(given)
        if others:
            told = "1 answer is" if others == 1 else f"{others:,} answers are"
            self.warnings.append(f"{told} about cases that are not in the set, and left out")
        if not kept:
            whose = self.whose.role or self.whose.person
            about = " to cases of this set" if others else f" of {whose}" if whose else ""
            raise BadInput(file, f"there are no answers{about} in it")
        # who answered most of a chain comes first, so that a trial of it is one person's through all its stages
        stages = Counter((chains[given.place], given.sitting) for given in kept)
        self._answers = {
            place: sorted(answers, key=lambda one: (-stages[chains[place], one[0].sitting], one[0].sitting))
            for place, answers in found.items()
        }
        # other answers are other Asks: a file that grew does not meet what was stored of it before
        lines = sorted([each.person, *each.place, each.trial, each.option, each.confidence or -1.0] for each in kept)
        self.identity = replace(
            self.identity, model=file.name, revision=self.settings.revision or blake(lines).hex()[:16]
        )

    def _is_meant(self, given: Given) -> bool:
        return (self.whose.role or given.role) == given.role and (self.whose.person or given.person) == given.person

    def held(self, case: Case, unit: Sequence[Question]) -> int:
        """How many answers they gave to a question; to a chain, how many of them answered it whole."""
        sat = ([given.sitting for given, _ in self._answers.get((case.id, each.id), ())] for each in unit)
        return sum(1 for _ in takewhile(lambda same: len(set(same)) == 1, zip(*sat, strict=False)))

    def was_shown(self, condition: Condition) -> bool:
        """Whether they answered under a condition, if `when` says under which they did."""
        return all(condition.values[axis] == value for axis, value in self.whose.when.items())

    async def answer(self, request: Request) -> Reply:
        given = self._answers.get((request.case.id, request.question.id), [])
        if max(request.trials) >= len(given):
            raise Rejected("nobody gave so many answers to it")
        return Reply([_answer(*given[trial], request) for trial in request.trials])


def _answer(given: Given, option: int | None, request: Request) -> Answer:
    text = given.option if option is None else LETTERS[request.order.index(option)]
    if given.confidence is not None:
        text = with_confidence(text, given.confidence, request)
    return Answer(text, images=sent(request), person=given.told())


def _question(file: Path, given: Given, case: Case) -> Question:
    question = next((each for each in case.questions if each.id == given.question), None)
    if question is None:
        named = ", ".join(each.id for each in case.questions)
        message = f"case {case.id!r} has no question {given.question!r}, only {named}"
        raise BadInput(file, message, line=given.line, field="question")
    return question


def _option(file: Path, given: Given, question: Question) -> int | None:
    """The number of the chosen option; None where the question is open."""
    if question.kind == "open":
        return None
    letter = given.option.upper()
    if len(letter) == 1 and letter in LETTERS[: len(question.choices)]:
        return LETTERS.index(letter)
    same = [n for n, text in enumerate(question.choices) if text.casefold().strip() == given.option.casefold()]
    if len(same) != 1:
        message = (
            f"{given.option!r} is no option; expected A to {LETTERS[len(question.choices) - 1]}, or an option's text"
        )
        raise BadInput(file, message, line=given.line, field="option")
    return same[0]


def read_people(file: Path) -> Iterator[Given]:
    """The lines of a CSV of people's answers; the first that is wrong is told with its number."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            yield from _read(file, csv.DictReader(lines))
    except OSError as error:
        raise BadInput(file, f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"is no CSV file: {error}") from None


def _read(file: Path, rows: csv.DictReader[str]) -> Iterator[Given]:
    names = [name.strip() for name in rows.fieldnames or []]
    if lacking := [name for name in NEEDED if name not in names]:
        raise BadInput(file, f"there is no column {lacking[0]!r}; expected {','.join(COLUMNS)}", line=1)
    rows.fieldnames = names
    seen: dict[tuple[str, str, str, int], int] = {}
    for row in rows:
        if None in row or None in row.values():
            raise BadInput(file, f"has not as many cells as there are columns ({len(names)})", line=rows.line_num)
        given = _given(file, rows.line_num, {name: cell.strip() for name, cell in row.items()})
        key = given.person, *given.place, given.trial
        if key in seen:
            message = (
                f"{given.person} answered {given.case} {given.question} twice in trial {given.trial}, first in line"
            )
            raise BadInput(file, f"{message} {seen[key]}", line=given.line)
        seen[key] = given.line
        yield given


def _given(file: Path, line: int, cells: dict[str, str]) -> Given:
    field = ""
    try:
        for field in ("person", "role", "case", "question"):
            if not cells[field]:
                raise ValueError("is empty")
        field = "trial"
        trial = int(cells.get(field) or 0)
        if trial < 0:
            raise ValueError("is below 0")
        field = "confidence"
        confidence = _share(cells.get(field, ""))
        field = "seconds"
        seconds = float(cells[field]) if cells.get(field) else None
        if seconds is not None and not 0 <= seconds < float("inf"):
            raise ValueError(f"is {cells[field]!r}, no time that anybody took")
        field = "at"
        if cells.get(field):
            datetime.fromisoformat(cells[field])
    except ValueError as error:
        said = str(error) if str(error).startswith("is ") else f"cannot be read: {cells[field]!r}"
        raise BadInput(file, said, line=line, field=field) from None
    return Given(
        line,
        **{name: cells.get(name, "") for name in ("person", "role", "specialty", "case", "question", "option", "at")},
        trial=trial,
        confidence=confidence,
        seconds=seconds,
    )


def _share(text: str) -> float | None:
    if not text:
        return None
    share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= share <= 1:
        raise ValueError(f"is {text!r}; expected 0 to 1, or 0% to 100%")
    return share


def by_role(told: dict[str, Any]) -> list[dict[str, Any]]:
    """A candidate's table of a study as one for each role of its file, named human/ROLE; any other as it is."""
    chosen = told.get("extra_body") or {}
    if told.get("provider") != "people" or not told.get("model") or {"role", "person"} & set(chosen):
        return [told]
    roles = dict.fromkeys(given.role for given in read_people(Path(told["model"])))
    return [told | {"name": f"human/{role}", "extra_body": chosen | {"role": role}} for role in roles]
