"""Options as sets of stems: what of an option's text is enough to name it.

Long names are the common form: "SAH" and "subarachnoid haemorrhage" have the same stems. A stem is telling if no other
option of the question has it.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from itertools import product
from typing import NamedTuple

from wardround.marking.parser.option_text import WORD, fold_word, folded_words, plain_option
from wardround.marking.parser.words.kept import kept

MAX_SPAN = 6  # words of which first letters are made
MAX_NAME_WORDS = 5  # of another name: "fluid around the heart"
MIN_SOUND_LENGTH = 6  # of a stem that may be misspelt
MAX_COMBINED = 4  # words of an option of whose parts first letters are made

_TABLES = tomllib.loads(resources.files(__package__).joinpath("option_words.toml").read_text(encoding="utf-8"))
_SUFFIX = re.compile(
    r"(?:ations?|ating|ated|ately|ate|ions?|ances?|ences?|(?<=oid)isms?|ings?|ed|ical|ic|ous|osis|als?|aries|ary|ery|es|us|um|ar|is|a|e|y)$"
)
_DOUBLE_END = re.compile(r"([rt])\1$")  # "referred", "admitted"
_TWICE = re.compile(r"(.)\1")
_COMBINING = re.compile(rf"(?:{'|'.join(_TABLES['words']['combining'].split())})(?=[a-z]{{3}})", re.I)
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS, 1)}


@kept
def stem(word: str) -> str:
    """A folded word without its ending, of at least five letters."""
    if word in _NUMBERS:
        return _NUMBERS[word]
    if word.endswith(("ical", "ery")) and len(word) > 6:
        return word.removesuffix("ical").removesuffix("ery")
    shorter = _DOUBLE_END.sub(r"\1", _SUFFIX.sub("", word))
    return shorter if len(shorter) > 4 else word


@kept
def stems_of_unspaced(unspaced: str) -> tuple[str, ...]:
    """The stems of a text without spaces."""
    return tuple(map(stem, folded_words(unspaced)))


@kept
def sound_of(stem: str) -> str:
    """A stem as it sounds: "histolitica" and "histolytica" are alike. Short ones stay as they are."""
    if len(stem) < MIN_SOUND_LENGTH or not stem.isalpha():
        return stem
    return _TWICE.sub(r"\1", stem.replace("ph", "f").replace("y", "i").replace("rh", "r"))


WORDS = {kind: frozenset(stem(fold_word(word)) for word in words.split()) for kind, words in _TABLES["words"].items()}
CONTRASTS = [frozenset(stem(fold_word(word)) for word in words.split()) for words in _TABLES["contrasts"].values()]
_NOT_INITIALS = frozenset(_TABLES["words"]["not_initials"].split())
_NAMES = {name if name.isupper() else folded_words(name): folded_words(full) for name, full in _TABLES["names"].items()}
_NOT_SMALL = frozenset(_TABLES["words"]["not_small"].split()) | _NOT_INITIALS
_NAMES |= {
    folded_words(name.lower()): full
    for name, full in _NAMES.items()
    if isinstance(name, str) and len(name) > 2 and name.lower() not in _NOT_SMALL
}
KNOWN_NAMES = frozenset(name for name in _NAMES if isinstance(name, str))  # abbreviations
_NAME_STARTS = frozenset(name[0] for name in _NAMES if isinstance(name, tuple))


class OptionTokens(NamedTuple):
    """The stems of each option; those that no other has; first letters of words; abbreviated species; all stems."""

    stems: list[frozenset[str]]
    telling: list[frozenset[str]]
    initials: dict[str, tuple[str, ...]]
    by_initials: dict[str, int]  # those of a whole option
    species: dict[str, str]  # "s pneumoniae": its genus
    all_stems: frozenset[str]
    by_sound: dict[str, str]  # long stems by how they sound


@kept
def _folded_unspaced(unspaced: str) -> tuple[str, ...] | None:
    """The folded words of a text without spaces; None if one may be an abbreviation."""
    words = WORD.findall(unspaced)
    return None if any(map(_may_be_abbreviation, words)) else tuple(map(fold_word, words))


def _may_be_abbreviation(word: str) -> bool:
    return len(word) > 1 and not word[1:].islower() and sum(map(str.isupper, word)) > 1


def long_name(letters: str) -> frozenset[str]:
    """The stems of what an abbreviation usually stands for; none if it is unknown."""
    return frozenset(map(stem, _NAMES.get(letters, ())))


@lru_cache(maxsize=1 << 10)
def initials_of(text: str) -> frozenset[str]:
    """The abbreviations that an option's words may have: "CTPA" of "CT pulmonary angiography"."""
    return frozenset(letters for letters, _, _ in _initials(plain_option(text)))


