"""Answers in a place that marks them as such: JSON, a LaTeX box, an <answer> tag."""

import re
from collections.abc import Iterator
from typing import NamedTuple

SEVERAL, NOT_MARKED = "several", "not marked"

_KEY = re.compile(
    r"(?:final_?answer|correct_?answer|selected_?option|answer|choice|option|letter|prediction|response|text|(?<![a-z_])(?:most_?likely(?:_diagnosis)?|(?:final_)?diagnosis|predicted_\w+|best_\w+))[\"']?\s*:\s*"
)
_VALUE = re.compile(
    r"[\[{]?\s*(?:[\"']?(?:letter|option|answer|text)[\"']?\s*:\s*)?"
    r"(?:\"([^\"\n]*)\"(\s*,\s*[\"'])?|'([^'\n]*)'(\s*,\s*[\"'])?|([^\s\"',\[\]{}]+))",
    re.I,
)
_BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}?")
_TAGGED = re.compile(
    r"<(?:final_?)?(?:ans(?:wer)?|choice|option|diagnosis)>([^<]*)"
    r"|<(?:response|output|result|final|conclusion)>([^<]{1,60})</"
    r"|\[(?:final )?answer\]([^\[\]]{1,80})\[/",
    re.I,
)


class DelimitedAnswer(NamedTuple):
    """The text in the place of the answer."""

    value: str
    start: int
    end: int


def delimited_answers(text: str) -> tuple[list[DelimitedAnswer], str]:
    """All answers of the first kind that the reply has, and that kind."""
    if "{" not in text and '"' not in text and "<" not in text and "[/" not in text:
        return [], NOT_MARKED
    if answers := list(_in_json(text)):
        return answers, "in json"
    for pattern, kind in ((_BOXED, "in box"), (_TAGGED, "in tag")):
        if answers := [DelimitedAnswer(match[match.lastindex or 1], *match.span()) for match in pattern.finditer(text)]:
            return answers, kind
    return [], NOT_MARKED


def _in_json(text: str) -> Iterator[DelimitedAnswer]:
    if "{" not in text and '"' not in text:
        return
    end = 0
    for key in _KEY.finditer(text.lower()):
        is_quoted = text[key.start() - 1 : key.start()] in ('"', "'")
        if key.start() < end or not (is_quoted or "{" in text[: key.end() + 1]):
            continue
        if value := _VALUE.match(text, key.end()):
            end = value.end()
            has_several = "[" in value[0] and (value[2] or value[4])
            yield DelimitedAnswer(SEVERAL if has_several else value[1] or value[3] or value[5] or "", key.start(), end)
