"""Options named by their text: every option text in a reply is replaced by one character."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from operator import methodcaller

from wardround.marking.parser.words.kept import kept

FIRST_CHARACTER = 0xE000  # private use: the text of option i is written as chr(FIRST + i)
OPTION_CHARACTERS = "[\ue000-\uefff]"

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_NUMBER = r"(?:(?<![\w)\]])-|(?<![=-])[<>≤≥])?\d+(?:\.\d+)?"  # with its sign: -5 is not 5
WORD = re.compile(rf"[{_CJK}]|{_NUMBER}|[^\W\d_{_CJK}]+(?:'s\b)?")
_SIGNED = re.compile(r"[<>≤≥-]\d")
_UNSIGNED_WORD = re.compile(r"[A-Za-z]+(?:'s\b)?|\d+(?:\.\d+)?")  # the same of ASCII text without signs, faster
_ASCII_WORD = re.compile(rf"[A-Za-z]+(?:'s\b)?|{_NUMBER}")  # the same of ASCII text, faster
_SPACED_SIGN = re.compile(r"(?<![=<-])([<>]=?|[≤≥])[ ]*(?=-?\d)")
_WRITTEN_COMPARATORS = [
    (re.compile(rf"\b(?:{words})\s+(?=-?\d)", re.I), sign)
    for words, sign in (
        ("no less than|not less than|at least|greater than or equal to", "≥"),
        ("no more than|not more than|at most|up to|less than or equal to", "≤"),
        ("less than|smaller than|lower than|fewer than|younger than|shorter than|under|below", "<"),
        ("more than|greater than|larger than|higher than|older than|longer than|over|above|exceeding", ">"),
    )
]
_COMPARATORS = {">=": "≥", "<=": "≤"}
_CLASSED = re.compile(r"([A-Za-z]{4,}) (?:\d{1,2}[a-d]?|[IVX]{1,4}[ABCabc]?)")  # "Stage IIIa"
_LEVEL = re.compile(r"[CTLS]\d{1,2}(?:[-–/][CTLS]?\d{1,2})?(?: (?:vertebra|level|nerve root|root|dermatome))?")
_SPECIES_NAME = re.compile(r"([A-Z][a-z]{3,}) ([a-z]{4,})(?: .*)?")
_PREDICATE = re.compile(r" (?:is|was|would|should|will|must|can|has|fits|explains)\b")
_BRACKETED = re.compile(r"\s*\(([^()]*)\)")
_ABBREVIATION = re.compile(r"[A-Z]{2,6}")
_SPELLING = re.compile(r"(?<=[a-z])[ao]+e(?=[a-z]{2})|^[ao]e(?=[a-z]{3})")
_TRAILING_ZEROS = re.compile(r"(?<=\.\d)0+\Z|(?<=\.\d\d)0+\Z|(?<=\.\d\d\d)0+\Z")
_SPAN = methodcaller("span")
_DOUBLE = re.compile(r"(.)\1")
_ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4", "VI": "6", "VII": "7", "VIII": "8"}
_UNITS = {
    "centimeter": "cm",
    "millimeter": "mm",
    "milligram": "mg",
    "microgram": "mcg",
    "kilogram": "kg",
    "milliliter": "ml",
    "wk": "week",
    "hr": "hour",
    "yr": "year",
}
_ARTICLES = ("a", "an", "the")
_GENERIC = ("disease", "syndrome", "disorder", "mellitus")  # may be left out: Crohn's (disease)


@kept
def fold_word(word: str) -> str:
    """A word without case, accents, possessive and plural s, in American spelling."""
    if word in _ROMAN:
        return _ROMAN[word]
    if "." in word:
        return _TRAILING_ZEROS.sub("", word)
    word = word.lower().removesuffix("'s")
    if not word.isascii():
        word = "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))
    word = _SPELLING.sub("e", word).replace("sulph", "sulf")
    if len(word) > 5 and word.endswith("our"):
        word = word[:-3] + "or"
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui":
        word = word[:-1]
    if len(word) > 4 and word.endswith(("tre", "bre", "vre")):
        word = word[:-2] + "er"
    return _UNITS.get(word, word)


@kept
def _fold_unspaced(unspaced: str) -> tuple[str, ...]:
    """The folded words of a text without spaces."""
    return tuple(" ".join(map(fold_word, WORD.findall(unspaced))).split())


def folded_words(text: str) -> tuple[str, ...]:
    """The folded words of a text."""
    return tuple(chain.from_iterable(map(_fold_unspaced, text.split())))


@dataclass(frozen=True, slots=True, eq=False)
class OptionForms:
    """The forms in which a question's options may be written."""

    options: dict[tuple[str, ...], int]  # folded words -> option
    spaced: tuple[tuple[str, tuple[str, ...]], ...]  # each of them as one string
    abbreviations: frozenset[tuple[str, ...]]  # of these, the ones that count in capitals only
    articled: frozenset[int]  # options whose own text begins with an article
    letters: dict[str, int]  # options that are a single letter, like blood groups: letter -> option
    misspelt: dict[tuple[str, ...], int]
    misnamed: frozenset[tuple[str, ...]]  # options with another generic noun
    count: int
    words: frozenset[str]  # folded
    has_comparators: bool  # "<5 mm"
    has_numbers: bool
    is_numeric: bool  # all options are whole numbers
    has_levels: bool  # an option is a vertebra or a root: "T12"
    class_word: str  # that a numeral follows in every option: "stage"
    genera: dict[str, str]  # of abbreviated species: "p aeruginosa": "Pseudomonas"