def stems_of(text: str, initials: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The stems of a text with short names written out."""
    words: list[str] = []
    for unspaced in text.split():
        folded = _folded_unspaced(unspaced)
        words += _written_out(unspaced, initials) if folded is None else folded
    return tuple(map(stem, words if _NAME_STARTS.isdisjoint(words) else _long_names(tuple(words))))


def _written_out(unspaced: str, initials: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """The folded words of a text without spaces, abbreviations as the words that they stand for."""
    for word in WORD.findall(unspaced):
        letters = word.removesuffix("s")
        if _may_be_abbreviation(word) and (long_name := initials.get(letters.upper()) or _NAMES.get(letters)):
            yield from long_name
        else:
            yield fold_word(word)


@kept
def possible_stems(unspaced: str) -> frozenset[str] | None:
    """The stems that a text without spaces may add to a text; None if one of its words may be an abbreviation."""
    folded = _folded_unspaced(unspaced)
    if folded is None:
        return None
    of_names = [full for word in folded for full in _FULL_NAMES_BY_START.get(word, ())]
    return frozenset(map(stem, (*folded, *(word for full in of_names for word in full))))


def _long_names(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words with other names replaced by the usual ones."""
    replaced: list[str] = []
    place = 0
    while place < len(words):
        length = 0
        if words[place] in _NAME_STARTS:
            lengths = range(MAX_NAME_WORDS, 0, -1)
            length = next((length for length in lengths if words[place : place + length] in _NAMES), 0)
        replaced += _NAMES[words[place : place + length]] if length else words[place : place + 1]
        place += length or 1
    return tuple(replaced)


_NAMES = {name: _long_names(full) for name, full in _NAMES.items()}  # "heart" is "cardiac" in the long names too
_FULL_NAMES_BY_START: dict[str, list[tuple[str, ...]]] = {}
for _name, _full in _NAMES.items():
    if isinstance(_name, tuple):
        _FULL_NAMES_BY_START.setdefault(_name[0], []).append(_full)


@lru_cache(maxsize=1 << 12)
def option_tokens(options: tuple[str, ...]) -> OptionTokens:
    texts = list(map(plain_option, options))
    stems = [frozenset(stems_of(text, {})) for text in texts]
    telling = [
        frozenset(word for word in of_option if not _is_shared(word, stems[:place] + stems[place + 1 :]))
        for place, of_option in enumerate(stems)
    ]
    initials, by_initials = _unambiguous_initials(texts)
    species = {
        f"{words[0][0]} {words[1]}".lower(): words[0]
        for words in map(str.split, texts)
        if len(words) == 2 and words[1].islower()
    }
    all_stems = frozenset().union(
        *stems, (stem(fold_word(letters)) for letters in initials | by_initials), _other_names(stems)
    )
    by_sound: dict[str, str] = {}
    for word in sorted(all_stems):
        if len(word) >= MIN_SOUND_LENGTH:
            by_sound[sound_of(word)] = "" if sound_of(word) in by_sound else word
    by_sound = {sound: word for sound, word in by_sound.items() if word}
    return OptionTokens(stems, telling, initials, by_initials, species, all_stems - WORDS["idle"], by_sound)


def _other_names(stems: list[frozenset[str]]) -> Iterator[str]:
    """The stems of other names of what the options name."""
    for name, full in _NAMES.items():
        if not all(of_option.isdisjoint(map(stem, full)) for of_option in stems):
            yield from map(stem, folded_words(name) if isinstance(name, str) else name)


def _unambiguous_initials(texts: list[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """First letters that stand for one thing: the words, and the option if they are all of its words."""
    words_by_letters: dict[str, set[tuple[str, ...]]] = {}
    options_by_letters: dict[str, set[int]] = {}
    for option, text in enumerate(texts):
        for letters, words, is_whole in _initials(text):
            words_by_letters.setdefault(letters, set()).add(words)
            usual = _NAMES.get(letters, words)
            is_other = usual != words and not set(usual).isdisjoint(words)  # AF is not atrial flutter
            options_by_letters.setdefault(letters, set()).add(option if is_whole and not is_other else -1)
    _said = frozenset(word for text in texts for word in _long_names(folded_words(text)))
    is_free = {
        letters
        for letters, words in words_by_letters.items()
        if len(words) == 1
        and letters.lower() not in _NOT_INITIALS
        and (letters not in _NAMES or _said.isdisjoint(_NAMES[letters]))
    }
    by_initials = {
        letters: min(places) for letters, places in options_by_letters.items() if len(places) == 1 and min(places) >= 0
    }
    return {letters: next(iter(words_by_letters[letters])) for letters in is_free}, by_initials


def _is_shared(word: str, others: Sequence[frozenset[str]]) -> bool:
    """Whether another option has a stem, or a longer one that ends with it: "sarcoma" in "osteosarcoma"."""
    if len(word) < 5:
        return any(word in stems for stems in others)
    return any(other.endswith(word) for stems in others for other in stems)


def _initials(text: str) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """First letters of two words or more in a row, with and without small words and parts after a hyphen."""
    for source in (text.replace("-", " "), re.sub(r"-\w+", "", text)):
        words = re.findall(r"[^\W\d_]+(?:'s)?", re.sub(r"[()]", " ", source))
        for chosen in (words, [word for word in words if stem(fold_word(word)) not in WORDS["idle"]]):
            for start in range(len(chosen)):
                for end in range(start + 2, min(start + MAX_SPAN, len(chosen)) + 1):
                    span = chosen[start:end]
                    letters = "".join(word if sum(map(str.isupper, word)) > 1 else word[0] for word in span).upper()
                    is_whole = start == 0 and end == len(chosen)
                    if len(letters) > 2 or is_whole:
                        yield letters, folded_words(" ".join(span)), is_whole
    words = [word for word in re.findall(r"[^\W\d_]+", text) if stem(fold_word(word)) not in WORDS["idle"]]
    if 0 < len(words) <= MAX_COMBINED:
        for parts in product(*map(_part_letters, words)):
            letters = "".join(parts).upper()
            if len(letters) > max(2, len(words)):
                yield letters, folded_words(" ".join(words)), True


def _part_letters(word: str) -> set[str]:
    """The first letter of a word, and with it those of its parts after combining forms: "arterio-venous"."""
    letters, place = word[0], 0
    variants = {letters}
    while form := _COMBINING.match(word, place):
        place = form.end()
        letters += word[place]
        variants.add(letters)
    return variants
