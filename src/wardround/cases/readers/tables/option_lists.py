"""Options however a record tells them: by letter, as a list, or all in one text; and which of them is right."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import orjson

from wardround.cases.readers.tables.choices import by_letter, by_text, plain, without_letters

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
BEFORE = (r"(?:^|\n)", r"(?:^|;)", r"(?:^|\|)", r"(?:^|[\s,])")  # what a letter stands behind, the surest first
LETTER = r"\s*(?:\*\*)?(?:\(({0})\)|\[({0})\]|({0})(?:\*\*)?(?:[.):、]|\s-\s))(?:\*\*)?".format("[A-Za-z]")
SEPARATORS = ("\n", ";", "|")
_MARKED = re.compile(r"([-*•–]|\d+(?=[.)]))[.)]?\s+")  # a list's own marks: bullets, or numbers
_NAMED = re.compile(r"[(\[]?([A-Za-z])(?:[)\].:、]+|\s-\s)\s*(.+)", re.DOTALL)


def options_of(told: Any) -> dict[str, str]:
    """The options by letter, as the record has them. ValueError says what is wrong."""
    if isinstance(told, str):
        told = _cut(told.strip())
    if isinstance(told, Mapping):
        named = {str(key).strip().upper(): value for key, value in told.items()}
        wrong = next((key for key in named if len(key) != 1 or key not in LETTERS), None)
        if wrong is not None:
            raise ValueError(f"{wrong!r} is no letter of an option")
        options = dict(sorted(named.items()))
    elif isinstance(told, list):
        if len(told) > len(LETTERS):
            raise ValueError(f"there are {len(told)} options, more than letters")
        options = dict(zip(LETTERS, told, strict=False))
    else:
        raise ValueError("is required" if told is None else "should be a text, a list, or the options by letter")
    if not all(isinstance(option, str) for option in options.values()):
        raise ValueError("an option is no text")
    texts = without_letters([option.strip() for option in options.values()])
    compared = [plain(text) for text in texts]
    if twice := next((text for text, own in zip(texts, compared, strict=True) if compared.count(own) > 1), None):
        raise ValueError(f"{twice!r} is there twice")
    return dict(zip(options, texts, strict=True))


def gold_of(options: Mapping[str, str], answer: object) -> int:
    """The place of the right option, told as `C`, `C. its text`, or its text. ValueError says what is wrong."""
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, str) or not answer.strip():
        raise ValueError("is required" if answer in (None, "", []) else f"{answer!r} is neither a letter nor a text")
    if len(letter := answer.strip(" \n()[].:")) == 1:
        return by_letter(options, letter)
    named = _NAMED.fullmatch(answer.strip())
    if named and (told := options.get(named[1].upper())) is not None and not _is_option(options, answer):
        if plain(told) != plain(named[2]):
            raise ValueError(f"is {answer!r}, but {named[1].upper()} is {told!r}"[:300])
        return by_letter(options, named[1])
    return by_text(list(options.values()), answer)


def _is_option(options: Mapping[str, str], answer: str) -> bool:
    return any(plain(option) == plain(answer) for option in options.values())


def _cut(text: str) -> Any:
    """What a text with all options says: a printed list or object, options behind letters, or one a line."""
    if not text:
        return None
    if (told := printed(text)) is not None:
        return told
    for before in BEFORE:
        places = list(re.finditer(before + LETTER, text))
        letters = "".join(place[place.lastindex or 0] for place in places)
        in_order = letters.upper() == LETTERS[: len(letters)] and (letters.isupper() or letters.islower())
        if len(places) > 1 and in_order and places[0].start() == 0:
            ends = [*(place.start() for place in places[1:]), len(text)]
            told = [
                text[place.end() : end].strip().rstrip(";|,").rstrip() for place, end in zip(places, ends, strict=True)
            ]
            return dict(zip(letters.upper(), told, strict=True))
    for separator in SEPARATORS:
        pieces = [piece.strip() for piece in text.split(separator) if piece.strip()]
        if len(pieces) > 1 and not re.match(LETTER, text):
            return _unmarked(pieces)
    raise ValueError(f"cannot be cut into options: {text!r}"[:200])


def printed(text: str) -> Any:
    """The list or object that a text is the print of, by JSON or Python; None where it is none."""
    if text[:1] + text[-1:] in ("[]", "{}"):
        for read in (orjson.loads, ast.literal_eval):
            try:
                return read(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
    return None


def _unmarked(pieces: list[str]) -> list[str]:
    """The lines of a list without its bullets or numbers, where all of them have it."""
    marks = [found[1] if (found := _MARKED.match(piece)) else "" for piece in pieces]
    numbers = [str(place) for place in range(1, len(pieces) + 1)]
    if marks != numbers and (not marks[0] or marks[0].isdigit() or len(set(marks)) > 1):
        return pieces
    return [_MARKED.sub("", piece, count=1) for piece in pieces]
