"""Which option a reply chooses. A wrong reading is worse than none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from wardround.core.errors import WardroundError

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PARSER = "strict-1"
MODES = ("strict",)

_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.S | re.I)
_BARE = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
_STATED = re.compile(
    r"\b(?:final\s+|correct\s+|best\s+)?(?:answer|option|choice)\b(?:\s+is|\s+would\s+be)?\s*[:=]?\s*"
    r"(?:option\s+|letter\s+)?[\s*_\"'`(\[{$\\]*(?:boxed\{|text\{)*([A-Z])(?![A-Za-z0-9'-])",
    re.I,
)
_BOXED = re.compile(r"\\boxed\{\s*(?:\\text\{)?\s*\(?([A-Za-z])\)?\s*\}")
_LEADING = re.compile(r"[\s*_(\[\"'`]*([A-Z])[*_\])\"'`]*\s*(?:[.:)\]-]|\n|$)")
_CONFIDENCE = re.compile(r"\bconfidence\b[^0-9\n]{0,30}?(\d{1,3}(?:\.\d+)?|\.\d+)\s*(%?)", re.I)


@dataclass(frozen=True, slots=True)
class Reading:
    """The index of the option that was chosen (as shown), the rule that read it, the confidence stated."""

    option: int | None
    rule: str
    confidence: float | None = None


def parse_choice(reply: str, options: Sequence[str], mode: str = "strict") -> Reading:
    """Reads a reply to a choice question whose options were shown in this order."""
    if mode not in MODES:
        raise WardroundError(f"unknown parser mode {mode!r}; there are {', '.join(MODES)}")
    said = unicodedata.normalize("NFKC", _REASONING.sub(" ", reply)).strip()
    confidence = stated_confidence(said)
    if not said:
        return Reading(None, "empty", confidence)
    option, rule = _chosen(said, options)
    return Reading(option, rule, confidence)


def stated_confidence(said: str) -> float | None:
    """The last confidence that a reply states, as a fraction."""
    found = _CONFIDENCE.findall(said)
    if not found:
        return None
    number, percent = float(found[-1][0]), found[-1][1]
    share = number / 100 if percent or number > 1 else number
    return share if 0 <= share <= 1 else None


def _chosen(said: str, options: Sequence[str]) -> tuple[int | None, str]:
    legal = LETTERS[: len(options)]
    without_confidence = re.sub(r"(?im)^\W*confidence\b.*$", "", said).strip()
    if bare := _BARE.fullmatch(without_confidence):
        letter = bare[1].upper()
        return (legal.index(letter), "letter") if letter in legal else (None, "no such option")
    for pattern, rule in ((_BOXED, "boxed"), (_STATED, "stated")):
        letters = [letter.upper() for letter in pattern.findall(without_confidence)]
        letters = [letter for letter in letters if letter in legal]
        if letters:
            return legal.index(letters[-1]), rule
    return _by_text(without_confidence, options, legal)


def _by_text(said: str, options: Sequence[str], legal: str) -> tuple[int | None, str]:
    """The option whose text the reply gives, if it gives exactly one."""
    folded = _folded(said)
    present = [index for index, option in enumerate(options) if f" {_folded(option)} " in f" {folded} "]
    # an option inside another one is not named by itself
    named = [
        index
        for index in present
        if not any(index != other and _folded(options[index]) in _folded(options[other]) for other in present)
    ]
    leading = _LEADING.match(said)
    letter = leading[1] if leading and leading[1] in legal else None
    if len(named) == 1:
        if letter is not None and legal.index(letter) != named[0] and not said.startswith(options[named[0]]):
            return None, "letter and text differ"
        return named[0], "text"
    if named:
        return None, "several options"
    if letter is not None and len(_LEADING.findall(said)) == 1:
        return legal.index(letter), "leading letter"
    return None, "nothing to read"


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
