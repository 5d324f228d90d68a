"""The parsers of two papers exactly as stated, with their misreadings."""

import re
from collections.abc import Sequence

from wardround.core.text import LETTERS
from wardround.marking.parser.option_text import find_whole_text, folded_words, option_forms

OptionAndRule = tuple[int | None, str]

_SINGLE = re.compile(r"\s*([A-Za-z])\s*")
_CAPITAL = re.compile(r"[A-Z]")
_FINAL_SENTENCE = re.compile(r".*The answer is (?P<option>[^\n]*?)\.?\s*\Z", re.S)


def medq_deg_paper(reply: str, options: Sequence[str]) -> OptionAndRule:
    """A single letter, else the first capital letter of the reply, else wrong."""
    if single := _SINGLE.fullmatch(reply):
        return _legal_option(single[1].upper(), options, "single letter")
    if capital := _CAPITAL.search(reply):
        return _legal_option(capital[0], options, "first capital letter")
    return None, "no capital letter"


def clinbench_paper(reply: str, options: Sequence[str]) -> OptionAndRule:
    """The option in the sentence that must end the reply: The answer is [Option]."""
    ending = _FINAL_SENTENCE.match(reply)
    if ending is None:
        return None, "does not end with the answer"
    name = ending["option"].strip(" []()*\"'")
    letter = re.match(r"([A-Z])(?:[.):]? |[.):]?\Z)", name)
    if len(name) == 1 or (letter and name[1:].strip(".): ").casefold() == _option_text(letter[1], options)):
        return _legal_option(name[0].upper(), options, "final sentence")
    option = find_whole_text(name, folded_words(name), option_forms(options))
    return option, "final sentence" if option is not None else "no such option"


def _option_text(letter: str, options: Sequence[str]) -> str | None:
    place = LETTERS.index(letter)
    return options[place].casefold() if place < len(options) else None


def _legal_option(letter: str, options: Sequence[str], rule: str) -> OptionAndRule:
    place = LETTERS.find(letter)
    return (place, rule) if 0 <= place < len(options) else (None, f"{rule} is no option")
