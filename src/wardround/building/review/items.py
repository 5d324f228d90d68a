"""The items of a case set that people read: every case, and every line of the queues in review/.

There are two levels, as in ClinBench: students read all items, physicians a share, drawn by seed in each queue. That
share is read twice by people who do not see each other's verdict, as in X-PCR (20%). Or a physician checks a random
number of cases and nobody the others, as in CURE (50).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson

from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.core.random import seeded

Level = Literal["student", "physician"]
STUDENT: Level = "student"
PHYSICIAN: Level = "physician"
CASES = "cases"  # the queue of all cases of the set
SHARE = 0.2
QUESTIONS = {
    CASES: "Are history, images, options and answer clear, complete and right? Is exactly one option right?",
    "burned-in": "Does an image show who, when or where in its pixels? Then leave the case out, or drop the image.",
    "text": "Does the text still tell who, when or where?",
    "findings": "Do the findings still tell the diagnosis? Is enough of them left?",
    "history": "Does the history tell the diagnosis?",
    "skills": "Does the skill that the model chose fit the question? If it chose none, which of the 30 does?",
    "options": "Is exactly one option right, and is each of the others plausible?",
}
DEFAULT_QUESTION = "Is the case right as it stands, can it be made right, or has it to be left out?"


class ReviewItem(NamedTuple):
    """One item. `shown` is the line of the queue; `levels` has one entry for each required reading."""

    item: str  # QUEUE/CASE, with #2 and so on if a queue has several lines of a case
    queue: str
    case: str
    levels: tuple[Level, ...]
    decide: str
    shown: dict[str, Any]

    @property
    def held_case(self) -> dict[str, Any] | None:
        """The case that is kept out of the set until this is decided; None if it is in the set."""
        return self.shown.get("case")

    @property
    def added_question(self) -> dict[str, Any] | None:
        """The question that is added to its case if this is kept or edited."""
        return self.shown.get("adds")

    def add_question(self, case: dict[str, Any]) -> dict[str, Any]:
        """The case with the added question, if there is one."""
        return case if self.added_question is None else case | {"questions": [*case["questions"], self.added_question]}

    def missing_levels(self, levels: Iterable[Level]) -> list[Level]:
        """The levels at which readings are missing; a physician's reading may count as a student's."""
        missing = list(self.levels)
        for level in levels:
            matching = level if level in missing else STUDENT if level == PHYSICIAN else None
            if matching in missing:
                missing.remove(matching)
        return missing

    def to_line(self, level: Level) -> dict[str, Any]:
        """The item as it is given to a reader."""
        line = {"item": self.item, "level": level, "case": self.case, "decide": self.decide}
        return line | ({"shown": self.shown} if self.shown else {})


def list_items(cases: CaseSet, *, share: float = SHARE, seed: int = 0, check: int | None = None) -> list[ReviewItem]:
    """The items of a set: its cases in their order, then the queues by name.

    `check`: of the cases only so many, drawn at random, are items; a physician reads them, once.
    """
    queues: dict[str, list[dict[str, Any]]] = {CASES: [{"id": id} for id in cases.ids]}
    if check is not None:
        drawn = set(seeded("physician's check", seed).sample(cases.ids, min(check, len(cases.ids))))
        queues[CASES] = [{"id": id, "level": PHYSICIAN} for id in cases.ids if id in drawn]
    for file in sorted((cases.folder / "review").glob("*.jsonl")):
        if file.stem == CASES:
            raise BadInput(file, f"the name {CASES!r} is reserved for the cases of the set")
        queues[file.stem] = list(_read_lines(file))
    shares = dict.fromkeys(queues, share) | ({CASES: 0.0} if check is not None else {})
    return [item for name, lines in queues.items() for item in _queue_items(name, lines, shares[name], seed)]


def _queue_items(queue: str, lines: list[dict[str, Any]], share: float, seed: int) -> Iterator[ReviewItem]:
    read_twice = math.ceil(share * len(lines) - 1e-9)
    drawn = set(seeded("double reading", queue, seed).sample(range(len(lines)), read_twice))
    lines_of_case: Counter[str] = Counter()
    for index, line in enumerate(lines):
        case = str(line["id"])
        lines_of_case[case] += 1
        number = f"#{lines_of_case[case]}" if lines_of_case[case] > 1 else ""
        first: Level = PHYSICIAN if line.get("level") == PHYSICIAN else STUDENT
        levels: tuple[Level, ...] = (first, PHYSICIAN) if index in drawn else (first,)
        question = line.get("decide") or QUESTIONS.get(queue, DEFAULT_QUESTION)
        yield ReviewItem(f"{queue}/{case}{number}", queue, case, levels, question, {} if queue == CASES else line)


def _read_lines(file: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        try:
            entry = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(file, f"is not JSON: {error}", line=number) from None
        if not isinstance(entry, dict) or "id" not in entry:
            raise BadInput(file, "expected an object with an id", line=number)
        yield entry
