"""The passage of a reply that was read: the shortest one that, read alone, gives the same option by the same rule.

Parsers return an option and a rule, not a place. This finds the place again for people who read replies; it decides
nothing. A reply whose option follows only from the whole of it has no passage.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from wardround.marking.parser.choice import STRICT, parse_choice

MAX_REPLY = 20_000  # characters; longer replies are not searched
MAX_PARTS = 400
_PART = re.compile(r"[^\n]+?(?:[.!?](?=\s)|(?=\n)|\Z)", re.S)
_WORD = re.compile(r"\S+")


class Passage(NamedTuple):
    """Start and end of a passage in a reply."""

    start: int
    end: int


def read_passage(reply: str, options: Sequence[str], mode: str = STRICT) -> Passage | None:
    """Where the option of a reply stands; None if no option was read or no part of the reply says it alone."""
    whole = parse_choice(reply, options, mode)
    if whole.option is None or len(reply) > MAX_REPLY:
        return None

    def reads_alike(by_rule: bool, start: int, end: int) -> bool:
        part = parse_choice(reply[start:end], options, mode)
        return part.option == whole.option and (part.rule == whole.rule or not by_rule)

    parts = [match.span() for match in _PART.finditer(reply) if match[0].strip()][-MAX_PARTS:]
    for by_rule in (True, False):
        for start, end in reversed(parts):  # of claims that agree the last one counts
            if reads_alike(by_rule, start, end):
                return _shortened(reply, start, end, partial(reads_alike, by_rule))
    return None


def _shortened(reply: str, start: int, end: int, reads_alike: Callable[[int, int], bool]) -> Passage:
    """Without the words at both ends that are not needed."""
    words = [(start + match.start(), start + match.end()) for match in _WORD.finditer(reply[start:end])]
    first, last = 0, len(words) - 1
    while first < last and reads_alike(words[first + 1][0], words[last][1]):
        first += 1
    while first < last and reads_alike(words[first][0], words[last - 1][1]):
        last -= 1
    return Passage(words[first][0], words[last][1])
