"""The offline judge: two names are the same if their words are, or nearly all of them. It knows no medicine.

Our choices: names are compared without case, accents, punctuation, function words, possessive and plural endings,
and with British spellings made American. Names whose words are the same in any order are the same. So are long
names that share at least 85% of all their words, unless what differs decides (a number, a side, acute or chronic,
a negation). Other names come from the case (`accept`) or from a table.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from wardround.core.canonical import blake
from wardround.core.case import Question
from wardround.core.errors import BadInput, WardroundError

VERSION = "lexical-2"
OVERLAP = 0.85
FUNCTION_WORDS = frozenset(["a", "an", "and", "at", "by", "due", "for", "from", "in", "of", "on", "the", "to", "with"])
DECIDING = frozenset(
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
_POSSESSIVE = re.compile(r"['’`´]s\b")
_SHORT = re.compile(r"\(\s*([A-Z][A-Za-z0-9-]{1,6})\s*\)\s*$")  # an abbreviation that ends a name, in brackets


@dataclass(frozen=True, slots=True)
class Form:
    """A name as it is compared: its content words, and the abbreviation that it gives in brackets."""

    words: tuple[str, ...]
    short: tuple[str, ...]


@lru_cache(65_536)
def form(name: str) -> Form:
    """How a name is compared."""
    short = _SHORT.search(name)
    if short and name[: short.start()].strip() and sum(letter.isupper() for letter in short[1]) >= 2:
        return Form(content(name[: short.start()]), content(short[1]))
    return Form(content(name), ())


def content(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, in order."""
    return tuple(word for word in tokens(text) if word not in FUNCTION_WORDS)


def tokens(text: str) -> list[str]:
    """All words of a text, each in one spelling."""
    return [spelled(word) for word in _WORD.findall(plain(text))]


def plain(text: str) -> str:
    """A text without capitals, accents and possessive endings."""
    if text.isascii():
        return _POSSESSIVE.sub("", text.lower())
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return _POSSESSIVE.sub("", "".join(letter for letter in folded if not unicodedata.combining(letter)))


@lru_cache(65_536)
def spelled(word: str) -> str:
    """A word in one spelling: without plural ending, American."""
    word = word.replace("ae", "e").replace("oe", "e")
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return f"{word[:-3]}or" if len(word) > 4 and word.endswith("our") else word


class Synonyms:
    """A table of names that mean the same. What is the same as the same is the same."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._groups: dict[tuple[str, ...], list[str]] = {}
        for one, other in pairs:
            merged = list(dict.fromkeys([*self._group(one), *self._group(other)]))
            for name in merged:
                self._groups[content(name)] = merged

    def _group(self, name: str) -> list[str]:
        return self._groups.get(content(name), [name])

    def of(self, name: str) -> list[str]:
        """All names of what this name means, itself first."""
        known = self._groups.get(content(name))
        if known is None and self._groups and form(name).short:
            known = self._groups.get(form(name).words)
        return list(dict.fromkeys([name, *(known or [])]))


NO_SYNONYMS = Synonyms()


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same by their words."""
    a, b = form(one), form(other)
    if not a.words or not b.words:
        return False
    if set(a.words) == set(b.words) or a.words == b.short or b.words == a.short:
        return True
    ours, theirs = set(a.words), set(b.words)
    differing = ours ^ theirs
    if any(word in DECIDING or len(word) == 1 or not word.isalpha() for word in differing):
        return False
    return len(ours & theirs) >= OVERLAP * len(ours | theirs)


def same_disease(diagnosis: str, names: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether a diagnosis, under any of its names, is one of these, under any of theirs."""
    ours = synonyms.of(diagnosis)
    return any(same_name(one, other) for name in names for other in synonyms.of(name) for one in ours)


class Lexical:
    """The judge `lexical`."""

    def __init__(self, synonyms: Synonyms = NO_SYNONYMS, table: str = "") -> None:
        self.synonyms = synonyms
        self.name = f"{VERSION}:{table}" if table else VERSION

    def same(self, question: Question, diagnosis: str) -> bool | None:
        return same_disease(diagnosis, [str(question.gold), *question.accept], self.synonyms)


def lexical_judge(extra_body: Mapping[str, Any], beside: Path) -> Lexical:
    """The judge that a study names, with its table of synonyms, if it has one."""
    for key in extra_body:
        if key != "synonyms":
            raise WardroundError(f"judge: extra_body.{key}: unknown key; the lexical judge takes synonyms")
    file = extra_body.get("synonyms")
    if file is None:
        return Lexical()
    if not isinstance(file, str):
        raise WardroundError(f"judge: extra_body.synonyms: should be the path of a CSV file, not {file!r}")
    pairs = read_synonyms(beside / file)
    return Lexical(Synonyms(pairs), blake(pairs).hex()[:8])


def read_synonyms(file: Path) -> list[tuple[str, str]]:
    """The rows of a table with the columns name and same_as."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not {"name", "same_as"} <= set(rows.fieldnames or ()):
                raise BadInput(file, "expected the columns name and same_as", line=1)
            return [_pair(row, file, rows.line_num) for row in rows]
    except FileNotFoundError:
        raise BadInput(file, "there is no such table of synonyms") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"cannot be read: {error}") from None


def _pair(row: Mapping[str, str | None], file: Path, line: int) -> tuple[str, str]:
    for field in ("name", "same_as"):
        if not content(row[field] or ""):
            raise BadInput(file, "is empty", line=line, field=field)
    return str(row["name"]).strip(), str(row["same_as"]).strip()
