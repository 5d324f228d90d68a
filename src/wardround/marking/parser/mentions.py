"""Options that a reply names: by letter, by text, by both, or several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wardround.asking.options import LETTERS
from wardround.marking.parser.option_text import FIRST, Forms
from wardround.marking.parser.phrases import ALONE, ATOM, JOINED, KIND, MARKED, NOT, OF, OTHERWISE, OWN

MOST = 120  # mentions; of more than these only the first and the last are looked at
LETTER, TEXT, BOTH, DIFFER, SEVERAL, NO_SUCH = "letter", "text", "both", "differ", "several", "no such option"


class Mention(NamedTuple):
    """Where an option is named, and how. The option is None where that is not one option of the question."""

    start: int
    end: int
    option: int | None
    how: str


def letter_option(letter: str, options: Sequence[str], forms: Forms) -> tuple[int | None, str]:
    """The option of a letter, unless the letter is also another option's text."""
    letter = letter.upper()
    place = LETTERS.index(letter)
    named = forms.letters.get(letter)
    if place >= len(options):
        return (named, TEXT) if named is not None else (None, NO_SUCH)
    if named is not None and named != place:
        return None, DIFFER
    return place, LETTER


def mentions(said: str, options: Sequence[str], forms: Forms) -> list[Mention]:
    """All options named in a reply whose options' texts are marked, in order."""
    found: list[Mention] = []
    small = said.lower()
    places = [alone.end() - 2 for alone in ALONE.finditer(f" {said}")]
    if not said.isascii():
        places = sorted(places + [text.start() for text in MARKED.finditer(said)])
    for place in places:
        atom = ATOM.match(said, place)
        if atom is None:
            continue
        if atom[0].isascii():
            option, how = letter_option(atom[0], options, forms)
            mention = Mention(*atom.span(), option, how)
        else:
            kind = KIND.match(small, atom.end())
            mention = Mention(atom.start(), kind.end() if kind else atom.end(), ord(atom[0]) - FIRST, TEXT)
        together = _together(found[-1], mention, small) if found else None
        if together is None:
            found.append(mention)
        else:
            found[-1] = together
    return found if len(found) <= MOST else [*found[: MOST // 4], *found[-3 * MOST // 4 :]]


def _together(one: Mention, other: Mention, said: str) -> Mention | None:
    """Two mentions as one, if nothing but a joint is between them."""
    if other.start - one.end > 60:
        return None
    between = said[one.end : other.start]
    same = one.option == other.option and one.option is not None
    how = _of_both(one, other, between, said)
    if how is None and not same and JOINED.fullmatch(between):
        how = SEVERAL
    if how is None:
        return None
    return Mention(one.start, other.end, one.option if same else None, how)


def _of_both(one: Mention, other: Mention, between: str, said: str) -> str | None:
    """A letter with an option's text: the same option, or not."""
    lettered = one.how in (LETTER, NO_SUCH)
    if one.how == SEVERAL and other.how == TEXT and OWN.fullmatch(between):
        return SEVERAL
    if lettered and other.how == TEXT:
        if OWN.fullmatch(between):
            return BOTH if one.option == other.option else DIFFER
        if one.option != other.option and OTHERWISE.fullmatch(between) and not NOT.search(between):
            return DIFFER
    if one.how == TEXT and other.how in (LETTER, NO_SUCH) and OF.fullmatch(between):
        closed = said[other.end : other.end + 1]
        if not closed or closed in ")].\n":
            return BOTH if one.option == other.option else DIFFER
    return None
