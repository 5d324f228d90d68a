"""The words of a disease name, each in one spelling: no case, accents, possessive and plural endings; American."""

import re
from functools import lru_cache

from wardround.core.text import fold_accents

FUNCTION_WORDS = frozenset(["a", "an", "and", "at", "by", "due", "for", "from", "in", "of", "on", "the", "to", "with"])
DECIDING_WORDS = frozenset(
    [
        *("non", "not", "no", "without"),
        *("left", "right"),
        *("acute", "subacute", "chronic"),
        *("benign", "malignant"),
        *("primary", "secondary"),
        *("upper", "lower", "anterior", "posterior"),
        *("type", "grade", "stage"),
        *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    ]
)
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = [  # the first that fits; each pattern needs a word before it that is long enough to have an ending
    (re.compile(pattern), singular)
    for pattern, singular in [
        (r"(?<=\w{2}om)ata\Z", "a"),  # fibromata
        (r"(?<=\w{3}ss)es\Z", ""),  # abscesses
        (r"(?<=\w{2}[aeoy]s)es\Z(?<!eases)", "is"),  # metastases, prostheses, stenoses, paralyses
        (r"(?<=\w{3}it)ides\Z", "is"),  # vasculitides
        (r"(?<=\w{3}us)es\Z", ""),  # viruses
        (r"(?<=\w{3})ies\Z", "y"),  # neuropathies
        (r"(?<=\w{4})s\Z(?<!ss)(?<!us)(?<!is)", ""),
    ]
]
_BRITISH = [
    (re.compile(pattern), american)
    for pattern, american in [
        (r"(?<=\w\w)our\Z", "or"),
        (r"(?<=\w{3})is(?=(?:ed|ing|ation)\Z)", "iz"),
        (r"\Aleuc(?=o)", "leuk"),
        (r"sulph", "sulf"),
        (r"\A(fib|cent|tit)re\Z", r"\1er"),
    ]
]
_IRREGULAR = {  # as the endings above leave them
    plural: singular
    for singular, plural in [
        *(("appendix", "appendice"), ("bacillus", "bacilli"), ("bacterium", "bacteria"), ("bronchus", "bronchi")),
        *(("bulla", "bulle"), ("bursa", "burse"), ("calculus", "calculi"), ("coccus", "cocci"), ("cortex", "cortice")),
        *(("diverticulum", "diverticula"), ("embolus", "emboli"), ("fistula", "fistule"), ("focus", "foci")),
        *(("fungus", "fungi"), ("ganglion", "ganglia"), ("gyrus", "gyri"), ("meniscus", "menisci"), ("nevus", "nevi")),
        *(("papilla", "papille"), ("petechia", "petechie"), ("phalanx", "phalange"), ("septum", "septa")),
        *(("stria", "strie"), ("sulcus", "sulci"), ("thromboembolus", "thromboemboli"), ("thrombus", "thrombi")),
        *(("uterus", "uteri"), ("varix", "varice"), ("vertebra", "vertebre")),
    ]
}


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, in order."""
    return tuple(word for word in normalized_words(text) if word not in FUNCTION_WORDS)


def normalized_words(text: str) -> list[str]:
    """All words of a text, each in one spelling."""
    return [normalize_spelling(word) for word in _WORD.findall(fold_accents(text))]


def plain_words(text: str) -> list[str]:
    """The words of a text that carry meaning, as they are spelt."""
    return [word for word in _WORD.findall(fold_accents(text)) if word not in FUNCTION_WORDS]


@lru_cache(65_536)
def normalize_spelling(word: str) -> str:
    """A word in one spelling: without plural ending, American."""
    word = word.replace("ae", "e").replace("oe", "e")
    for ending, singular in _ENDINGS:
        shorter = ending.sub(singular, word)
        if shorter != word:
            word = shorter
            break
    for british, american in _BRITISH:
        word = british.sub(american, word)
    return _IRREGULAR.get(word, word)
