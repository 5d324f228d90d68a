"""Options named by their text: each such text in a reply becomes one character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

FIRST = 0xE000  # private use: the text of option i is written as chr(FIRST + i)
TEXT = "[\ue000-\uefff]"

_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_CJK}]|\d+(?:\.\d+)?|[^\W\d_{_CJK}]+(?:'s\b)?")
_BRACKETED = re.compile(r"\s*\(([^()]*)\)")
_ABBREVIATION = re.compile(r"[A-Z]{2,6}")
_SPELLING = re.compile(r"(?<=[a-z])[ao]+e(?=[a-z]{2})|^[ao]e(?=[a-z]{3})")
_ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4"}
_ARTICLES = ("a", "an", "the")
_GENERIC = ("disease", "syndrome", "disorder", "mellitus")  # left out at will: Crohn's (disease)


@lru_cache(maxsize=1 << 16)
def folded(word: str) -> str:
    """A word without case, accents, possessive and plural s, and the difference of British and American spelling."""
    if word in _ROMAN:
        return _ROMAN[word]
    word = word.lower().removesuffix("'s")
    if not word.isascii():
        word = "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))
    word = _SPELLING.sub("e", word)
    if len(word) > 5 and word.endswith("our"):
        word = word[:-3] + "or"
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui":
        word = word[:-1]
    return word


@lru_cache(maxsize=1 << 16)
def _folded_together(written: str) -> str:
    """The folded words of what is written without a space."""
    return " ".join(map(folded, _WORD.findall(written)))


def words(text: str) -> tuple[str, ...]:
    """The folded words of a text."""
    return tuple(" ".join(map(_folded_together, text.split())).split())


@dataclass(frozen=True, slots=True)
class Forms:
    """The ways in which a question's options may be written."""

    options: dict[tuple[str, ...], int]  # folded words -> option
    spaced: tuple[tuple[str, tuple[str, ...]], ...]  # each of them as one string
    abbreviations: frozenset[tuple[str, ...]]  # of these, the ones that count in capitals only
    articled: frozenset[int]  # options whose own text begins with an article
    letters: dict[str, int]  # options that are a single letter, like blood groups: letter -> option
    misspelt: dict[tuple[str, ...], int]


def forms_of(options: Sequence[str]) -> Forms:
    return _forms_of(tuple(options))


@lru_cache(maxsize=1 << 12)
def _forms_of(options: tuple[str, ...]) -> Forms:
    texts = [unicodedata.normalize("NFKC", option).replace("’", "'") for option in options]
    whole = [_unarticled(words(text)) for text in texts]
    found: dict[tuple[str, ...], int | None] = {}
    for option, form in enumerate(whole):
        found[form] = None if form in found else option
    abbreviations = set()
    looser: dict[tuple[str, ...], int | None] = {}
    for option, text in enumerate(texts):
        for form, abbreviation in _looser(text, whole[option]):
            if form and form not in found and not _within_another(form, option, whole):
                looser[form] = None if looser.get(form, option) != option else option
                if abbreviation:
                    abbreviations.add(form)
    named = {form: option for form, option in (found | looser).items() if option is not None and form}
    letters = {form[0].upper(): option for form, option in named.items() if len(form) == 1 and len(texts[option]) == 1}
    named = {
        form: option for form, option in named.items() if len(form[0]) > 1 or len(form) > 1 or not form[0].isalpha()
    }
    misspelt: dict[tuple[str, ...], int | None] = {}
    for form, option in named.items():
        scrambled = tuple(map(_scrambled, form))
        misspelt[scrambled] = option if misspelt.get(scrambled, option) == option else None
    return Forms(
        named,
        tuple((f" {' '.join(form)} ", form) for form in named),
        frozenset(abbreviations),
        frozenset(option for option, text in enumerate(texts) if words(text)[:1] in {("a",), ("an",), ("the",)}),
        letters,
        {form: option for form, option in misspelt.items() if option is not None},
    )


def _looser(text: str, whole: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Other ways to write an option, and whether each is an abbreviation."""
    bare = _unarticled(words(_BRACKETED.sub("", text)))
    yield bare, False
    for inside in _BRACKETED.findall(text):
        if _ABBREVIATION.fullmatch(inside):
            yield words(inside), True
    yield words(_BRACKETED.sub("", text).replace("-", "")), False
    for form in (whole, bare):
        if len(form) > 1 and form[-1] in _GENERIC:
            yield form[:-1], False


def _within_another(form: tuple[str, ...], option: int, whole: list[tuple[str, ...]]) -> bool:
    """Whether another option's text holds this form: "diabetes" may be any of several."""
    spaced = f" {' '.join(form)} "
    return any(spaced in f" {' '.join(other)} " for place, other in enumerate(whole) if place != option)


def _unarticled(form: tuple[str, ...]) -> tuple[str, ...]:
    return form[1:] if len(form) > 1 and form[0] in _ARTICLES else form


def _scrambled(word: str) -> str:
    """The same for words that differ in the order of inner letters only."""
    return word if len(word) < 6 else word[0] + "".join(sorted(word[1:-1])) + word[-1]


def whole_text(said: str, form: tuple[str, ...], forms: Forms) -> int | None:
    """The option whose text the reply is, and nothing else."""
    option = forms.options.get(form)
    if option is not None and form in forms.abbreviations and not _in_capitals(said):
        return None
    return option


def misspelt_text(form: tuple[str, ...], forms: Forms) -> int | None:
    """The option whose text the reply is, but for letters that changed places."""
    return forms.misspelt.get(tuple(map(_scrambled, form)))


def with_texts_marked(said: str, folds: tuple[str, ...], forms: Forms) -> str:
    """The reply with every option's text, and an article before it, replaced by its one character."""
    line = f" {' '.join(folds)} "
    present: dict[str, list[tuple[str, ...]]] = {}
    for spaced, form in forms.spaced:
        if spaced in line:
            present.setdefault(form[0], []).append(form)
    if not present:
        return said
    for sharing in present.values():
        sharing.sort(key=len, reverse=True)
    places = [match.span() for match in _WORD.finditer(said)]
    parts, done, taken = [], 0, 0
    for index, word in enumerate(folds):
        if word not in present or index < taken:
            continue
        form = next((form for form in present[word] if form == folds[index : index + len(form)]), ())
        if not form:
            continue
        start, end = places[index][0], places[index + len(form) - 1][1]
        option = forms.options[form]
        if form not in forms.abbreviations or _in_capitals(said[start:end]):
            if index and places[index - 1][0] >= done:
                start = _with_article(said, places[index - 1], start, option, forms)
            parts += [said[done:start], chr(FIRST + option)]
            done = end
        taken = index + len(form)
    return "".join([*parts, said[done:]])


def _with_article(said: str, before: tuple[int, int], start: int, option: int, forms: Forms) -> int:
    """Where the text begins if the word before it is its article; a capital A may be a letter instead."""
    article = said[before[0] : before[1]]
    if article.lower() not in _ARTICLES or said[before[1] : start] != " ":
        return start
    if article == "A" and said[start].isupper() and option != 0 and option not in forms.articled:
        return start
    return before[0]


def _in_capitals(text: str) -> bool:
    return text.upper() == text
