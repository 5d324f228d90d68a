"""Who and when in free text: names, dates, numbers, addresses are found by rules (our choice) and masked.

What the headers tell of a patient (names, ids, hospital) is looked for as such; the rest by its form. A year alone, an
age up to 89 and clinical numbers stay. Rules find what looks like an identifier, never all: people have to look too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

OLDEST = 89  # years that may be told
SHORTEST = 3  # letters of a name that is looked for in small letters too
TELLING = 4  # letters of a word of an institution's name that tells which one it is
GENERAL = frozenset(  # words that tell nothing of whose or where
    [
        *("hospital", "hospitals", "clinic", "clinics", "klinik", "klinikum", "university", "universitat", "medical"),
        *("centre", "center", "health", "department", "radiology", "institute", "imaging", "general", "community"),
        *("care", "service", "services", "group", "foundation", "trust", "school", "national", "regional", "city"),
        *("county", "saint", "none", "unknown", "anonymous", "anonymized", "patient", "test", "doctor", "female"),
        *("male", "unnamed"),
    ]
)

_MONTH = (
    r"(?i:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|f[eé]vr(?:ier)?|mar(?:ch|s|zo)?|m[aä]rz|apr(?:il|ile)?|avr(?:il)?|may|mai"
    r"|mayo|maggio|june?|juin|juni|junio|giugno|july?|juli|juillet|julio|luglio|aug(?:ust)?|ao[uû]t|agosto|sept?(?:ember)?"
    r"|septembre|septiembre|settembre|o[ck]t(?:ober|obre)?|octubre|ottobre|nov(?:ember|embre|iembre)?|de[cz](?:ember)?"
    r"|d[eé]cembre|diciembre|dicembre|enero|gennaio|febrero|febbraio|marzo|abril|aprile)\.?"
)
_SURELY = r"(?!may\b|mar\b|march\b|mars\b)"  # these mean other things too where they are not written as names
_DAY, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?", r"(?:19|20)\d\d"
_UPPER, _WORD = r"[A-ZÀ-ÖØ-Þ]", r"[A-ZÀ-ÖØ-Þ][\w'’-]+"
_STREET = (
    r"(?:[Ss]treet|St\.?|[Rr]oad|Rd\.?|[Aa]venue|Ave\.?|[Ll]ane|Ln\.?|[Dd]rive|Dr\.?|[Bb]oulevard|Blvd\.?|[Cc]ourt"
    r"|[Ss]quare|[Tt]errace|[Cc]lose|[Cc]rescent|[Hh]ighway|[Pp]arkway)"
)
_LABEL = (
    r"(?:MRN|SSN|NHS|ID|PID|DOB|[Aa]ccession|[Pp]atient|[Cc]hart|[Cc]ase|[Rr]ecord|[Ss]tudy|[Hh]ospital|[Ii]nsurance|[Ff]ile"
    r"|[Pp]assport|[Pp]olicy|[Aa]ccount|[Ll]icen[cs]e|[Ee]pisode|[Vv]isit)"
)

# the first rule that matches at a place counts
RULES: list[tuple[str, re.Pattern[str]]] = [
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"\b(?:https?://|www\.)\S+", re.I)),
    (
        "date",
        re.compile(
            rf"\b(?:{_YEAR}[-/.](?:0?[1-9]|1[0-2])[-/.]{_DAY}\b|{_DAY}[-/.](?:0?[1-9]|[12]\d|3[01])[-/.](?:{_YEAR}|\d\d)\b"
            rf"|{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\b)"
        ),
    ),
    (
        "date",
        re.compile(
            rf"\b{_DAY}\s+(?:of\s+|de\s+)?(?:{_SURELY}{_MONTH}(?!\w)(?:,?\s+(?:de\s+)?{_YEAR})?"
            rf"|{_MONTH}(?!\w),?\s+(?:de\s+)?{_YEAR})"
        ),
    ),
    (
        "date",
        re.compile(
            rf"\b(?:(?={_UPPER}){_MONTH}(?!\w)\s+{_DAY}(?!\d|\s*(?:mg|ml|cm|mm|year))(?:,?\s+{_YEAR})?"
            rf"|{_MONTH}(?!\w),?\s+(?:de\s+)?{_YEAR}\b)"
        ),
    ),
    ("date", re.compile(r"(?<=\bon )(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|[12]\d|3[01])\b")),
    (
        "phone",
        re.compile(
            r"(?:\b(?:tel|phone|telephone|mobile|cell|fax|call|ext)\b\.?:?\s*(?:no\.?\s*)?)\+?[\d(][\d\s()./-]{3,}\d",
            re.I,
        ),
    ),
    ("phone", re.compile(r"(?<![\w.])\+\d{1,3}[\s(.-]*\d[\d\s().-]{5,}\d|(?<![\w.])\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b")),
    ("phone", re.compile(r"(?<![\w.,])0\d{2,4}[\s/-]\d{3,}(?:[\s-]?\d{2,})*\b")),
    ("id", re.compile(r"\b\d{3}-\d{2}-\d{4}\b")),
    (
        "id",
        re.compile(
            rf"\b{_LABEL}(?:\s*(?:ID|[Nn]o\.?|[Nn]r\.?|[Nn]umber))?\s*(?:[:#]\s*|is\s+|\s)(?=[\w/-]*\d{{3}})[\w/-]{{4,}}\b"
        ),
    ),
    ("id", re.compile(r"(?<![\w.])(?!rs\d)[A-Za-z]{0,3}-?\d{7,}\b")),
    (
        "address",
        re.compile(
            rf"\b\d{{1,5}}[a-z]?,?\s+(?:{_WORD}\s+){{1,3}}{_STREET}(?!\w)|\b{_WORD}(?:straße|strasse|weg|platz|gasse)\s+\d+"
        ),
    ),
    (
        "address",
        re.compile(rf"\b\d{{1,4}},?\s+(?:rue|avenue|boulevard|calle|via)\s+(?:(?:de|du|des|la|le)\s+)*{_WORD}", re.I),
    ),
    ("address", re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]?\s+\d[A-Z]{2}\b|\b[A-Z]{2}\s+\d{5}(?:-\d{4})?\b")),
    ("address", re.compile(r"\b[Pp]\.?\s?[Oo]\.?\s+[Bb]ox\s+\d+")),
    (
        "name",
        re.compile(
            rf"\b(?:(?:Dr|Mr|Mrs|Ms|Miss|Mister|Prof|Professor|Doctor|Herrn?|Frau|Mme|Mlle|Monsieur|Madame|Señora?|Sra?"
            rf"|Signora?|Sister|Nurse)\b\.?\s+)+(?:{_UPPER}\.\s*)*{_WORD}(?:\s+(?:(?:van|von|de|der|den|del|la)\s+)*{_WORD}){{0,2}}"
        ),
    ),
    (
        "name",
        re.compile(rf"(?<=\b[Nn]ame:\s){_WORD}(?:[,\s]+{_WORD}){{0,3}}|(?<=[Ss]igned by ){_WORD}(?:\s+{_WORD}){{0,2}}"),
    ),
    (
        "age",
        re.compile(r"\b(?:9\d|1[0-2]\d)(?=[\s-]*(?:years?[\s-]+old|y/?o\b|year-old|-year-old|years? of age))", re.I),
    ),
]


class Hit(NamedTuple):
    """A piece of a text that tells who or when."""

    kind: str
    start: int
    end: int


class Masked(NamedTuple):
    """A text without who and when, and how often each kind was in it."""

    text: str
    hits: dict[str, int]


@dataclass(frozen=True)
class Known:
    """What is known of one patient: names, numbers and places, as they are looked for in texts."""

    names: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()

    def __or__(self, other: Known) -> Known:
        return Known(self.names | other.names, self.ids | other.ids, self.places | other.places)

    def hits(self, text: str) -> Iterator[Hit]:
        """Where any of it stands in a text."""
        read = plain(text)
        for kind, words in (("name", self.names), ("id", self.ids), ("place", self.places)):
            for word in words:
                flags = re.IGNORECASE if len(word) >= SHORTEST else re.NOFLAG
                for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", read, flags):
                    yield Hit(kind, *match.span())

    def in_text(self, text: str) -> bool:
        return next(self.hits(text), None) is not None


NOTHING = Known()


def known_of(names: Iterable[str], ids: Iterable[str], places: Iterable[str]) -> Known:
    """What is known, from the values of headers: names in parts, numbers whole, places by the words that tell which."""
    parts = {part for name in names for part in re.split(r"[\s^=,.]+", plain(name)) if len(part) > 1}
    told = {word for place in places for word in re.findall(r"[\w'-]+", plain(place)) if len(word) >= TELLING}
    numbers = {plain(each).strip() for each in ids}
    return Known(
        frozenset(part for part in parts if part.casefold() not in GENERAL and not part.isdigit()),
        frozenset(each for each in numbers if len(each) >= TELLING),
        frozenset(word for word in told if word.casefold() not in GENERAL and not word.isdigit()),
    )


def plain(text: str) -> str:
    """A text without accents, letter for letter, so that places in it stay the same."""
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in unicodedata.normalize("NFC", text))


def masked(text: str, known: Known = NOTHING) -> Masked:
    """A text with `[NAME]`, `[DATE]` and so on in the place of who and when."""
    text = unicodedata.normalize("NFC", text)
    kept, place = [], 0
    found: Counter[str] = Counter()
    for hit in _apart([*known.hits(text), *_by_rules(text)]):
        kept += [text[place : hit.start], f"[{hit.kind.upper()}]"]
        place = hit.end
        found[hit.kind] += 1
    return Masked("".join([*kept, text[place:]]), dict(sorted(found.items())))


def _by_rules(text: str) -> Iterator[Hit]:
    for kind, rule in RULES:
        for match in rule.finditer(text):
            yield Hit(kind, *match.span())


def _apart(hits: list[Hit]) -> list[Hit]:
    """Hits that overlap become one, of the kind of the longest."""
    apart: list[Hit] = []
    for hit in sorted(hits, key=lambda each: (each.start, -each.end)):
        if apart and hit.start < apart[-1].end:
            last = apart[-1]
            longest = max(last, hit, key=lambda each: each.end - each.start)
            apart[-1] = Hit(longest.kind, last.start, max(last.end, hit.end))
        else:
            apart.append(hit)
    return apart
