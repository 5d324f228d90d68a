"""Searches for one of many words or phrases, regardless of case.

Each is a regular expression over lower-case text whose alternatives are grouped by their first letters: that is
several times faster than the flag IGNORECASE and plain lists of alternatives.
"""

import re

MIN_GROUPED = 4  # alternatives


class WordSearch:
    """A pattern that is searched in the lower-case form of a text; it is compiled when it is first needed."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._compiled: re.Pattern[str] | None = None

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """A match of the pattern. A lower-case text is as long as the text (clean.py)."""
        if self._compiled is None:
            self._compiled = re.compile(grouped(self._pattern))
        return self._compiled.search(text.lower(), start)


def grouped(pattern: str) -> str:
    """A pattern that matches the same texts, with the alternatives of every (?:...) grouped by first letter."""
    return _grouped_to(pattern, 0)[0]


def _grouped_to(pattern: str, place: int) -> tuple[str, int]:
    """The grouped pattern from a place to the end of its group, and that end."""
    alternatives = [""]
    while place < len(pattern) and pattern[place] != ")":
        if pattern[place] == "|":
            alternatives.append("")
            place += 1
            continue
        end = _end_of_atom(pattern, place)
        atom = pattern[place:end]
        if pattern[place] == "(":
            opening = re.match(r"\((?:\?(?:P<\w+>|<?[:=!]))?", pattern[place:])
            inside, end = _grouped_to(pattern, place + (opening.end() if opening else 1))
            atom = f"{opening[0] if opening else '('}{inside})"
            end += 1
        alternatives[-1] += atom
        place = end
    return by_first_letter(alternatives) if len(alternatives) >= MIN_GROUPED else "|".join(alternatives), place


def _end_of_atom(pattern: str, place: int) -> int:
    """The end of a character, an escaped one or a set."""
    if pattern[place] == "\\":
        return place + 2
    if pattern[place] != "[":
        return place + 1
    place += 2
    while pattern[place] != "]":
        place += 2 if pattern[place] == "\\" else 1
    return place + 1


def by_first_letter(alternatives: list[str]) -> str:
    """The alternatives, those with the same first letter together: one test in place of many."""
    rests: dict[str, list[str]] = {}
    others = []
    for alternative in alternatives:
        if alternative[:1].isalpha() and alternative[1:2] not in ("?", "*", "+", "{"):
            rests.setdefault(alternative[0], []).append(alternative[1:])
        else:
            others.append(alternative)
    groups = [
        f"{letter}(?:{by_first_letter(of_letter)})" if len(of_letter) > 1 else f"{letter}{of_letter[0]}"
        for letter, of_letter in rests.items()
    ]
    return "|".join([*groups, *others])
