"""Letters of options, and texts made comparable. Each function here leaves out something different."""

import re
import unicodedata
from string import ascii_uppercase

LETTERS = ascii_uppercase  # of options
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_POSSESSIVE = re.compile(r"['’`´]s\b")


def option_letter(index: int) -> str:
    """`A` for the first option; a number from 1 for those beyond `Z`."""
    return LETTERS[index] if index < len(LETTERS) else str(index + 1)


def without_formula(text: str) -> str:
    """A text for a cell of a table: one that a spreadsheet would read as a formula gets a space before it."""
    return f" {text}" if text.startswith(FORMULA_STARTS) else text


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
