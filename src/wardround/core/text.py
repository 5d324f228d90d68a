"""Letters of options, and texts made comparable. Each function here leaves out something different."""

import re
import unicodedata
from collections.abc import Iterable
from string import ascii_uppercase
from typing import Any

LETTERS = ascii_uppercase  # of options
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the last four: full width
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?")
_POSSESSIVE = re.compile(r"['’`´]s\b")


def option_letter(index: int) -> str:
    """`A` for the first option; a number from 1 for those beyond `Z`."""
    return LETTERS[index] if index < len(LETTERS) else str(index + 1)


def without_formula(text: str) -> str:
    """A text for a cell of a CSV table: one that a spreadsheet would read as a formula gets a space before it.

    Every writer of CSV uses this. Numbers stay as they are.
    """
    return f" {text}" if text.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(text) else text


def with_formula(cell: str) -> str:
    """The text of a cell that `without_formula` has made."""
    return cell[1:] if cell.startswith(" ") and cell[1:].startswith(FORMULA_STARTS) else cell


def safe_row(cells: Iterable[Any]) -> list[Any]:
    """A row of a CSV table, with its texts made safe by `without_formula`.

    Carriage returns become line feeds: before Python 3.13 `csv` does not quote them, and what follows one would begin
    a row, and perhaps a formula.
    """
    return [without_formula(_line_feeds(cell)) if isinstance(cell, str) else cell for cell in cells]


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def count_noun(count: int, noun: str) -> str:
    """`1 file`, `2,000 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def single_line(text: str) -> str:
    """A text on one line, with single spaces. Most are: to see that takes a fifth of the time of doing it."""
    if text.isprintable() and "  " not in text:  # of all white space only the plain space is printable
        return text.strip()
    return " ".join(text.split())


def fold(text: str) -> str:
    """A text without capitals, repeated spaces and a full stop at the end."""
    return " ".join(text.casefold().split()).rstrip(".")


def fold_nfkc(text: str) -> str:
    """`fold` after NFKC: full-width letters, ligatures and superscripts become plain ones too."""
    return fold(unicodedata.normalize("NFKC", text))


def fold_accents(text: str) -> str:
    """A text without capitals, accents and possessive endings."""
    if text.isascii():
        return _POSSESSIVE.sub("", text.lower())
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return _POSSESSIVE.sub("", "".join(letter for letter in folded if not unicodedata.combining(letter)))


def strip_accents(text: str) -> str:
    """A text without accents, letter for letter, so that positions in it stay the same."""
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in unicodedata.normalize("NFC", text))
