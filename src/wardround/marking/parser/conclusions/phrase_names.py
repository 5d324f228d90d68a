# ruff: noqa: E501 (patterns)
"""The option that a few words name: all that it says, in its words or in others that mean the same."""

import re
from collections.abc import Sequence

from wardround.marking.parser.conclusions.meanings import (
    OptionMeanings,
    meanings_of,
    phrases_of,
    roots_of,
)
from wardround.marking.parser.conclusions.weighing import (
    MIN_EVIDENCE,
    REFUTED,
    weigh,
)
from wardround.marking.parser.loose import read_part
from wardround.marking.parser.option_text import folded_words, option_forms
from wardround.marking.parser.option_tokens import WORDS, option_tokens, stems_of
from wardround.marking.parser.words.word_search import WordSearch

MAX_NAME_WORDS = 6  # of another name of an option
MAX_FOCUS_WORDS = 9  # after a verb
VERB = WordSearch(
    r"\b(?:is|are|was|were|has|have|had|can|do|does|did|will|shows?|causes?|occurs?|affects?|treats?|includes?|requires?|suggests?|indicates?|supports?|means?|gives?|needs?|looks?|makes?|explains?|comes?|presents?|points?|\w+(?:es|ed))\b"
)
DISTANT_WORDS = WordSearch(
    r"\b(?:patients|least|worst|weakest|poorest|popular|distractor|users?|you|asked|format|e\.g|for example|example|compare|reply|respond"
    r"|father|mother|brother|sister|family|recall|features of|treat as|treated as|worked up|(?:done|used|ordered|made) to look for|diagnos(?:e|ing)|after|before|allergic|nurses|compared|missing from"
    r"|doctor|physician|possible|possibly|perhaps|maybe|popular|trap|instruct\w+|protocol|says?|prefer\w*|used to|merely|rarely)\b"
)
_LONG_WORD = re.compile(r"[A-Za-z]{3}")
_ABBREVIATED = re.compile(r"[A-Z][A-Za-z]?[A-Z]{1,4}s?")
_GENERAL_NOUNS = frozenset(
    ("disease", "obstruction", "stenosis", "impairment", "change", "lesion", "finding", "regurgitation", "hypertension")
)
_HEAD_END = re.compile(r"\s*[(,;:–—]|\s-\s|\s(?=(?:because|since|as|due|given|with|for|in|under|until)\b)")


def whole_option(text: str, options: Sequence[str]) -> int | None:
    """The option that is a whole text, or a text with a general noun after it: "severe obstruction"."""
    forms = option_forms(options)
    words = folded_words(text)
    option = forms.options.get(words)
    if option is None and len(words) > 1 and words[-1] in _GENERAL_NOUNS:
        option = forms.options.get(words[:-1])
    return option


def named_first(sentence: str, meanings: OptionMeanings) -> int | None:
    """The option that a sentence opens with, in words that say nothing else: "PTU (first trimester)"."""
    head = _HEAD_END.split(sentence, maxsplit=1)[0].strip(" .!\"'")
    words = head.split()
    if (
        not words
        or len(words) > MAX_NAME_WORDS
        or VERB.search(head)
        or DISTANT_WORDS.search(head)
        or REFUTED.search(head)
    ):
        return None
    scores = weigh(head, meanings)
    if len(scores) != 1:
        return None
    option = next(iter(scores))
    said, own = meanings_of(head, meanings), meanings.all[option]
    if said & WORDS["polarity"] != own & WORDS["polarity"] or weigh(sentence, meanings, True).keys() - {option}:
        return None
    return option if _says_the_same(head, option, meanings) else None


def named_by(words: str, is_bare: bool, meanings: OptionMeanings, options: Sequence[str]) -> int | None:
    """The option that a few words name; `is_bare`: they must say all of it, because no word says that it is chosen."""
    if (option := _same_stems(words, options)) is not None:
        return option
    if is_bare:
        return named_first(words, meanings)
    if len(words.split()) > MAX_NAME_WORDS or VERB.search(words) or DISTANT_WORDS.search(words):
        return None
    scores = {option: weight for option, weight in weigh(words, meanings).items() if weight >= MIN_EVIDENCE}
    if scores or REFUTED.search(words) or not _LONG_WORD.search(words):
        return next(iter(scores)) if len(scores) == 1 else None
    return read_part(words, folded_words(words), options)


def named_in_focus(words: str, meanings: OptionMeanings, options: Sequence[str]) -> int | None:
    """The option that the words after a verb name; participles are no verbs there: "a thick-walled cavity"."""
    if len(words.split()) > MAX_FOCUS_WORDS or DISTANT_WORDS.search(words):
        return None
    scores = {option: weight for option, weight in weigh(words, meanings).items() if weight >= MIN_EVIDENCE}
    return next(iter(scores)) if len(scores) == 1 else named_by(words, False, meanings, options)


def _same_stems(words: str, options: Sequence[str]) -> int | None:
    """The only option with the same words, long names written out: "HEV" is "Hepatitis E"."""
    tokens = option_tokens(tuple(options))
    said = frozenset(stems_of(words, tokens.initials)) - WORDS["idle"]
    if said <= WORDS["polarity"] | WORDS["vague"]:
        return None
    named = [place for place, stems in enumerate(tokens.stems) if stems - WORDS["idle"] == said]
    return named[0] if len(named) == 1 else None


def _says_the_same(name: str, option: int, meanings: OptionMeanings) -> bool:
    """Whether a name says all that an option says, and no more."""
    words = stems_of(name, meanings.initials)
    if len(words) == 1 and words[0] == name.lower() and _ABBREVIATED.fullmatch(name):
        return True  # "PTU"
    said, own = meanings_of(name, meanings), meanings.all[option]
    covered: set[int] = set()
    said_otherwise: set[int] = set()
    for start, end, meaning in phrases_of(words):
        if meaning in meanings.names[option]:
            covered.update(range(start, end))
        elif meaning in own:
            said_otherwise.update(range(start, end))
    rest = [word for place, word in enumerate(words) if place not in covered | said_otherwise]
    allowed = own | WORDS["idle"] | WORDS["added"] | WORDS["vague"]
    if any(word not in allowed and not (roots_of(word) and own.issuperset(roots_of(word))) for word in rest):
        return False
    content = {word for word in own if word[0] not in "~=<"} - WORDS["vague"] - WORDS["joining"]
    return bool(covered) or (
        option not in meanings.contained
        and all(word in said or (roots_of(word) and said.issuperset(roots_of(word))) for word in content)
    )
