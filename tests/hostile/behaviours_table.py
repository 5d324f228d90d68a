"""The table of hostile servers in docs/runs.md; `python tests/hostile/behaviours_table.py` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

from behaviours import BEHAVIOURS, Behaviour

PAGE = Path(__file__).parents[2] / "docs" / "runs.md"
MARKED = re.compile(r"(?<=<!-- made by tests/hostile/behaviours_table.py -->\n).*?(?=<!-- end -->)", re.DOTALL)


def actions(behaviour: Behaviour) -> str:
    """What wardround does."""
    expected, kinds = behaviour.expected, ", ".join(sorted(behaviour.expected.faults - {"refused"}))
    sentences = []
    if kinds and not expected.stops:
        sentences.append(f"repeats the call ({kinds})" + (", then gives it up" if expected.failed else ""))
    if expected.adapted:
        sentences.append(f"adapts the requests: {'; '.join(expected.adapted)}")
    if expected.refused:
        sentences.append("asks again later, then stores the refusal" if expected.faults else "stores the refusal")
    if expected.stops:
        sentences.append(f"gives the candidate up: “{expected.stops}”")
    if expected.estimates:
        sentences.append("estimates the tokens, and says so")
    if expected.warns:
        sentences.append("warns")
    if behaviour.also:
        sentences.append(behaviour.also)
    return "; ".join(sentences) or "reads the answer"


def outcome(behaviour: Behaviour) -> str:
    expected = behaviour.expected
    if expected.stops:
        return f"incomplete, {expected.answered or 'none'} answered"
    if expected.failed:
        return f"incomplete, {expected.failed} failed"
    reasons = [f"{count} refused: {reason}" for reason, count in expected.refused.items()]
    return ", ".join([*reasons, "the others answered"]) if reasons else "all answered"


def table() -> str:
    rows = [("behaviour", "the server", "wardround", "outcome"), ("---",) * 4]
    rows += [(name, item.description, actions(item), outcome(item)) for name, item in BEHAVIOURS.items()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page() -> str:
    """The page with the table as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    assert MARKED.search(text), f"{PAGE} has no place for the table"
    return MARKED.sub(lambda _: table(), text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
