"""OneChoice: a kind of task in which one of a few classes is chosen, with a comment if one likes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wardround.core.errors import WardroundError
from wardround.desk.records import Item, Task
from wardround.desk.tasks.task_kind import Kind

if TYPE_CHECKING:
    from starlette.datastructures import FormData

LONGEST = 5_000  # characters of a comment


class OneChoice(Kind):
    """`field` is what is chosen, from `choices`; who chooses `unsure` counts as not having read the item."""

    field: str
    choices: tuple[str, ...]
    unsure: str

    def read(self, form: FormData, item: Item) -> dict[str, Any]:
        return {self.field: str(form.get(self.field) or ""), "comment": str(form.get("comment") or "").strip()}

    def form(self, said: Mapping[str, Any], item: Item) -> dict[str, list[str]]:
        return {name: [said[name]] for name in (self.field, "comment")}

    def checked(self, said: Mapping[str, Any], task: Task, item: Item) -> dict[str, Any]:
        if said.get(self.field) not in (*self.choices, self.unsure):
            raise WardroundError("choose one of them")
        comment = said.get("comment", "")
        if not isinstance(comment, str) or len(comment) > LONGEST:
            raise WardroundError(f"a comment has at most {LONGEST:,} characters")
        return {self.field: said[self.field], "comment": comment}

    def label(self, said: Mapping[str, Any]) -> str | None:
        return said[self.field] if said[self.field] != self.unsure else None
