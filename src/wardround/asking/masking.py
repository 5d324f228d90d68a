"""Masking: what a text could have copied from a prompt is taken out of one or the other.

Words count as the same if they begin alike, so that inflections are masked too. In a prompt function words are masked
like any other, since a quotation is known by them as well; of the similarity of two texts they say nothing.
"""

import re
from collections.abc import Iterable

WORD_PATTERN = re.compile(r"[^\W_]+")
MASK = "___"
MASKS_PATTERN = re.compile(rf"{MASK}(?:[^\w\n]*{MASK})+")
BEGINNING = 5  # letters by which words are compared
FUNCTION_WORDS = frozenset(
    WORD_PATTERN.findall(
        "a about after all also an and any are as at be because been before both but by can could did do does for from "
        "had has have he her his how if in into is it its may more most no nor not of on only or other our out over "
        "she should so such than that the their them then there these they this those to under was we were what when "
        "which while who will with would you your"
    )
)


def word_beginnings(texts: Iterable[str]) -> frozenset[str]:
    """The beginnings of all words."""
    return frozenset(word[:BEGINNING] for text in texts for word in WORD_PATTERN.findall(text.lower()))


def mask_words(text: str, words: frozenset[str]) -> str:
    """The text with a mask in place of these words, one for several in a row."""
    masked = WORD_PATTERN.sub(lambda word: MASK if word[0].lower()[:BEGINNING] in words else word[0], text)
    return MASKS_PATTERN.sub(MASK, masked)


def without_words(text: str, words: frozenset[str]) -> str:
    """The content words of a text that are not among these, in order."""
    kept = (word for word in WORD_PATTERN.findall(text.lower()) if word not in FUNCTION_WORDS)
    return " ".join(word for word in kept if word[:BEGINNING] not in words)
