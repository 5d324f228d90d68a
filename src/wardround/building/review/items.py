"""Items: everything of a case set that people read. Every case is one, and every line of the queues in review/.

Two levels, as ClinBench has it: students read all, physicians a share, drawn by seed in each queue. That share is read
twice by people who do not see each other's verdict, as X-PCR has it (20%).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson

from wardround.asking.options import seeded
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput

Level = Literal["student", "physician"]
STUDENT: Level = "student"
PHYSICIAN: Level = "physician"
CASES = "cases"  # the queue of all cases of the set
SHARE = 0.2
DECIDE = {
    CASES: "Are history, images, options and answer clear, complete and right? Is exactly one option right?",
    "burned-in": "Does an image show who, when or where in its pixels? Then leave the case out, or drop the image.",
    "text": "Does the text still tell who, when or where?",
    "findings": "Do the findings still tell the diagnosis? Is enough of them left?",
    "history": "Does the history tell the diagnosis?",
    "options": "Is exactly one option right, and is each of the others plausible?",
}
OTHERWISE = "Is the case right as it stands, can it be made right, or has it to be left out?"


class Item(NamedTuple):
    """One thing to decide. `shown` is the line of the queue; `levels` says who reads it, one entry a reading."""

    item: str  # QUEUE/CASE, with #2 and so on where a queue has several lines of a case
    queue: str
    case: str
    levels: tuple[Level, ...]
    decide: str
    shown: dict[str, Any]

    @property
    def held(self) -> dict[str, Any] | None:
        """The case that is kept out of the set until this is decided."""
        return self.shown.get("case")

    @property
    def adds(self) -> dict[str, Any] | None:
        """A question that its case gets if this is kept or edited."""
        return self.shown.get("adds")

    def added_to(self, case: dict[str, Any]) -> dict[str, Any]:
        """The case with that question; as it is where there is none."""
        return case if self.adds is None else case | {"questions": [*case["questions"], self.adds]}

    def lacking(self, read: Iterable[Level]) -> list[Level]:
        """The levels at which it is still to be read; a physician may stand in for a student."""
        left = list(self.levels)
        for level in read:
            fitting = level if level in left else STUDENT if level == PHYSICIAN else None
            if fitting in left:
                left.remove(fitting)
        return left

    def line(self, level: Level) -> dict[str, Any]:
        """The item as it is handed out to somebody."""
        told = {"item": self.item, "level": level, "case": self.case, "decide": self.decide}
        return told | ({"shown": self.shown} if self.shown else {})


def items(cases: CaseSet, *, share: float = SHARE, seed: int = 0) -> list[Item]:
    """The items of a set: its cases in their order, then the queues by name."""
    queues: dict[str, list[dict[str, Any]]] = {CASES: [{"id": id} for id in cases.ids]}
    for file in sorted((cases.folder / "review").glob("*.jsonl")):
        if file.stem == CASES:
            raise BadInput(file, f"the name {CASES!r} is kept for the cases of the set")
        queues[file.stem] = list(_lines(file))
    return [item for name, lines in queues.items() for item in _queue(name, lines, share, seed)]


def _queue(name: str, lines: list[dict[str, Any]], share: float, seed: int) -> Iterator[Item]:
    twice = math.ceil(share * len(lines) - 1e-9)
    drawn = set(seeded("double reading", name, seed).sample(range(len(lines)), twice))
    seen: Counter[str] = Counter()
    for place, line in enumerate(lines):
        case = str(line["id"])
        seen[case] += 1
        number = f"#{seen[case]}" if seen[case] > 1 else ""
        first: Level = PHYSICIAN if line.get("level") == PHYSICIAN else STUDENT
        levels: tuple[Level, ...] = (first, PHYSICIAN) if place in drawn else (first,)
        decide = line.get("decide") or DECIDE.get(name, OTHERWISE)
        yield Item(f"{name}/{case}{number}", name, case, levels, decide, {} if name == CASES else line)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        try:
            told = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(file, f"is not JSON: {error}", line=number) from None
        if not isinstance(told, dict) or "id" not in told:
            raise BadInput(file, "expected an object with an id", line=number)
        yield told
