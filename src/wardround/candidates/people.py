"""`people`: people's answers, from a CSV file.

Its columns are person,role,specialty,case,question,trial,option,confidence,seconds,at; `model` is the file.
`extra_body.role` (or `person`) selects answers; without it all count. Each answer is a trial of its own, whatever
number of trials the study names. A question without answers, or a chain that a person did not answer to its end, is
not asked and counts as inapplicable. The answers count under the study's reference condition, or under the one that
`extra_body.when` names (`when = { telling = "multimodal" }`).

`option` is the letter or the text of the option in the case's own order, or the diagnosis of an open question; an
empty cell is not an answer. `confidence` is a share (0.8) or a percentage (80%).
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

from pydantic import ValidationError

from wardround.candidates.candidate import OfflineCandidate, Reply, Request, RequestRejected, settings_error
from wardround.candidates.sampled import with_confidence
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.canonical import blake
from wardround.core.case import Case, Question
from wardround.core.condition import Condition, check_value
from wardround.core.errors import BadInput, WardroundError, describe_unreadable
from wardround.core.field_errors import list_errors
from wardround.core.text import LETTERS
from wardround.core.toml_table import StrictTable

COLUMNS = ("person", "role", "specialty", "case", "question", "trial", "option", "confidence", "seconds", "at")
REQUIRED_COLUMNS = ("person", "role", "case", "question", "option")
QuestionKey = tuple[str, str]  # case and question, or case and chain


class PeopleSelection(StrictTable):
    """Which answers of the file count, and the condition they were given under."""

    role: str | None = None
    person: str | None = None
    when: dict[str, str] = {}


@dataclass(frozen=True)
class PersonAnswer:
    """One line: one person's answer to one question."""

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
    def key(self) -> QuestionKey:
        return self.case, self.question

    @property
    def attempt(self) -> tuple[str, int]:
        """The person and the number of their trial."""
        return self.person, self.trial

    def to_dict(self) -> dict[str, Any]:
        """What is stored with the answer, so that marks need no other file."""
        names = ("person", "role", "specialty", "trial", "seconds", "at")
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "")}


class People(OfflineCandidate):
    """The people of one role, or one of them, as a candidate."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.settings.model:
            raise settings_error(self.settings, "model is required (the CSV file with people's answers)")
        try:
            self.selection = PeopleSelection.model_validate(self.settings.extra_body)
            for axis, value in self.selection.when.items():
                check_value(axis, value)
        except ValidationError as error:
            field, message = list_errors(error)[0]
            raise settings_error(self.settings, f"extra_body.{field}: {message}") from None
        except WardroundError as error:
            raise settings_error(self.settings, f"extra_body.when: {error}") from None
        self._answers: dict[QuestionKey, list[tuple[PersonAnswer, int | None]]] = {}

    async def prepare(self, cases: CaseSet) -> None:
        file, selected = Path(str(self.settings.model)), list[PersonAnswer]()
        answers_by_question: dict[QuestionKey, list[tuple[PersonAnswer, int | None]]] = defaultdict(list)
        known_cases, unknown_count, chains = set(cases.ids), 0, dict[QuestionKey, QuestionKey]()
        for answer in read_person_answers(file):
            if not self._is_selected(answer) or not answer.option:
                continue
            if answer.case not in known_cases:
                unknown_count += 1
                continue
            case = cases.case(cases.index_of(answer.case))
            question = _question(file, answer, case)
            chains[answer.key] = answer.case, question.chain or question.id
            answers_by_question[answer.key].append((answer, _option(file, answer, question)))
            selected.append(answer)
        if unknown_count:
            count = "1 answer is" if unknown_count == 1 else f"{unknown_count:,} answers are"
            self.warnings.append(f"{count} about cases that are not in the set, and left out")
        if not selected:
            source = self.selection.role or self.selection.person
            scope = " to cases of this set" if unknown_count else f" of {source}" if source else ""
            raise BadInput(file, f"contains no answers{scope}")
        # who answered most of a chain comes first, so that a trial of it is one person's through all its stages
        stages = Counter((chains[answer.key], answer.attempt) for answer in selected)
        self._answers = {
            key: sorted(answers, key=lambda pair: (-stages[chains[key], pair[0].attempt], pair[0].attempt))
            for key, answers in answers_by_question.items()
        }
        # a file with more answers gets other Ask keys, so that stored answers never mix with new ones
        lines = sorted([line.person, *line.key, line.trial, line.option, line.confidence or -1.0] for line in selected)
        self.identity = replace(
            self.identity, model=file.name, revision=self.settings.revision or blake(lines).hex()[:16]
        )

    def _is_selected(self, answer: PersonAnswer) -> bool:
        role, person = self.selection.role or answer.role, self.selection.person or answer.person
        return (role, person) == (answer.role, answer.person)

    def count_trials(self, case: Case, unit: Sequence[Question], trials: int) -> int:
        """The number of answers to a question; of a chain, the number of complete ones."""
        attempts = (
            [answer.attempt for answer, _ in self._answers.get((case.id, question.id), ())] for question in unit
        )
        return sum(1 for _ in takewhile(lambda same: len(set(same)) == 1, zip(*attempts, strict=False)))

    def inapplicable_reason(self, condition: Condition, conditions: Sequence[Condition]) -> str | None:
        """They answered under one condition: the first of the study that agrees with `when`."""
        if condition != next(filter(self._answered_under, conditions), None):
            return "people answered under another condition"
        if condition.confidence == "logprobs":
            return "people have no log-probabilities"
        return None if condition.probe == "none" else "no probe of leakage can be put to people"

    def _answered_under(self, condition: Condition) -> bool:
        return all(condition.values[axis] == value for axis, value in self.selection.when.items())

    async def answer(self, request: Request) -> Reply:
        answers = self._answers.get((request.case.id, request.question.id), [])
        if max(request.trials) >= len(answers):
            raise RequestRejected(f"people gave only {len(answers)} answers to it")
        return Reply([_to_answer(*answers[trial], request) for trial in request.trials])


def _to_answer(answer: PersonAnswer, option: int | None, request: Request) -> Answer:
    text = answer.option if option is None else LETTERS[request.order.index(option)]
    if answer.confidence is not None:
        text = with_confidence(text, answer.confidence, request)
    return Answer(text, images=request.image_hashes, person=answer.to_dict())


def _question(file: Path, answer: PersonAnswer, case: Case) -> Question:
    question = next((question for question in case.questions if question.id == answer.question), None)
    if question is None:
        names = ", ".join(question.id for question in case.questions)
        message = f"case {case.id!r} has no question {answer.question!r}, only {names}"
        raise BadInput(file, message, line=answer.line, field="question")
    return question


def _option(file: Path, answer: PersonAnswer, question: Question) -> int | None:
    """The index of the chosen option; None for a question without options."""
    if question.kind != "choice":
        return None
    letter = answer.option.upper()
    if len(letter) == 1 and letter in LETTERS[: len(question.choices)]:
        return LETTERS.index(letter)
    same = [n for n, text in enumerate(question.choices) if text.casefold().strip() == answer.option.casefold()]
    if len(same) != 1:
        last = LETTERS[len(question.choices) - 1]
        message = f"{answer.option!r} is not an option; expected A to {last}, or an option's text"
        raise BadInput(file, message, line=answer.line, field="option")
    return same[0]


def read_person_answers(file: Path) -> Iterator[PersonAnswer]:
    """The lines of a CSV file of people's answers; the first wrong line raises with its number."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            yield from _read_rows(file, csv.DictReader(lines))
    except OSError as error:
        raise BadInput(file, describe_unreadable(error)) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"is not a CSV file: {error}") from None