def option_forms(options: Sequence[str]) -> OptionForms:
    return _option_forms(tuple(options))


@lru_cache(maxsize=1 << 12)
def _option_forms(options: tuple[str, ...]) -> OptionForms:
    texts = [plain_option(option) for option in options]
    whole = [_without_article(folded_words(text)) for text in texts]
    classed = [_CLASSED.fullmatch(text.strip()) for text in texts]
    class_words = {match[1].lower() if match else "" for match in classed}
    forms: dict[tuple[str, ...], int | None] = {}
    for option, form in enumerate(whole):
        forms[form] = None if form in forms else option
    abbreviations = set()
    looser: dict[tuple[str, ...], int | None] = {}
    for option, text in enumerate(texts):
        for form, is_abbreviation in _looser_forms(text, whole[option]):
            if form and form not in forms and not _is_within_another(form, option, whole):
                looser[form] = None if looser.get(form, option) != option else option
                if is_abbreviation:
                    abbreviations.add(form)
    by_form = {form: option for form, option in (forms | looser).items() if option is not None and form}
    letters = {
        form[0].upper(): option for form, option in by_form.items() if len(form) == 1 and len(texts[option]) == 1
    }
    by_form = {
        form: option for form, option in by_form.items() if len(form[0]) > 1 or len(form) > 1 or not form[0].isalpha()
    }
    misspelt: dict[tuple[str, ...], int | None] = {}
    for form, option in by_form.items():
        sorted_form = tuple(map(_sort_inner_letters, form))
        misspelt[sorted_form] = option if misspelt.get(sorted_form, option) == option else None
    return OptionForms(
        by_form,
        tuple((f" {' '.join(form)} ", form) for form in by_form),
        frozenset(abbreviations),
        frozenset(option for option, text in enumerate(texts) if folded_words(text)[:1] in {("a",), ("an",), ("the",)}),
        letters,
        {form: option for form, option in misspelt.items() if option is not None},
        frozenset(
            (*form[:-1], noun)
            for form in whole
            if form and form[-1] in _GENERIC
            for noun in _GENERIC
            if noun != form[-1]
        ),
        len(options),
        frozenset(word for form in whole for word in form),
        any(word[0] in "<>≤≥" for form in whole for word in form),
        any(word[-1].isdigit() for form in whole for word in form),
        all(len(form) == 1 and form[0].isdigit() for form in whole),
        any(_LEVEL.fullmatch(text.strip()) for text in texts),
        class_words.pop() if len(class_words) == 1 and len(options) > 1 else "",
        _genera(texts),
    )


def _genera(texts: list[str]) -> dict[str, str]:
    """The genus of every species that is written with its first letter: "P. aeruginosa"."""
    named = [match for text in texts if (match := _SPECIES_NAME.fullmatch(text.strip()))]
    by_short: dict[str, set[str]] = {}
    for match in named:
        by_short.setdefault(f"{match[1][0]} {match[2]}".lower(), set()).add(match[1])
    return {short: genera.pop() for short, genera in by_short.items() if len(genera) == 1}


def plain_option(option: str) -> str:
    """An option's text in the characters in which replies are read."""
    return compare_by_signs(unicodedata.normalize("NFKC", option).replace("’", "'").replace("−", "-"))


def compare_by_signs(text: str) -> str:
    """A text with "less than 5" and "< 5" as "<5"."""
    for words, sign in _WRITTEN_COMPARATORS:
        text = words.sub(sign, text)
    return attach_signs(text)


