"""The options of a published choice question and which one is right, whatever way they are told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

NOTHING = ("", "nan", "none", "null")  # what pandas writes where there is no option
LETTERED = re.compile(r"^\(?([A-Z])\s*[.:)]\s+")


def lettered(cells: Mapping[str, str | None], letters: Sequence[str]) -> dict[str, str]:
    """The options that there are, by letter. `None` is an option where every letter after it is told too."""
    told = {letter: (cells.get(letter) or "").strip() for letter in letters}
    while told and told[last := list(told)[-1]].lower() in NOTHING:
        del told[last]
    return told


def by_letter(options: Mapping[str, str], answer: object) -> int:
    """The place of the right option, named by its letter. ValueError says what is wrong."""
    letter = str(answer if not isinstance(answer, list) or len(answer) != 1 else answer[0]).strip().upper()
    if letter not in options:
        raise ValueError(f"is {answer!r}; the options are {', '.join(options) or 'none'}")
    return list(options).index(letter)


def by_text(options: Sequence[str], answer: object) -> int:
    """The place of the right option, named by its text. ValueError says what is wrong."""
    same = [place for place, option in enumerate(options) if plain(option) == plain(str(answer))]
    if len(same) != 1:
        raise ValueError(f"{answer!r} is {'no' if not same else 'more than one'} option")
    return same[0]


def plain(text: str) -> str:
    """A text for comparison: case, spaces and a full stop at the end do not count."""
    return " ".join(text.casefold().split()).rstrip(".")


def without_letters(options: Sequence[str]) -> list[str]:
    """Options without `A. `, `B) ` ... before them, where all of them have it in order."""
    found = [LETTERED.match(option) for option in options]
    if [each and each[1] for each in found] != [chr(65 + place) for place in range(len(options))]:
        return list(options)
    return [LETTERED.sub("", option) for option in options]
