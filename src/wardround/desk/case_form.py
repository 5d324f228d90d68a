"""A case as an HTML form: its fields as texts, the changes as edits of a verdict, and the edits marked in the text."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.datastructures import FormData

PREFIX = "edit:"
DROP = "drop"
WORDS = re.compile(r"\s+|\w+|[^\w\s]")


class CaseField(NamedTuple):
    """One field of a case. `kind`: text; lines (a list, one per line); option (its number); drop (an image)."""

    name: str
    label: str
    kind: str
    value: Any

    @property
    def text(self) -> str:
        if self.kind == "lines":
            return "\n".join(self.value)
        return "" if self.kind == DROP else str(self.value)

    def parse(self, text: str) -> Any:
        """The value of the case for a text of the form."""
        if self.kind == "lines":
            return [line.strip() for line in text.splitlines() if line.strip()]
        return int(text) if self.kind == "option" and text.isdigit() else text


def fields(case: Mapping[str, Any]) -> Iterator[CaseField]:
    """The fields of a case that can be edited."""
    for name in ("history", "findings"):
        if case.get(name):
            yield CaseField(name, name.capitalize(), "text", case[name])
    for name, telling in (case.get("tellings") or {}).items():
        if telling.get("history") and telling["history"] != case.get("history"):
            yield CaseField(f"tellings.{name}.history", f"Telling “{name}”", "text", telling["history"])
    has_several = len(case["questions"]) > 1
    for question in case["questions"]:
        path, label = f"questions.{question['id']}", f" of “{question['id']}”" if has_several else ""
        yield CaseField(f"{path}.prompt", f"Question{label}", "text", question["prompt"])
        if question.get("options"):
            yield CaseField(f"{path}.options", f"Options{label}, one a line", "lines", question["options"])
            yield CaseField(f"{path}.gold", f"Right option{label}", "option", question["gold"])
        else:
            yield CaseField(f"{path}.gold", f"Right diagnosis{label}", "text", question["gold"])
            yield CaseField(f"{path}.accept", f"Also right{label}, one a line", "lines", question.get("accept", []))
    for number, image in enumerate(case.get("images") or []):
        yield CaseField(f"images.{number}", f"Leave out image {number + 1}", DROP, image)


def edits_of(form: FormData, case: Mapping[str, Any]) -> dict[str, Any]:
    """The fields whose text in the form differs from the case."""
    edits: dict[str, Any] = {}
    for field in fields(case):
        text = form.get(PREFIX + field.name)
        if not isinstance(text, str):
            continue
        if field.kind == DROP:
            edits[field.name] = None
        elif _normalize(text) != _normalize(field.text):
            edits[field.name] = field.parse(text.replace("\r\n", "\n"))
    return edits


def form_of(edits: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, list[str]]:
    """The form values of edits: the reverse of `edits_of`."""
    fields_by_name = {field.name: field for field in fields(case)}
    return {
        PREFIX + name: [DROP if value is None else fields_by_name[name]._replace(value=value).text]
        for name, value in edits.items()
        if name in fields_by_name
    }


def _normalize(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").strip().split("\n"))


def mark_differences(before: Any, after: Any) -> Markup:
    """One text of two, with deleted and inserted words marked. Lists of texts are compared line by line."""
    old, new = (WORDS.findall(_to_text(value)) for value in (before, after))
    marked = Markup("")
    for step, a, b, c, d in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if step == "equal":
            marked += "".join(old[a:b])
            continue
        if b > a:
            marked += Markup("<del>{}</del>").format("".join(old[a:b]))
        if d > c:
            marked += Markup("<ins>{}</ins>").format("".join(new[c:d]))
    return marked


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
