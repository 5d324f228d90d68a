"""Disease names: their words (words.py), when two of them are the same (comparison.py), and synonyms (synonyms.py)."""

from wardround.core.names.comparison import MIN_OVERLAP, NameForm, name_form, one_meaning, same_name
from wardround.core.names.synonyms import NO_SYNONYMS, Synonyms, read_name_pairs, read_synonyms, same_disease
from wardround.core.names.words import (
    DECIDING_WORDS,
    FUNCTION_WORDS,
    content_words,
    normalize_spelling,
    normalized_words,
)

__all__ = [
    "DECIDING_WORDS",
    "FUNCTION_WORDS",
    "MIN_OVERLAP",
    "NO_SYNONYMS",
    "NameForm",
    "Synonyms",
    "content_words",
    "name_form",
    "normalize_spelling",
    "normalized_words",
    "one_meaning",
    "read_name_pairs",
    "read_synonyms",
    "same_disease",
    "same_name",
]
