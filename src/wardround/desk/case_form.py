"""Editing a case in a form: its fields as texts, and what was changed in them as edits of a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from starlette.datastructures import FormData

PREFIX = "edit:"
DROP = "drop"


class Field(NamedTuple):
    """One field of a case. `kind`: text; lines (a list, one a line); option (the number of one); drop (an image)."""

    name: str
    label: str
    kind: str
    value: Any

    @property
    def written(self) -> str:
        if self.kind == "lines":
            return "\n".join(self.value)
        return "" if self.kind == DROP else str(self.value)

    def read(self, given: str) -> Any:
        """What a form holds, as the case would have it."""
        if self.kind == "lines":
            return [line.strip() for line in given.splitlines() if line.strip()]
        return int(given) if self.kind == "option" and given.isdigit() else given


def fields(case: Mapping[str, Any]) -> Iterator[Field]:
    """What can be edited of a case."""
    for name in ("history", "findings"):
        if case.get(name):
            yield Field(name, name.capitalize(), "text", case[name])
    for name, telling in (case.get("tellings") or {}).items():
        if telling.get("history") and telling["history"] != case.get("history"):
            yield Field(f"tellings.{name}.history", f"Telling “{name}”", "text", telling["history"])
    several = len(case["questions"]) > 1
    for question in case["questions"]:
        path, label = f"questions.{question['id']}", f" of “{question['id']}”" if several else ""
        yield Field(f"{path}.prompt", f"Question{label}", "text", question["prompt"])
        if question.get("options"):
            yield Field(f"{path}.options", f"Options{label}, one a line", "lines", question["options"])
            yield Field(f"{path}.gold", f"Right option{label}", "option", question["gold"])
        else:
            yield Field(f"{path}.gold", f"Right diagnosis{label}", "text", question["gold"])
            yield Field(f"{path}.accept", f"Also right{label}, one a line", "lines", question.get("accept", []))
    for number, image in enumerate(case.get("images") or []):
        yield Field(f"images.{number}", f"Leave out image {number + 1}", DROP, image)


def edits_of(form: FormData, case: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of which the form holds something else than the case."""
    found: dict[str, Any] = {}
    for field in fields(case):
        given = form.get(PREFIX + field.name)
        if not isinstance(given, str):
            continue
        if field.kind == DROP:
            found[field.name] = None
        elif _plain(given) != _plain(field.written):
            found[field.name] = field.read(given.replace("\r\n", "\n"))
    return found


def form_of(edits: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, list[str]]:
    """The same edits as a form holds them."""
    known = {field.name: field for field in fields(case)}
    return {
        PREFIX + name: [DROP if value is None else known[name]._replace(value=value).written]
        for name, value in edits.items()
        if name in known
    }


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").strip().split("\n"))
