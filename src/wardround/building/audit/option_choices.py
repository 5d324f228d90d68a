"""What the choice of options costs in shortcuts: those of a set, beside what the other `--options` would have offered.

A build from reports keeps the other options in other-options.jsonl. Both are measured over the same questions.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wardround.building.audit.shortcuts import Shortcut, measure_shortcuts
from wardround.building.distractors.from_source import OTHER_OPTIONS
from wardround.core.case import Case
from wardround.core.errors import BadInput
from wardround.reporting.numbers import percent


@dataclass(frozen=True)
class OptionChoices:
    """The shortcuts of a set as built and with the options of the other choice."""

    built: str  # source or balanced
    other: str
    built_shortcuts: list[Shortcut]
    other_shortcuts: list[Shortcut]

    @property
    def questions(self) -> int:
        return self.built_shortcuts[0].questions

    def pairs(self) -> list[tuple[Shortcut, Shortcut]]:
        return list(zip(self.built_shortcuts, self.other_shortcuts, strict=True))

    def __str__(self) -> str:
        lines = [f"  shortcuts with options {self.built} (this set) and {self.other}, {self.questions:,} questions:"]
        lines += [
            f"    {ours.name}: {percent(ours.accuracy)}, {percent(theirs.accuracy)}" for ours, theirs in self.pairs()
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        return {
            "built": self.built,
            "shortcuts": {
                self.built: [shortcut.to_dict() for shortcut in self.built_shortcuts],
                self.other: [shortcut.to_dict() for shortcut in self.other_shortcuts],
            },
        }


def compare_option_choices(cases: Iterable[Case], folder: Path, seed: int = 0) -> OptionChoices | None:
    """None if the set has no other-options.jsonl, or no question that is in it."""
    lines_by_case = _read_other_options(folder / OTHER_OPTIONS)
    shared = [case for case in cases if case.id in lines_by_case]
    if not shared:
        return None
    other = next(iter(lines_by_case.values()))["choice"]
    replaced = list(_with_other_options(shared, lines_by_case))
    built = "balanced" if other == "source" else "source"
    return OptionChoices(built, other, measure_shortcuts(shared, seed), measure_shortcuts(replaced, seed))


def _read_other_options(file: Path) -> dict[str, dict[str, Any]]:
    if not file.is_file():
        return {}
    try:
        lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
        return {line["case"]: {key: line[key] for key in ("choice", "options", "gold")} for line in lines}
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise BadInput(
            file, "is not as a build wrote it; expected case, choice, options and gold in each line"
        ) from None


def _with_other_options(cases: Iterable[Case], lines_by_case: dict[str, dict[str, Any]]) -> Iterator[Case]:
    for case in cases:
        line = lines_by_case[case.id]
        change = {"options": line["options"], "gold": line["gold"]}
        questions = [
            question.model_copy(update=change) if question.kind == "choice" else question for question in case.questions
        ]
        yield case.model_copy(update={"questions": questions})
