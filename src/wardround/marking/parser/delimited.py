"""Answers that a reply marks as such: in JSON, in a LaTeX box, in an <answer> tag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

SEVERAL = "several"

_KEY = re.compile(
    r"(?:final_?answer|correct_?answer|selected_?option|answer|choice|option|letter|prediction|response|text)[\"']?\s*:\s*"
)
_VALUE = re.compile(
    r"[\[{]?\s*(?:[\"']?(?:letter|option|answer|text)[\"']?\s*:\s*)?"
    r"(?:\"([^\"\n]*)\"(\s*,\s*[\"'])?|'([^'\n]*)'(\s*,\s*[\"'])?|([^\s\"',\[\]{}]+))",
    re.I,
)
_BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}?")
_TAGGED = re.compile(r"<(?:final_?)?answer>([^<]*)", re.I)


class Marked(NamedTuple):
    """What stands in the place of the answer."""

    value: str
    start: int
    end: int


def marked_answers(said: str) -> tuple[list[Marked], str]:
    """All of the first kind that the reply has, and what kind that is."""
    for find, kind in ((_in_json, "in json"), (_in_box, "in box"), (_in_tag, "in tag")):
        if found := list(find(said)):
            return found, kind
    return [], "not marked"


def _in_json(said: str) -> Iterator[Marked]:
    if "{" not in said and '"' not in said:
        return
    end = 0
    for key in _KEY.finditer(said.lower()):
        quoted = said[key.start() - 1 : key.start()] in ('"', "'")
        if key.start() < end or not (quoted or "{" in said[: key.end() + 1]):
            continue
        if value := _VALUE.match(said, key.end()):
            end = value.end()
            several = "[" in value[0] and (value[2] or value[4])
            yield Marked(SEVERAL if several else value[1] or value[3] or value[5] or "", key.start(), end)


def _in_box(said: str) -> Iterator[Marked]:
    if "boxed" in said:
        for match in _BOXED.finditer(said):
            yield Marked(match[1], match.start(), match.end())


def _in_tag(said: str) -> Iterator[Marked]:
    if "answer>" in said.lower():
        for match in _TAGGED.finditer(said):
            yield Marked(match[1], match.start(), match.end())
