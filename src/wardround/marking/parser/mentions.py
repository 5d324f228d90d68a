"""Options that a reply names: by letter, by text, by both, or several at once."""

from collections.abc import Sequence
from typing import NamedTuple

from wardround.core.text import LETTERS
from wardround.marking.parser import phrases
from wardround.marking.parser.option_text import FIRST_CHARACTER, OptionForms

MAX_MENTIONS = 120  # of more than these only the first and the last are read
MAX_BEFORE = 40  # characters before a letter that may choose it
_SENTENCE_BREAKS = (". ", ". (")  # between a letter and the next sentence
LETTER, TEXT, BOTH, DIFFER, SEVERAL, NO_SUCH = "letter", "text", "both", "differ", "several", "no such option"


class Mention(NamedTuple):
    """A place that names an option, and in which way. The option is None if it is not one of the question's."""

    start: int
    end: int
    option: int | None
    kind: str


def letter_option(letter: str, options: Sequence[str], forms: OptionForms) -> tuple[int | None, str]:
    """The option of a letter, unless the letter is also another option's text."""
    letter = letter.upper()
    place = LETTERS.index(letter)
    own_text_option = forms.letters.get(letter)
    if place >= len(options):
        return (own_text_option, TEXT) if own_text_option is not None else (None, NO_SUCH)
    if own_text_option is not None and own_text_option != place:
        return None, DIFFER
    return place, LETTER


def find_mentions(text: str, options: Sequence[str], forms: OptionForms) -> list[Mention]:
    """All options named in a text whose option texts are marked (option_text.py), in order."""
    mentions: list[Mention] = []
    lower = text.lower()
    places = [match.end() - 2 for match in phrases.LONE_LETTER.finditer(f" {text}")]
    if not text.isascii() and (named := [match.start() for match in phrases.OPTION_CHARACTER.finditer(text)]):
        places = sorted(places + named)
    for place in places:
        atom = phrases.NAMED_OPTION.match(text, place)
        if atom is None:
            continue
        if atom[0].isascii():
            mention = Mention(*atom.span(), *letter_option(atom[0], options, forms))
            if mention.kind == NO_SUCH and atom[0].islower():
                continue  # a word: "A y no B"
        else:
            kind_word = phrases.KIND.match(lower, atom.end())
            mention = Mention(
                atom.start(), kind_word.end() if kind_word else atom.end(), ord(atom[0]) - FIRST_CHARACTER, TEXT
            )
        merged = _merge(mentions[-1], mention, lower) if mentions else None
        if merged is None:
            mentions.append(mention)
        else:
            mentions[-1] = merged
    if len(mentions) <= MAX_MENTIONS:
        return mentions
    return [*mentions[: MAX_MENTIONS // 4], *mentions[-3 * MAX_MENTIONS // 4 :]]


def _merge(first: Mention, second: Mention, text: str) -> Mention | None:
    """Two mentions as first, if only a joint is between them."""
    if second.start - first.end > 60:
        return None
    between = text[first.end : second.start]
    same = first.option == second.option and first.option is not None
    kind = _merged_kind(first, second, between, text)
    is_range = between in ("-", "–") and first.kind == second.kind == TEXT  # "25-50%"
    if kind is None and not same and (is_range or phrases.LIST_JOINT.fullmatch(between)):
        kind = SEVERAL
    if kind is None:
        return None
    return Mention(first.start, second.end, first.option if same else None, kind)


def _merged_kind(first: Mention, second: Mention, between: str, text: str) -> str | None:
    """The kind of a letter next to an option's text: the same option or different ones."""
    is_letter = first.kind in (LETTER, NO_SUCH)
    if first.kind == SEVERAL and second.kind == TEXT and phrases.LETTER_JOINT.fullmatch(between):
        return SEVERAL
    if is_letter and second.kind == TEXT:
        if first.option != second.option and between in _SENTENCE_BREAKS:
            before = text[max(0, first.start - MAX_BEFORE) : first.start]
            is_chosen = phrases.CHOOSES.search(before) is not None
            if is_chosen and (between == ". (" or phrases.SAID_OF_ANY.match(text, second.end)):
                return None  # "so B. The capitate (F) is aligned"; "option B. (Ganciclovir is for ...)"
            if between == ". " and phrases.SAID_OF_ANOTHER.match(text, second.end):
                return None if is_chosen else DIFFER
        if phrases.LETTER_JOINT.fullmatch(between):
            return BOTH if first.option == second.option else DIFFER
        if first.option == second.option and phrases.EQUATED.fullmatch(between):
            return BOTH
        if (
            first.option != second.option
            and phrases.PREPOSED.fullmatch(between)
            and text[second.end : second.end + 1] == ","
        ):
            before = text[max(0, first.start - MAX_BEFORE) : first.start]
            return None if phrases.CHOOSES.search(before) else DIFFER
        if first.option != second.option and phrases.OTHER_WORDS.fullmatch(between) and not phrases.NOT.search(between):
            return DIFFER
    is_same = first.kind == TEXT and second.kind == LETTER and first.option == second.option
    if is_same and phrases.UNIT_JOINT.fullmatch(between) and text[second.end : second.end + 1] in (")", "]"):
        return BOTH  # "8 mEq/L (B)"
    if first.kind == TEXT and second.kind in (LETTER, NO_SUCH) and phrases.BRACKET_JOINT.fullmatch(between):
        next_character = text[second.end : second.end + 1]
        if not next_character or next_character in ")].\n":
            return BOTH if first.option == second.option else DIFFER
    return None
