"""Which option a reply chooses. A wrong reading is worse than none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wardround.core.errors import WardroundError
from wardround.marking.parser.clean import spoken
from wardround.marking.parser.confidence import stated_confidence, tells_confidence, without_confidence
from wardround.marking.parser.papers import clinbench_paper, medq_deg_paper
from wardround.marking.parser.strict import read_strictly

__all__ = ["MODES", "PARSER", "Reading", "parse_choice", "parser_version", "stated_confidence"]

PARSER = "strict-3"
MODES = ("strict", "medq-deg-paper", "clinbench-paper")

_VERSIONS = {"strict": PARSER, "medq-deg-paper": "medq-deg-paper-1", "clinbench-paper": "clinbench-paper-1"}


@dataclass(frozen=True, slots=True)
class Reading:
    """The index of the option that was chosen (as shown), the rule that read it, the confidence stated."""

    option: int | None
    rule: str
    confidence: float | None = None


def parse_choice(reply: str, options: Sequence[str], mode: str = "strict") -> Reading:
    """Reads a reply to a choice question whose options were shown in this order."""
    parser_version(mode)
    said = spoken(reply)
    confidence = None
    answered = said
    if tells_confidence(said):
        confidence = stated_confidence(said)
        answered = without_confidence(said)
    if mode == "medq-deg-paper":
        option, rule = medq_deg_paper(reply, options)
    elif mode == "clinbench-paper":
        option, rule = clinbench_paper(reply, options)
    else:
        option, rule = read_strictly(answered, options)
    return Reading(option, rule, confidence)


def parser_version(mode: str = "strict") -> str:
    """What marks name as their parser."""
    if mode not in MODES:
        raise WardroundError(f"unknown parser mode {mode!r}; there are {', '.join(MODES)}")
    return _VERSIONS[mode]
