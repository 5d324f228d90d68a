"""The options of a published choice question, and the index of the right one by its letter, text or number."""

import re
from collections.abc import Mapping, Sequence

from wardround.core.text import LETTERS, fold

NO_OPTION = ("", "nan", "none", "null")  # pandas writes these where there is no option
LETTERED = re.compile(r"^\(?([A-Z])\s*[.:)]\s+")


def options_by_letter(cells: Mapping[str, str | None], letters: Sequence[str]) -> dict[str, str]:
    """The options by letter. `None` is an option if the cell of a later letter has one, too."""
    options = {letter: (cells.get(letter) or "").strip() for letter in letters}
    while options and options[last := list(options)[-1]].lower() in NO_OPTION:
        del options[last]
    return options


def index_of_letter(options: Mapping[str, str], answer: object) -> int:
    """The index of the option with a letter. ValueError says what is wrong."""
    letter = str(answer if not isinstance(answer, list) or len(answer) != 1 else answer[0]).strip().upper()
    if letter not in options:
        raise ValueError(f"is {answer!r}; the options are {', '.join(options) or 'none'}")
    return list(options).index(letter)


def index_of_text(options: Sequence[str], answer: object) -> int:
    """The index of the option with a text. ValueError says what is wrong."""
    same = [index for index, option in enumerate(options) if fold(option) == fold(str(answer))]
    if len(same) != 1:
        raise ValueError(f"{answer!r} is {'no' if not same else 'more than one'} option")
    return same[0]


def index_of_number(options: Sequence[str], answer: object) -> int | None:
    """The answer if it is a number from 0; None if it is something else. ValueError if no option has the number."""
    if not isinstance(answer, int) or isinstance(answer, bool):
        return None
    if not 0 <= answer < len(options):
        raise ValueError(f"is option {answer}; there are 0 to {len(options) - 1}")
    return answer


def strip_letters(options: Sequence[str]) -> list[str]:
    """Options without the `A. `, `B) ` ... before them, if all have one and in order."""
    matches = [LETTERED.match(option) for option in options]
    if [match and match[1] for match in matches] != list(LETTERS[: len(options)]):
        return list(options)
    return [LETTERED.sub("", option) for option in options]
