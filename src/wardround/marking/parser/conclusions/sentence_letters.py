# ruff: noqa: E501 (patterns)
"""The only letter that a sentence affirms, outside of clauses that deny, suppose and compare."""

import re
from collections.abc import Sequence

from wardround.core.text import LETTERS
from wardround.marking.parser.conclusions.phrase_names import DISTANT_WORDS
from wardround.marking.parser.conclusions.standing import ENDORSED
from wardround.marking.parser.conclusions.weighing import (
    REFUTED,
    clauses_of,
    without_idioms,
)

MAX_PREFERRING = 240  # characters of a sentence that prefers a letter to others
_LETTER = re.compile(
    r"(?<![\w'./-])[(\[]?([A-J])[)\]]?(?![\w'/+-]|\.\w|\. [a-z]|:| \d| [a-z]+\b(?<! is)(?<! was)(?<! it)(?<! as)(?<! on)(?<! in)(?<! here)(?<! takes)(?<! combines)(?<! reflects)(?<! lets))"
)
_SAID_OF_LETTER = re.compile(r"\W*(?:[Oo]ption |[Cc]hoice )?[(\[]?(?P<letter>[A-J])[)\]]? (?:is|was) ")
_PREFERS = re.compile(
    r"\b(?:fits?|favou?rs?|supports?|matches|suits?|prefer|choose|pick|select|go with|opt for|settle on|answer is|points? to"
    r"|leaves(?: only)?|means|suggests?|indicates?|speaks? for|in favou?r of|consistent with|this is|it is) (?:option |answer )?"
    r"\(?([A-J])\)?(?: (?:best|better|more closely|most closely|here))?\W*\Z"
)
_NOT_LETTER = re.compile(
    r"\b(?:type|class|grade|stage|hepatitis|vitamin|factor|group|influenza|protein|kerley|figure|plan|stanford|t|b|nyha|child"
    r"|hemophilia|haemophilia|lead|panel|image|point|weber|subtype|segment|zone|level|part|napsin|category|grade)[ :-]*[(\[]?\Z",
    re.I,
)
ANY_LETTER = re.compile(
    r"(?<![\w'-])(?:A(?! [a-z])|A(?= (?:and|or|is|nor|was|versus|vs|over|but|n[iy])\b)|[B-HJ])(?![\w'-])"
)
_LETTERED_OPTION = re.compile(r"(?<![\w'])[A-J](?![\w'])")
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ORDINAL_WORD = re.compile(r"\b(?:first|second|third|fourth|fifth|last|1st|2nd|3rd)\b", re.I)
_ORDINAL = re.compile(
    r"\bthe (first|second|third|fourth|fifth|last) (?:option|choice|mechanism|statement|answer|item|group|diagnosis|entry|alternative)\b"
    r"(?! (?:is|was) (?:wrong|not|incorrect))",
    re.I,
)
_FROM_TO = re.compile(r"\bfrom (?:option |answer )?\(?[A-J]\)? to (?:option |answer )?\(?([A-J])\)?(?!\w)")
_STEP = re.compile(r"\W*(?:first|next|then)\b", re.I)


def read_sentence_letter(sentence: str, options: Sequence[str]) -> int | None:
    """The only letter that a sentence affirms."""
    if changed := _FROM_TO.search(sentence):
        return _place(changed[1], options)
    if (ordinal := _ORDINAL.search(sentence)) and not any(map(_ORDINAL_WORD.search, options)):
        is_clear = len(_ORDINAL_WORD.findall(sentence)) == 1 and not REFUTED.search(sentence[: ordinal.start()])
        is_clear = is_clear and not REFUTED.search(re.split(r"[,;]", sentence[ordinal.end() :])[0])
        place = len(options) - 1 if ordinal[1].lower() == "last" else _ORDINALS.index(ordinal[1].lower())
        return place if is_clear and place < len(options) and not DISTANT_WORDS.search(sentence) else None
    letters = list(_LETTER.finditer(sentence := without_idioms(sentence).strip()))
    if not letters or _STEP.match(sentence) or sentence[0] == "(" or DISTANT_WORDS.search(sentence):
        return None
    if len(set(ANY_LETTER.findall(sentence))) > 1:
        return _preferred_letter(sentence, options)
    if any(map(_LETTERED_OPTION.search, options)):
        return None  # "luminal B"
    if any(_NOT_LETTER.search(sentence[: letter.start()]) for letter in letters):
        return None
    named: set[str] = set()
    for clause in clauses_of(sentence):
        for letter in _LETTER.finditer(clause):
            if letter[1] != "A" or letter.start() or not clause[letter.end() :].strip(" ."):
                named.add(letter[1])
    around = (
        re.split(r"[,;]", sentence[: letters[0].start()].rstrip("( "))[-1]
        + re.split(r"[,;]", sentence[letters[-1].end() :])[0]
    )
    named.discard("I" if len(options) < len("ABCDEFGHI") else "")  # the pronoun in a reply of capitals
    return None if len(named) != 1 or REFUTED.search(around) else _place(named.pop(), options)


def says_of_letter(sentences: list[str]) -> bool:
    """Whether the last sentence only says something of a letter, after one with another: "B is milder."."""
    said = _SAID_OF_LETTER.match(sentences[-1])
    if said is None or ENDORSED.search(sentences[-1][said.end("letter") :]):
        return False
    return any(set(ANY_LETTER.findall(sentence)) - {said["letter"]} for sentence in sentences[:-1])


def _preferred_letter(sentence: str, options: Sequence[str]) -> int | None:
    """The only letter outside of clauses that deny and suppose: "although A is more frequent, the picture fits B"."""
    clauses = clauses_of(sentence)
    if any(map(_LETTERED_OPTION.search, options)) or not clauses or len(sentence) > MAX_PREFERRING:
        return None
    named = {letter for clause in clauses for letter in ANY_LETTER.findall(clause)}
    prefers = _PREFERS.search(clauses[-1])
    return _place(prefers[1], options) if prefers and named == {prefers[1]} else None


def _place(letter: str, options: Sequence[str]) -> int | None:
    place = LETTERS.index(letter)
    return place if place < len(options) else None
