"""When two disease names are the same by their words.

Our choices: names are compared by the words of words.py, with Roman numerals made Arabic and words of one meaning made
one (carcinoma and cancer, embolus and embolism, an organ and its adjective). Names with the same words in any order
are the same, also if only one of them says "syndrome", "disease" or "disorder". So are an abbreviation of three
capitals or more and a name with these initials, and long names that share at least 85% of all their words, unless a
deciding word differs (a number, a side, acute or chronic, a negation).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.core.names.words import DECIDING_WORDS, content_words, normalize_spelling, plain_words

MIN_OVERLAP = 0.85
GENERIC_WORDS = frozenset(["syndrome", "disease", "disorder"])
EMPTY_WORDS = frozenset(["type", "mellitus"])  # what they go with says it all
ORGANS = {
    "aortic": "aorta",
    "bronchial": "bronchus",
    "cardiac": "heart",
    "cerebral": "brain",
    "colonic": "colon",
    "corneal": "cornea",
    "cutaneous": "skin",
    "duodenal": "duodenum",
    "esophageal": "esophagus",
    "femoral": "femur",
    "gastric": "stomach",
    "hepatic": "liver",
    "humeral": "humerus",
    "ileal": "ileum",
    "jejunal": "jejunum",
    "laryngeal": "larynx",
    "mandibular": "mandible",
    "maxillary": "maxilla",
    "mediastinal": "mediastinum",
    "ocular": "eye",
    "orbital": "orbit",
    "ovarian": "ovary",
    "pancreatic": "pancreas",
    "peritoneal": "peritoneum",
    "pharyngeal": "pharynx",
    "pleural": "pleura",
    "prostatic": "prostate",
    "pulmonary": "lung",
    "radial": "radius",
    "rectal": "rectum",
    "renal": "kidney",
    "retinal": "retina",
    "spinal": "spine",
    "splenic": "spleen",
    "testicular": "testis",
    "tibial": "tibia",
    "tracheal": "trachea",
    "ulnar": "ulna",
    "uterine": "uterus",
    "vertebral": "vertebra",
}
_ONE_MEANING = {normalize_spelling(word): normalize_spelling(organ) for word, organ in ORGANS.items()} | {
    "carcinoma": "cancer",
    "embolus": "embolism",
    "neoplasm": "tumor",
    "thromboembolus": "thromboembolism",
}
_BARE_WORDS = DECIDING_WORDS | {normalize_spelling(organ) for organ in ORGANS.values()} | {"artery", "coronary", "vein"}
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_NUMERAL = re.compile(rf"({'|'.join(sorted(_ROMAN, key=len, reverse=True))})([a-d]?)")
_SHORT = re.compile(r"\(\s*([A-Z][A-Za-z0-9-]{1,6})\s*\)\s*$")  # an abbreviation that ends a name, in brackets
_SHORT_FIRST = re.compile(r"\s*([A-Z][A-Za-z0-9-]{1,6})\s*\(([^()]*\s[^()]*)\)\s*$")  # or that its brackets explain
_ABBREVIATION = re.compile(r"[A-Za-z0-9-]{3,8}")
_LETTER_A = re.compile(r"\w(?<!\bwith)(?<!\bof)(?<!\bas)(?<!\bto)(?<!\bby)(?<!\bin)(?<!\bfrom) a(?!\w)")  # hepatitis A


@dataclass(frozen=True, slots=True)
class NameForm:
    """The content words of a name, and those of the abbreviation that comes with it in brackets."""

    words: tuple[str, ...]
    short: tuple[str, ...]


@lru_cache(65_536)
def name_form(name: str) -> NameForm:
    """The words of a name, apart from its abbreviation."""
    if (short := _SHORT.search(name)) and name[: short.start()].strip() and _capitals(short[1]) >= 2:
        return NameForm(content_words(name[: short.start()]), content_words(short[1]))
    if (short := _SHORT_FIRST.fullmatch(name)) and _capitals(short[1]) >= 2:
        return NameForm(content_words(short[2]), content_words(short[1]))
    return NameForm(content_words(name), ())


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same by their words."""
    ours, theirs = compared_words(one), compared_words(other)
    if not ours or not theirs:
        return False
    if ours == theirs or _same_but_generic(ours, theirs) or _is_abbreviated(one, other):
        return True
    differing = ours ^ theirs
    if any(word in DECIDING_WORDS or len(word) == 1 or not word.isalpha() for word in differing):
        return False
    return len(ours & theirs) >= MIN_OVERLAP * len(ours | theirs)


@lru_cache(65_536)
def compared_words(name: str) -> frozenset[str]:
    """The words by which a name is compared."""
    words = [*name_form(name).words, *(["a"] if _LETTER_A.search(name.lower()) else [])]
    numerals = [_NUMERAL.sub(_as_digits, word) if _NUMERAL.fullmatch(word) else word for word in words]
    return frozenset(one_meaning(word) for word in numerals if word not in EMPTY_WORDS)


def one_meaning(word: str) -> str:
    """The word that stands for all of its meaning: `lung` for `pulmonary`, `cancer` for `carcinoma`."""
    return _ONE_MEANING.get(word, word)


def _same_but_generic(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether one name is the other with "syndrome" or the like; "Cushing disease" is not "Cushing syndrome"."""
    core = ours - GENERIC_WORDS
    if core != theirs - GENERIC_WORDS or core <= _BARE_WORDS:
        return False
    return ours <= theirs or theirs <= ours


def _is_abbreviated(one: str, other: str) -> bool:
    """Whether one name is the abbreviation of the other: the one in its brackets, or its initials."""
    for short, name in ((one, other), (other, one)):
        form = name_form(name)
        if form.short and name_form(short).words == form.short:
            return True
        if _ABBREVIATION.fullmatch(short) and _capitals(short) >= 3 and _has_initials(name, short):
            return True
    return False


def _has_initials(name: str, short: str) -> bool:
    """Whether the words of a name, or of "Y X" for a name "X, Y", begin with the letters of an abbreviation."""
    letters = short.replace("-", "").lower()
    before, comma, after = name.partition(",")
    orders = (name, f"{after} {before}") if comma else (name,)
    return any(
        _spells(words, letters) for order in orders for words in (plain_words(order), list(content_words(order)))
    )


def _spells(words: Sequence[str], letters: str) -> bool:
    if not words or not letters:
        return not letters and all(word in GENERIC_WORDS | EMPTY_WORDS for word in words)
    word, rest = words[0], words[1:]
    start = word if any(letter.isdigit() for letter in word) else word[0]
    return (letters.startswith(start) and _spells(rest, letters[len(start) :])) or (
        word in GENERIC_WORDS | EMPTY_WORDS and _spells(rest, letters)
    )


def _capitals(text: str) -> int:
    return sum(letter.isupper() for letter in text)


def _as_digits(numeral: re.Match[str]) -> str:
    return f"{_ROMAN.index(numeral[1]) + 1}{numeral[2]}"