def _read_rows(file: Path, rows: csv.DictReader[str]) -> Iterator[PersonAnswer]:
    names = [name.strip() for name in rows.fieldnames or []]
    if missing := [name for name in REQUIRED_COLUMNS if name not in names]:
        raise BadInput(file, f"has no column {missing[0]!r}; expected {','.join(COLUMNS)}", line=1)
    rows.fieldnames = names
    first_lines: dict[tuple[str, str, str, int], int] = {}
    for row in rows:
        if None in row or None in row.values():
            raise BadInput(file, f"does not have one cell for each of the {len(names)} columns", line=rows.line_num)
        answer = _parse_row(file, rows.line_num, {name: cell.strip() for name, cell in row.items()})
        first_line = first_lines.setdefault((answer.person, *answer.key, answer.trial), answer.line)
        if first_line != answer.line:
            message = f"{answer.person} answered {answer.case} {answer.question} twice in trial {answer.trial}"
            raise BadInput(file, f"{message}, first in line {first_line}", line=answer.line)
        yield answer


def _parse_row(file: Path, line: int, cells: dict[str, str]) -> PersonAnswer:
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
            raise ValueError(f"is {cells[field]!r}; expected a number of seconds from 0")
        field = "at"
        if cells.get(field):
            datetime.fromisoformat(cells[field])
    except ValueError as error:
        problem = str(error) if str(error).startswith("is ") else f"cannot be read: {cells[field]!r}"
        raise BadInput(file, problem, line=line, field=field) from None
    return PersonAnswer(
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


def candidates_by_role(candidate: dict[str, Any]) -> list[dict[str, Any]]:
    """A study's table of people as one table for each role of its file, named human/ROLE; others unchanged."""
    extra_body = candidate.get("extra_body") or {}
    if candidate.get("provider") != "people" or not candidate.get("model") or {"role", "person"} & set(extra_body):
        return [candidate]
    roles = dict.fromkeys(answer.role for answer in read_person_answers(Path(candidate["model"])))
    return [candidate | {"name": f"human/{role}", "extra_body": extra_body | {"role": role}} for role in roles]
