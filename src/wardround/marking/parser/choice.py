"""The option that a reply chooses. A wrong option is worse than none."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from wardround.core.errors import WardroundError
from wardround.marking.parser.clean import clean_reply
from wardround.marking.parser.confidence import may_state_confidence, stated_confidence, without_confidence
from wardround.marking.parser.papers import clinbench_paper, medq_deg_paper
from wardround.marking.parser.strict import parse_strict
from wardround.marking.parser.versions import MODES, PARSER, STRICT, parser_version

__all__ = ["MODES", "PARSER", "STRICT", "Reading", "parse_choice", "parser_version", "stated_confidence"]

MAX_KEPT_LENGTH, MAX_KEPT = 1000, 1 << 13  # of replies whose reading is kept: short ones are often repeated


class Reading(NamedTuple):
    """The chosen option's place as shown, the rule that read it, and the stated confidence."""

    option: int | None
    rule: str
    confidence: float | None = None


def parse_choice(reply: str, options: Sequence[str], mode: str = "strict") -> Reading:
    """The option in a reply to a choice question whose options were shown in this order."""
    parser_version(mode)
    if not isinstance(reply, str) or isinstance(options, str):
        raise WardroundError("expected a reply as a text and its options as a list of texts")
    if len(reply) <= MAX_KEPT_LENGTH:
        return read_short(reply, tuple(options), mode)
    return _read(reply, options, mode)


@lru_cache(maxsize=MAX_KEPT)
def read_short(reply: str, options: tuple[str, ...], mode: str) -> Reading:
    """The reading of a reply, kept for its repetitions."""
    return _read(reply, options, mode)


def _read(reply: str, options: Sequence[str], mode: str) -> Reading:
    text = clean_reply(reply)
    confidence, answer = None, text
    if may_state_confidence(text):
        confidence, answer = stated_confidence(text), without_confidence(text)
    if mode == "medq-deg-paper":
        option, rule = medq_deg_paper(reply, options)
    elif mode == "clinbench-paper":
        option, rule = clinbench_paper(reply, options)
    else:
        option, rule = parse_strict(answer, options, text)
    return Reading(option, rule, confidence)
