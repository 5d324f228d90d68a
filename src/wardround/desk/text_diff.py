"""Differences: two texts as one, with what went and what came marked."""

from __future__ import annotations

import difflib
import json
import re
from typing import Any

from markupsafe import Markup

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def difference(before: Any, after: Any) -> Markup:
    """Word by word. What is no text is shown as JSON, options one a line."""
    one, other = (_WORDS.findall(_written(each)) for each in (before, after))
    drawn = Markup("")
    for step, a, b, c, d in difflib.SequenceMatcher(a=one, b=other, autojunk=False).get_opcodes():
        if step == "equal":
            drawn += "".join(one[a:b])
            continue
        if b > a:
            drawn += Markup("<del>{}</del>").format("".join(one[a:b]))
        if d > c:
            drawn += Markup("<ins>{}</ins>").format("".join(other[c:d]))
    return drawn


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
