"""Disease names: when two of them are the same by their words. No medical knowledge is used.

Our choices: names are compared without case, accents, punctuation, function words, possessive and plural endings,
and with British spellings made American. Names with the same words in any order are the same. So are long names that
share at least 85% of all their words, unless a deciding word differs (a number, a side, acute or chronic, a
negation). Other names come from the case (`accept`) or from a table of synonyms.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from wardround.core.errors import BadInput
from wardround.core.text import fold_accents

MIN_OVERLAP = 0.85
FUNCTION_WORDS = frozenset(["a", "an", "and", "at", "by", "due", "for", "from", "in", "of", "on", "the", "to", "with"])
DECIDING_WORDS = frozenset(
    [
        *("non", "not", "no", "without"),
        *("left", "right"),
        *("acute", "subacute", "chronic"),
        *("benign", "malignant"),
        *("primary", "secondary"),
        *("upper", "lower", "anterior", "posterior"),
        *("type", "grade", "stage"),
        *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    ]
)
_WORD = re.compile(r"[^\W_]+")
_SHORT = re.compile(r"\(\s*([A-Z][A-Za-z0-9-]{1,6})\s*\)\s*$")  # an abbreviation that ends a name, in brackets


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name as it is compared: its content words, and the abbreviation that it gives in brackets."""

    words: tuple[str, ...]
    short: tuple[str, ...]


@lru_cache(65_536)
def name_form(name: str) -> NameForm:
    """How a name is compared."""
    short = _SHORT.search(name)
    if short and name[: short.start()].strip() and sum(letter.isupper() for letter in short[1]) >= 2:
        return NameForm(content_words(name[: short.start()]), content_words(short[1]))
    return NameForm(content_words(name), ())


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, in order."""
    return tuple(word for word in normalized_words(text) if word not in FUNCTION_WORDS)


def normalized_words(text: str) -> list[str]:
    """All words of a text, each in one spelling."""
    return [normalize_spelling(word) for word in _WORD.findall(fold_accents(text))]


@lru_cache(65_536)
def normalize_spelling(word: str) -> str:
    """A word in one spelling: without plural ending, American."""
    word = word.replace("ae", "e").replace("oe", "e")
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return f"{word[:-3]}or" if len(word) > 4 and word.endswith("our") else word


class Synonyms:
    """Names that mean the same, in transitive groups."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._groups: dict[tuple[str, ...], list[str]] = {}
        for name, synonym in pairs:
            merged = list(dict.fromkeys([*self._group(name), *self._group(synonym)]))
            for member in merged:
                self._groups[content_words(member)] = merged

    def _group(self, name: str) -> list[str]:
        return self._groups.get(content_words(name), [name])

    def names_of(self, name: str) -> list[str]:
        """All names of what this name means, itself first."""
        known = self._groups.get(content_words(name))
        if known is None and self._groups and name_form(name).short:
            known = self._groups.get(name_form(name).words)
        return list(dict.fromkeys([name, *(known or [])]))


NO_SYNONYMS = Synonyms()


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same by their words."""
    a, b = name_form(one), name_form(other)
    if not a.words or not b.words:
        return False
    if set(a.words) == set(b.words) or a.words == b.short or b.words == a.short:
        return True
    ours, theirs = set(a.words), set(b.words)
    differing = ours ^ theirs
    if any(word in DECIDING_WORDS or len(word) == 1 or not word.isalpha() for word in differing):
        return False
    return len(ours & theirs) >= MIN_OVERLAP * len(ours | theirs)


def same_disease(diagnosis: str, names: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether a diagnosis, under any of its names, is one of these, under any of theirs."""
    ours = synonyms.names_of(diagnosis)
    return any(same_name(one, other) for name in names for other in synonyms.names_of(name) for one in ours)


def read_synonyms(file: Path) -> list[tuple[str, str]]:
    """The rows of a table with the columns name and same_as."""
    return read_name_pairs(file, "same_as")


def read_name_pairs(file: Path, column: str) -> list[tuple[str, str]]:
    """The rows of a table with the columns `name` and `column`."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not {"name", column} <= set(rows.fieldnames or ()):
                raise BadInput(file, f"expected the columns name and {column}", line=1)
            return [_pair(row, column, file, rows.line_num) for row in rows]
    except FileNotFoundError:
        raise BadInput(file, "there is no such table of names") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"cannot be read: {error}") from None


def _pair(row: Mapping[str, str | None], column: str, file: Path, line: int) -> tuple[str, str]:
    for field in ("name", column):
        if not content_words(row[field] or ""):
            raise BadInput(file, "is empty", line=line, field=field)
    return str(row["name"]).strip(), str(row[column]).strip()
