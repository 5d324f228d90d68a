"""What the words of replies and options mean: stems, parts of medical words, other names and classes of drugs.

"An inflamed appendix" and "appendicitis" share the meanings of the appendix and of inflammation. Words of other
alphabets and languages are compared as they sound: "эндокардит" and "endocarditis" are alike.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import chain

from wardround.marking.parser.option_text import WORD, fold_word, folded_words, plain_option
from wardround.marking.parser.option_tokens import KNOWN_NAMES, WORDS, option_tokens, possible_stems, stem, stems_of
from wardround.marking.parser.words.kept import kept

MAX_KEPT_TEXTS = 256  # whose meanings are kept: several rules weigh the sentences of one reply
MIN_ALIKE = 5  # letters that two forms of a word begin with
UNKNOWN = "?"  # the meaning of what may be an abbreviation
MIN_CLIPPED = 4  # letters of a word that is cut short: "doxy"

_TABLES = tomllib.loads(resources.files(__package__).joinpath("meanings.toml").read_text(encoding="utf-8"))
_ROOTS = [(f"~{name}", re.compile("|".join(parts.split()))) for name, parts in _TABLES["roots"].items()]
_PREFIXES = frozenset(
    (
        "hyper",
        "inter",
        "intra",
        "supra",
        "super",
        "under",
        "after",
        "retro",
        "trans",
        "osteo",
        "kardi",
        "neuro",
        "gastro",
        "normal",
    )
)
_ABBREVIATION = re.compile(r"(?=\w*[A-Z]\w*[A-Z])[A-Z][A-Za-z]{2,5}")
_CYRILLIC = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        [
            "a",
            "b",
            "v",
            "g",
            "d",
            "e",
            "e",
            "zh",
            "z",
            "i",
            "i",
            "k",
            "l",
            "m",
            "n",
            "o",
            "p",
            "r",
            "s",
            "t",
            "u",
            "f",
            "h",
            "c",
            "ch",
            "sh",
            "sh",
            "",
            "y",
            "",
            "e",
            "yu",
            "ya",
        ],
        strict=False,
    )
)
_ENDINGS = frozenset(
    [
        "s",
        "e",
        "es",
        "a",
        "al",
        "ally",
        "ar",
        "ary",
        "ic",
        "ical",
        "ics",
        "ous",
        "tous",
        "ously",
        "ed",
        "ing",
        "ings",
        "ion",
        "ions",
        "ate",
        "ated",
        "ates",
        "ation",
        "ations",
        "ative",
        "us",
        "um",
        "i",
        "y",
        "ies",
        "ity",
        "ism",
        "ist",
        "ia",
        "ial",
        "ian",
        "iac",
        "ly",
        "er",
        "ers",
        "ent",
        "ence",
        "ant",
        "ance",
        "ive",
        "or",
        "is",
        "os",
        "osa",
        "oso",
        "o",
        "ique",
        "iques",
        "ienne",
        "aire",
        "euse",
        "eux",
        "isch",
        "ische",
        "ischen",
        "en",
        "ern",
        "nyj",
        "nyi",
        "naya",
        "aya",
        "noe",
        "oe",
        "ii",
        "iya",
        "ya",
        "om",
        "oi",
        "m",
        "te",
        "ie",
    ]
) | {""}
_INFLAMED = frozenset(("itis", "itic", "itides", "it", "ite", "itis", "ita"))
_STATES = frozenset(("osis", "otic", "osed", "ose", "oses", "oz", "osi", "sis", "tic", "sed", "ses"))
NEGATIVE = frozenset(map(stem, ("no", "not", "without", "never", "none", "neither", "non")))
_FAMILIES = (_INFLAMED, _ENDINGS | _STATES)


def _phrases() -> Iterator[tuple[tuple[str, ...], str]]:
    """Every phrase of the tables, as stems, and the meaning that it has."""
    for number, group in enumerate(_TABLES["same"]["phrases"]):
        for phrase in group.split("|"):
            yield stems_of(phrase, {}), f"={number}"
    for number, (kind, members) in enumerate(_TABLES["kinds"].items()):
        for phrase in (kind, *members.split("|")):
            yield stems_of(phrase, {}), f"<{number}"


_NAMELESS = WORDS["idle"] | {stem("only"), stem("alone")}  # may stand beside another name of an option
_CLASS_WORDS = frozenset(map(stem, ("type", "grade", "stage", "class", "group", "phase", "zone", "category", "level")))
_MAY_FOLLOW_CLASS = (
    WORDS["idle"]
    | WORDS["vague"]
    | WORDS["sentence"]
    | WORDS["joining"]
    | WORDS["polarity"]
    | frozenset(map(stem, ("reaction", "response", "process", "mechanism", "pattern", "picture", "form", "as", "here")))
)
_JOINS = frozenset(("and", "or", "to", "through", "versus", "v"))
NUMBERED = re.compile(r"(=[a-z]+)\d+")  # "type II" means "=type2"
_BY_FIRST: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _stems, _meaning in _phrases():
    _BY_FIRST.setdefault(_stems[0], []).append((_stems, _meaning))


@kept
def roots_of(word: str) -> tuple[str, ...]:
    """The meanings of the parts of a folded word."""
    return tuple(name for name, pattern in _ROOTS if pattern.search(word))


def phrases_of(stems: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """The first and last place of phrases of the tables in a sequence of stems, and their meanings."""
    for place, first in enumerate(stems):
        for phrase, meaning in _BY_FIRST.get(first, ()):
            if tuple(stems[place : place + len(phrase)]) == phrase:
                yield place, place + len(phrase), meaning
        if first in _CLASS_WORDS and stems[place + 1 : place + 2] and stems[place + 1].isdigit():
            rest = stems[place + 2 : place + 4]
            if len(rest) < 2 or rest[0] not in _JOINS or not rest[1].isdigit():  # "types 1 and 2"
                yield place, place + 2, f"={first}{stems[place + 1]}"


@kept
def sound(word: str) -> str:
    """A word in Latin letters as it sounds in most languages: "névrite" and "neurit" begin alike."""
    word = "".join(_CYRILLIC.get(letter, letter) for letter in word.lower())
    word = "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))
    for written, heard in (("ph", "f"), ("th", "t"), ("rh", "r"), ("ae", "e"), ("oe", "e"), ("x", "ks"), ("ck", "k")):
        word = word.replace(written, heard)
    return re.sub(r"(.)\1", r"\1", word.translate(str.maketrans("cqyzw", "kkisv")))


@lru_cache(maxsize=1 << 16)
def is_same_word(one: str, other: str) -> bool:
    """Whether two words, as they sound, are forms of one: "nephritis", "nephritic", not "nephrotic"."""
    length = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if length < MIN_ALIKE:
        return False
    ends = [one[length:], other[length:]]
    for _ in range(3):  # the last letters that both share may belong to the ending
        if any(set(ends) <= {sound(ending) for ending in family} for family in _FAMILIES):
            return True
        length -= 1
        if length < MIN_ALIKE:
            return False
        ends = [one[length:], other[length:]]
    return False


@dataclass(frozen=True, slots=True, eq=False)
class OptionMeanings:
    """The stems and meanings of each option, those that no other has, and how the words sound."""

    all: list[frozenset[str]]
    telling: list[frozenset[str]]
    sounds: list[dict[str, str]]  # of each option: the sound of a telling word and its stem
    initials: dict[str, tuple[str, ...]]
    words: list[tuple[str, ...]]  # of each option, without small ones
    by_start: dict[str, list[tuple[str, str]]]  # sounds and stems of all options, by their first letters
    contained: frozenset[int]  # options all of whose meanings another has
    names: list[frozenset[str]]  # of each option: the meanings of phrases that are the whole option
    content: list[frozenset[str]]  # of each option: the meanings that must be said for all of it to be said, or none
    evidence: frozenset[str]  # meanings and beginnings of sounds of which a text that means an option has one
    decisive: frozenset[str]  # those of them without which no option is told from the others


@lru_cache(maxsize=1 << 12)
def option_meanings(options: tuple[str, ...]) -> OptionMeanings:
    tokens = option_tokens(options)
    all_meanings, sounds, names = [], [], []
    for option, stems in zip(map(plain_option, options), tokens.stems, strict=True):
        in_order = stems_of(option, {})
        if NEGATIVE.isdisjoint(stems):
            meanings = set(stems) | {meaning for _, _, meaning in phrases_of(in_order)}
            for word in (*folded_words(option), *in_order):
                meanings.update(roots_of(word))
        else:  # clauses that deny are left out: only another wording can name "no change"
            meanings = {
                meaning for start, end, meaning in phrases_of(in_order) if not NEGATIVE.isdisjoint(in_order[start:end])
            }
        names.append(
            frozenset(
                meaning
                for start, end, meaning in phrases_of(in_order)
                if meaning[0] == "=" and _NAMELESS.issuperset((*in_order[:start], *in_order[end:]))
            )
        )
        all_meanings.append(frozenset(meanings) - WORDS["idle"])
        sounds.append({sound(word): stem(fold_word(word)) for word in WORD.findall(option) if len(word) >= MIN_ALIKE})
    if not all(any(map(NUMBERED.fullmatch, of_option)) for of_option in all_meanings):
        all_meanings = [frozenset(_without_classes(of_option)) for of_option in all_meanings]
    telling = [
        frozenset(
            meaning
            for meaning in of_option
            if all(meaning not in other for other in all_meanings if other is not of_option)
        )
        for of_option in all_meanings
    ]
    for place, of_option in enumerate(telling):
        telling[place] = frozenset(word for word in of_option if word[0] in "~=<" or word in tokens.telling[place])
    words = [
        tuple(word for word in folded_words(option) if word.isalpha() and stem(word) not in WORDS["idle"])
        for option in options
    ]
    contained = frozenset(
        place
        for place, own in enumerate(all_meanings)
        if any(own <= other for other_place, other in enumerate(all_meanings) if other_place != place)
    )
    by_start: dict[str, list[tuple[str, str]]] = {}
    for sounds_of_option in sounds:
        for heard, its_stem in sounds_of_option.items():
            by_start.setdefault(heard[:MIN_ALIKE], []).append((heard, its_stem))
    content = [_content(own) if place not in contained else frozenset() for place, own in enumerate(all_meanings)]
    evidence = frozenset().union(*all_meanings) - WORDS["polarity"] | {f"^{start}" for start in by_start} | {UNKNOWN}
    needed = frozenset().union(*telling, *content) | frozenset((UNKNOWN,))
    decisive = needed | {
        f"^{heard[:MIN_ALIKE]}" for of in sounds for heard, its_stem in of.items() if its_stem in needed
    }
    return OptionMeanings(
        all_meanings, telling, sounds, tokens.initials, words, by_start, contained, names, content, evidence, decisive
    )


def _without_classes(meanings: frozenset[str]) -> Iterator[str]:
    """The meanings without "type 2": it tells options apart only if all have such a class."""
    return (meaning for meaning in meanings if not NUMBERED.fullmatch(meaning))


def _content(own: frozenset[str]) -> frozenset[str]:
    """The meanings of an option without vague ones; none if nothing else is left."""
    has_number = any(word[-1].isdigit() and word[0] not in "=<" for word in own)
    own = frozenset(word for word in own if not NUMBERED.fullmatch(word))
    content = own if has_number else own - WORDS["vague"]
    return content if content - WORDS["polarity"] else frozenset()


@kept
def _possible_meanings(unspaced: str) -> frozenset[str]:
    """Everything that a text without spaces may add to the meanings of a text."""
    stems = possible_stems(unspaced)
    if stems is None:
        return frozenset((UNKNOWN,))
    meanings = set(stems) | {meaning for first in stems for _, meaning in _BY_FIRST.get(first, ())}
    if not _CLASS_WORDS.isdisjoint(stems):
        meanings.add(UNKNOWN)
    words = WORD.findall(unspaced)
    for word in (*map(fold_word, words), *stems):
        meanings.update(roots_of(word))
    return frozenset(meanings | {f"^{sound(word)[:MIN_ALIKE]}" for word in words if len(word) >= MIN_CLIPPED})


def may_mean(text: str, options: OptionMeanings) -> bool:
    """Whether a text may have a meaning of an option: a fast test."""
    return not options.evidence.isdisjoint(chain.from_iterable(map(_possible_meanings, text.split())))


@lru_cache(maxsize=MAX_KEPT_TEXTS)
def may_decide(text: str, options: OptionMeanings) -> bool:
    """Whether a text may have a meaning that tells an option from the others: a fast test."""
    return not options.decisive.isdisjoint(chain.from_iterable(map(_possible_meanings, text.split())))


def _clipped(heard: str, sounds: list[dict[str, str]]) -> set[str]:
    """The stem of the word that is cut short, if only one option has such a word: "subscap"."""
    named = [{its_stem for of_option, its_stem in of.items() if of_option.startswith(heard)} for of in sounds]
    return set().union(*named) if sum(map(bool, named)) == 1 else set()


def _initialled(text: str, options: "OptionMeanings") -> set[str]:
    """The stems of the only option that an abbreviation at the beginning or end of a text stands for: "HCQ"."""
    words = text.split()
    meanings: set[str] = set()
    for word in {words[0].strip("(),.:;\"'"), words[-1].strip("(),.:;\"'")} if words else ():
        if not _ABBREVIATION.fullmatch(word) or word in KNOWN_NAMES:
            continue
        named = [place for place, of_option in enumerate(options.words) if _is_short_for(word.lower(), of_option)]
        if len(named) == 1:
            meanings.update(options.sounds[named[0]].values())
    return meanings


def _is_short_for(word: str, long_words: tuple[str, ...]) -> bool:
    """Whether the letters of a word, in order, are in others, and the first letter of each of these is among them."""
    if not long_words or word[0] != long_words[0][0]:
        return False
    rest = iter("".join(long_words))
    return all(letter in rest for letter in word) and all(long_word[0] in word for long_word in long_words)


@kept
def _roots_and_sounds(unspaced: str) -> tuple[frozenset[str], tuple[tuple[str, bool], ...]]:
    """The meanings of the parts of words without spaces; how each long word sounds, and whether it may be cut short."""
    roots: set[str] = set()
    sounds = []
    for word in WORD.findall(unspaced):
        of_word = roots_of(fold_word(word))
        roots.update(of_word)
        if len(word) >= MIN_CLIPPED:
            heard = sound(word)
            sounds.append((heard, len(word) >= MIN_ALIKE and heard not in _PREFIXES and not of_word))
    return frozenset(roots), tuple(sounds)


def _names_another(following: tuple[str, ...], options: OptionMeanings) -> bool:
    """Whether a class belongs to something else than the options: "type 2 diabetes" if they are reactions."""
    return any(word not in options.evidence and word not in _MAY_FOLLOW_CLASS for word in following)


@lru_cache(maxsize=MAX_KEPT_TEXTS)
def meanings_of(text: str, options: OptionMeanings) -> frozenset[str]:
    """The stems and meanings of a text, with the words of options of which it has another form."""
    in_order = stems_of(text, options.initials)
    meanings = set(in_order)
    meanings.update(
        meaning
        for _, end, meaning in phrases_of(in_order)
        if not (NUMBERED.fullmatch(meaning) and _names_another(in_order[end : end + 1], options))
    )
    meanings.update(chain.from_iterable(map(roots_of, in_order)))
    for unspaced in text.split():
        roots, sounds = _roots_and_sounds(unspaced)
        meanings |= roots
        for heard, may_be_clipped in sounds:
            if heard[:MIN_ALIKE] in options.by_start:
                if may_be_clipped:
                    meanings.update(_clipped(heard, options.sounds))
                for of_option, its_stem in options.by_start[heard[:MIN_ALIKE]]:
                    if its_stem not in meanings and is_same_word(heard, of_option):
                        meanings.add(its_stem)
    meanings.update(_initialled(text, options))
    return frozenset(meanings)
