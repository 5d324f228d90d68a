"""Replies read exactly as two of the papers state it, with all that this misreads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wardround.asking.options import LETTERS
from wardround.marking.parser.option_text import forms_of, whole_text, words

Verdict = tuple[int | None, str]

_SINGLE = re.compile(r"\s*([A-Za-z])\s*")
_CAPITAL = re.compile(r"[A-Z]")
_ENDS = re.compile(r".*The answer is (?P<option>[^\n]*?)\.?\s*\Z", re.S)


def medq_deg_paper(reply: str, options: Sequence[str]) -> Verdict:
    """A single letter, else the first capital letter of the reply, else wrong."""
    if single := _SINGLE.fullmatch(reply):
        return _legal(single[1].upper(), options, "single letter")
    if capital := _CAPITAL.search(reply):
        return _legal(capital[0], options, "first capital letter")
    return None, "no capital letter"


def clinbench_paper(reply: str, options: Sequence[str]) -> Verdict:
    """The option of the sentence that the reply must end with: The answer is [Option]."""
    ending = _ENDS.match(reply)
    if ending is None:
        return None, "does not end with the answer"
    named = ending["option"].strip(" []()*\"'")
    letter = re.match(r"([A-Z])(?:[.):]? |[.):]?\Z)", named)
    if len(named) == 1 or (letter and named[1:].strip(".): ").casefold() == _text(letter[1], options)):
        return _legal(named[0].upper(), options, "final sentence")
    option = whole_text(named, words(named), forms_of(options))
    return option, "final sentence" if option is not None else "no such option"


def _text(letter: str, options: Sequence[str]) -> str | None:
    place = LETTERS.index(letter)
    return options[place].casefold() if place < len(options) else None


def _legal(letter: str, options: Sequence[str], rule: str) -> Verdict:
    place = LETTERS.find(letter)
    return (place, rule) if 0 <= place < len(options) else (None, f"{rule} is no option")
