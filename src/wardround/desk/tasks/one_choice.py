"""The base of tasks with one choice among a few classes and an optional comment, and the sample of their items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from wardround.core.errors import WardroundError
from wardround.core.random import seeded
from wardround.desk.records import DeskItem, Task
from wardround.desk.tasks.task_kind import TaskKind, checked_comment

if TYPE_CHECKING:
    from starlette.datastructures import FormData

Row = TypeVar("Row")


class ChoiceTask(TaskKind):
    """`field` is one of `choices`, or `unsure`, which counts as not read."""

    field: str
    choices: tuple[str, ...]
    unsure: str

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        return {self.field: str(form.get(self.field) or ""), "comment": str(form.get("comment") or "").strip()}

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        return {name: [said[name]] for name in (self.field, "comment")}

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        if said.get(self.field) not in (*self.choices, self.unsure):
            raise WardroundError("choose one of the answers")
        return {self.field: said[self.field], "comment": checked_comment(said)}

    def label(self, said: Mapping[str, Any]) -> str | None:
        return said[self.field] if said[self.field] != self.unsure else None


def balanced_sample(
    rows: Sequence[Row], stratum: Callable[[Row], str], count: int, seed: int
) -> list[tuple[Row, float]]:
    """`count` rows (0: all), evenly from the strata as far as these reach, in their own order, with weights.

    The weight of a row is the number of rows of its stratum that it stands for.
    """
    if not count or count >= len(rows):
        return [(row, 1.0) for row in rows]
    strata: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        strata.setdefault(stratum(row), []).append(index)
    sizes = dict.fromkeys(sorted(strata), 0)
    while sum(sizes.values()) < count:
        fewest = min((name for name in sizes if sizes[name] < len(strata[name])), key=lambda name: sizes[name])
        sizes[fewest] += 1
    weights = {
        index: len(indices) / sizes[name]
        for name, indices in strata.items()
        for index in seeded("drawing", name, seed).sample(indices, sizes[name])
    }
    return [(rows[index], weights[index]) for index in sorted(weights)]
