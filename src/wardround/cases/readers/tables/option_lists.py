"""Options in whatever form a record has them (by letter, a list, one text), and the index of the right one."""

import ast
import re
from collections.abc import Mapping
from typing import Any

import orjson

from wardround.cases.readers.tables.choices import index_of_letter, index_of_text, strip_letters
from wardround.core.text import LETTERS, fold

BEFORE_LETTER = (r"(?:^|\n)", r"(?:^|;)", r"(?:^|\|)", r"(?:^|[\s,])")  # the most certain first
LETTER = r"\s*(?:\*\*)?(?:\(({0})\)|\[({0})\]|({0})(?:\*\*)?(?:[.):、]|\s-\s))(?:\*\*)?".format("[A-Za-z]")
SEPARATORS = ("\n", ";", "|")
_LIST_MARKER = re.compile(r"([-*•–]|\d+(?=[.)]))[.)]?\s+")  # bullets or numbers
_LETTER_AND_TEXT = re.compile(r"[(\[]?([A-Za-z])(?:[)\].:、]+|\s-\s)\s*(.+)", re.DOTALL)


def parse_options(value: Any) -> dict[str, str]:
    """The options of a record by letter. ValueError says what is wrong."""
    if isinstance(value, str):
        value = _split_text(value.strip())
    if isinstance(value, Mapping):
        by_letter = {str(key).strip().upper(): option for key, option in value.items()}
        wrong = next((key for key in by_letter if len(key) != 1 or key not in LETTERS), None)
        if wrong is not None:
            raise ValueError(f"{wrong!r} is not the letter of an option")
        options = dict(sorted(by_letter.items()))
    elif isinstance(value, list):
        if len(value) > len(LETTERS):
            raise ValueError(f"there are {len(value)} options, more than letters")
        options = dict(zip(LETTERS, value, strict=False))
    else:
        raise ValueError("is required" if value is None else "should be a text, a list, or the options by letter")
    for letter, option in options.items():
        if not isinstance(option, str):
            raise ValueError(f"option {letter} is {option!r}; expected text"[:200])
    texts = strip_letters([option.strip() for option in options.values()])
    folded = [fold(text) for text in texts]
    if repeated := next((text for text, key in zip(texts, folded, strict=True) if folded.count(key) > 1), None):
        raise ValueError(f"{repeated!r} occurs twice")
    return dict(zip(options, texts, strict=True))


def gold_index(options: Mapping[str, str], answer: object) -> int:
    """The index of the right option, given as `C`, `C. its text`, or its text. ValueError says what is wrong."""
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, str) or not answer.strip():
        raise ValueError("is required" if answer in (None, "", []) else f"{answer!r} is neither a letter nor a text")
    if len(letter := answer.strip(" \n()[].:")) == 1:
        return index_of_letter(options, letter)
    match = _LETTER_AND_TEXT.fullmatch(answer.strip())
    if match and (option := options.get(match[1].upper())) is not None and not _is_option(options, answer):
        if fold(option) != fold(match[2]):
            raise ValueError(f"is {answer!r}, but {match[1].upper()} is {option!r}"[:300])
        return index_of_letter(options, match[1])
    return index_of_text(list(options.values()), answer)


def _is_option(options: Mapping[str, str], answer: str) -> bool:
    return any(fold(option) == fold(answer) for option in options.values())


def _split_text(text: str) -> Any:
    """The options in one text: a printed list or object, options after letters, or one per line."""
    if not text:
        return None
    if (value := parse_printed(text)) is not None:
        return value
    for before in BEFORE_LETTER:
        matches = list(re.finditer(before + LETTER, text))
        letters = "".join(match[match.lastindex or 0] for match in matches)
        in_order = letters.upper() == LETTERS[: len(letters)] and (letters.isupper() or letters.islower())
        if len(matches) > 1 and in_order and matches[0].start() == 0:
            ends = [*(match.start() for match in matches[1:]), len(text)]
            options = [
                text[match.end() : end].strip().rstrip(";|,").rstrip() for match, end in zip(matches, ends, strict=True)
            ]
            return dict(zip(letters.upper(), options, strict=True))
    for separator in SEPARATORS:
        pieces = [piece.strip() for piece in text.split(separator) if piece.strip()]
        if len(pieces) > 1 and not re.match(LETTER, text):
            return _strip_markers(pieces)
    raise ValueError(f"cannot be split into options: {text!r}"[:200])


def parse_printed(text: str) -> Any:
    """The list or object whose JSON or Python form a text is; None if it is none."""
    if text[:1] + text[-1:] in ("[]", "{}"):
        for parse in (orjson.loads, ast.literal_eval):
            try:
                return parse(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
    return None


def _strip_markers(pieces: list[str]) -> list[str]:
    """The lines of a list without bullets or numbers, if all of them have one."""
    markers = [match[1] if (match := _LIST_MARKER.match(piece)) else "" for piece in pieces]
    numbers = [str(number) for number in range(1, len(pieces) + 1)]
    if markers != numbers and (not markers[0] or markers[0].isdigit() or len(set(markers)) > 1):
        return pieces
    return [_LIST_MARKER.sub("", piece, count=1) for piece in pieces]