def attach_signs(text: str) -> str:
    """A text with comparators right before their numbers."""
    return _SPACED_SIGN.sub(lambda sign: _COMPARATORS.get(sign[1], sign[1]), text)


def _looser_forms(text: str, whole: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Other forms of an option, and whether each is an abbreviation."""
    bare = _without_article(folded_words(_BRACKETED.sub("", text)))
    yield bare, False
    for inside in _BRACKETED.findall(text):
        if _ABBREVIATION.fullmatch(inside):
            yield folded_words(inside), True
    yield folded_words(re.sub(r"(?<=\w)-(?=\w)", "", _BRACKETED.sub("", text))), False
    for form in (whole, bare):
        if len(form) > 1 and form[-1] in _GENERIC:
            yield form[:-1], False


def _is_within_another(form: tuple[str, ...], option: int, whole: list[tuple[str, ...]]) -> bool:
    """Whether another option's text contains this form: "diabetes" may be any of several."""
    spaced = f" {' '.join(form)} "
    return any(spaced in f" {' '.join(other)} " for place, other in enumerate(whole) if place != option)


def _without_article(form: tuple[str, ...]) -> tuple[str, ...]:
    return form[1:] if len(form) > 1 and form[0] in _ARTICLES else form


@kept
def _sort_inner_letters(word: str) -> str:
    """Equal for words that differ only in the order of inner letters, or in a double letter."""
    return word if len(word) < 6 else word[0] + "".join(sorted(_DOUBLE.sub(r"\1", word)[1:-1])) + word[-1]


def find_whole_text(text: str, form: tuple[str, ...], forms: OptionForms) -> int | None:
    """The option whose text is the whole reply."""
    option = forms.options.get(form)
    if option is not None and form in forms.abbreviations and not _is_upper_case(text):
        return None
    return option


def find_misspelt_text(form: tuple[str, ...], forms: OptionForms) -> int | None:
    """The option whose text is the whole reply, except for inner letters in another order."""
    return forms.misspelt.get(tuple(map(_sort_inner_letters, form)))


def mark_option_texts(text: str, words: tuple[str, ...], forms: OptionForms) -> str:
    """The reply with every option text, and an article before it, replaced by its character."""
    line = f" {' '.join(words)} "
    forms_by_word: dict[str, list[tuple[str, ...]]] = {}
    for spaced, form in forms.spaced:
        if spaced in line:
            forms_by_word.setdefault(form[0], []).append(form)
    if not forms_by_word:
        return text
    for forms_of_word in forms_by_word.values():
        forms_of_word.sort(key=len, reverse=True)
    starts = [index for index, word in enumerate(words) if word in forms_by_word]
    pattern = WORD if not text.isascii() else _ASCII_WORD if _SIGNED.search(text) else _UNSIGNED_WORD
    last = starts[-1] + len(forms_by_word[words[starts[-1]]][0])
    spans = list(map(_SPAN, islice(pattern.finditer(text), last)))
    parts, end_of_last, next_index = [], 0, 0
    for index in starts:
        if index < next_index:
            continue
        forms_of_word = forms_by_word[words[index]]
        form = next((form for form in forms_of_word if form == words[index : index + len(form)]), ())
        if not form:
            continue
        start, end = spans[index][0], spans[index + len(form) - 1][1]
        option = forms.options[form]
        following = words[index + len(form)] if index + len(form) < len(words) else ""
        if following in _GENERIC and form[-1] not in _GENERIC and (*form, following) in forms.misnamed:
            continue  # "Cushing syndrome" is not "Cushing disease"
        if form not in forms.abbreviations or _is_upper_case(text[start:end]):
            if index and spans[index - 1][0] >= end_of_last:
                start = _start_of_article(text, spans[index - 1], (start, end), option, forms)
            parts += [text[end_of_last:start], chr(FIRST_CHARACTER + option)]
            end_of_last = end
        next_index = index + len(form)
    return "".join([*parts, text[end_of_last:]])


def _start_of_article(
    text: str, before: tuple[int, int], span: tuple[int, int], option: int, forms: OptionForms
) -> int:
    """The start of an option text with the article before it; a capital A may be a letter instead."""
    start, end = span
    article = text[before[0] : before[1]]
    if article.lower() not in _ARTICLES or text[before[1] : start] != " ":
        return start
    if article == "A" and text[start].isupper() and option != 0 and option not in forms.articled:
        return before[0] if _PREDICATE.match(text, end) else start  # "A D-dimer is needed"
    return before[0]


def _is_upper_case(text: str) -> bool:
    return text.upper() == text
