# ruff: noqa: E501 (patterns)
"""The only letter in the place of an answer, anywhere in a reply whose other letters are only spoken of.

"... which makes B the safest choice, and anticoagulation a disaster", "pus and fever => (A). Were it C, ...": a letter
after a sign, alone as a sentence, after a verdict or in brackets at the end of a statement.
"""

import re
from collections.abc import Iterator, Sequence

from wardround.core.text import LETTERS
from wardround.marking.parser import phrases
from wardround.marking.parser.claims.placed import GOES_THROUGH
from wardround.marking.parser.words.word_search import WordSearch

MIN_LENGTH = 40  # characters of a reply with reasons: the rules for shorter ones say what is no answer
MAX_BEFORE = 160  # characters before a letter that may deny it

_LETTER = r"[(\[\"']*(?:(?:option|choice|letter|answer|statement) )?[(\[\"']*(?P<letter>[A-J])[)\]\"']*"
_ENDED = r"(?=\s*(?:[.!]+(?:\s+(?![a-z]{2})|\Z)|[.!]*\Z|\n))"
_BEGINS = r"(?:\A|(?<=[.!?…]\s)|(?<=\n))"
# what stands before and after a letter in the place of an answer
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\s(?:=+>|-+>|→|⇒|∴|:)\s*{_LETTER}{_ENDED}",
        rf"(?<=[a-z]:) {_LETTER}{_ENDED}",
        rf"{_BEGINS}{_LETTER}{_ENDED}",
        rf"{_BEGINS}(?:(?i:leaning(?: towards?)?|going (?:for|with)|ans(?:wer)?|so|hence|thus|therefore|ergo|overall|pick|my (?:pick|vote|answer|choice)|verdict|conclusion"
        rf"|choosing|picking|i(?:'d| would|'ll|'m| am)? (?:say|go(?:ing)? (?:for|with)|pick(?:ing)?|choos(?:e|ing)|vote|voting|opt(?:ing)? for)))(?:[ ,:=–-]+(?i:of the (?:\w+)|from (?:the|this) list|it(?:'s| is|s| must be)|that(?:'s| is|s)|this is|i(?:'d| would) (?:say|go (?:for|with)|pick|choose)))*[ ,:=–-]+{_LETTER}(?=[.,;!)]|\s*\Z| please| here| \()",
        rf"(?i:\b(?:makes?|making|leaves|leaving|left with|favou?rs?|supports?|described (?:in|under|by)|listed (?:in|under|as)|found (?:in|under)|given (?:in|under|as)|combination in"
        rf"|to (?:withhold|avoid|give|choose|pick|select|order|perform|do|start|exclude|suspect) is|(?:answer|choice|pick|diagnosis|one|exception|drug|test|finding|lobe|structure) is|it(?:'s|s| is| must be)|that(?:'s|s| is)|this is|i\.e\.,?|goes to|speaks? for|the latter|the former)) [*]*{_LETTER}"
        r"(?:'s)?(?=[.,;!)]|\s*\Z|\n| (?:the )?(?:best|safest|right|correct|only|most|obvious|likeliest|clear)| right\b| obviously| clearly| please| here| for me| \((?!not))",
        r"(?<![\w'./-])[(\[]?(?P<letter>[A-J])[)\]]? (?:remains(?! (?:a|possible|to|un))|applies|wins|stands|is left|it is|(?:would suffice|suffices|is right|is the one)(?! if))\b",
        rf"{_BEGINS}(?:Choice|Option|Letter|Answer) (?P<letter>[A-J])(?= \()",
        rf"[a-z]{{3,}}, (?:letter |option |choice )?(?P<letter>[A-J]){_ENDED}",
        r"\s=\s(?:option|choice|letter) (?P<letter>[A-J])(?=[.,;!)]|\s*\Z|\n)",
        rf"\w[ ][(\[](?:(?:option|choice|letter|answer) )?(?P<letter>[A-J])[)\]]{_ENDED}",
    )
)
_CLAUSE = re.compile(r"[.!?;,\n]\s|\s[–—-]\s")
_DENIES = WordSearch(
    r"\b(?:not|no|never|nothing|hardly|scarcely|neither|nor|cannot|isn't|wasn't|aren't|doesn't|don't|excluded?|excludes|against|unlike|rather than|instead of|less|least|would|could|might|may|if|were|had"
    r"|tempt\w*|thought|think|first|initially|mistake\w*|confus\w*|trap|distractor|rul(?:e|es|ed|ing) out|eliminat\w*|wrong|incorrect|false|both|either|except|see|figure|panel|such as|like|as in|than)\b|\?"
)
_KIND = re.compile(
    r"\b(?:type|class|grade|stage|hepatitis|vitamin|factor|group|influenza|protein|figure|panel|image|plan|category|part|segment|zone|level|point|lead|subtype|haemophilia|hemophilia|t|b)[ :-]*[(\[]?\Z",
    re.I,
)
_OPTION_LETTER = re.compile(r"(?<![\w'])[A-J](?![\w'])")
_LISTED = re.compile(r"(?:\A|\n)[ \t\-•*(]*[A-J][.):] |\b[B-J][.):] [A-Z]")


def read_placed_letter(text: str, options: Sequence[str]) -> int | None:
    """The option of the only letter in the place of an answer; None if there is none, or another one too."""
    letters = set(_placed_letters(text)) if len(text) >= MIN_LENGTH else set()
    if not letters or len(_LISTED.findall(text)) > 1:
        return None
    if any(not letters.isdisjoint(_OPTION_LETTER.findall(option)) for option in options):
        return None
    place = LETTERS.index(letters.pop()) if len(letters) == 1 else len(options)
    return place if place < len(options) else None


def _placed_letters(text: str) -> Iterator[str]:
    for pattern in _PLACES:
        for placed in pattern.finditer(text):
            start = placed.start("letter")
            before = text[max(0, start - MAX_BEFORE) : start]
            if not (_is_denied(before) or phrases.RETRACTED.match(text.lower(), placed.end("letter"))):
                yield placed["letter"]


def _is_denied(before: str) -> bool:
    """Whether the words before a letter deny it, report it, or make it another thing's: "type A"."""
    head, _, clause = _CLAUSE.split(before)[-1].rpartition(":")
    if (
        GOES_THROUGH.search(head.lower())
        or _DENIES.search(clause)
        or _KIND.search(before)
        or before.rstrip("([\"' ").count("(") > before.count(")")
    ):
        return True
    lower = before.lower()
    return phrases.DISTANT.search(lower) is not None or phrases.WRONG.search(lower) is not None
