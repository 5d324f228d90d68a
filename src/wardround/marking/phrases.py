"""The phrases of languages.toml as patterns."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

from wardround.marking.named import TEXT

_TOLD = tomllib.loads(resources.files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))

_CHINESE = re.compile(r"[\u3001-\u9fff]")
LATIN = "A-Za-z\u00c0-\u024f"
OPENING = r"[\s\"'(\[{<#>|•→:=–—-]*"
CLOSING = r"[)\]}\"'>]*"


def _any(kind: str) -> str:
    """Any phrase of a kind, as whole words; Chinese ones, which are not set apart by spaces, anywhere."""
    phrases = sorted((phrase for language in _TOLD.values() for phrase in language[kind]), key=len, reverse=True)
    apart = "|".join(phrase for phrase in phrases if not _CHINESE.search(phrase))
    anywhere = "".join(f"|{phrase}" for phrase in phrases if _CHINESE.search(phrase))
    return rf"(?:(?<![{LATIN}])(?:{apart})(?![{LATIN}]){anywhere})"


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I)


_FILLED = rf"{OPENING}(?:{_any('fillers')}[\s,]*{OPENING})*(?:\d{{1,2}}[.)]\s*)?\Z"

# searched in what stands before an option, up to it
STATED = _pattern(rf"{_any('subjects')}[^\n\ue000-\uefff]{{0,80}}?(?:{_any('links')}|[:=–—]|\s-\s){_FILLED}")
ADJACENT = _pattern(rf"{_any('subjects')}[\s(\[\"'#|]*{_FILLED}")
CHOSEN = _pattern(rf"{_any('choosing')}{_FILLED}")
POINTED = _pattern(rf"{_any('pointing')}{_FILLED}")
CORRECTED = _pattern(rf"{_any('corrects')}[\s,.]*{_FILLED}")
BUT = _pattern(rf"{_any('but')}{_FILLED}")
PREDICATE = _pattern(rf"\AThe [^,.\n\ue000-\uefff]{{3,80}}{_any('links')}{_FILLED}")
WRONG = _pattern(rf"{_any('wrong')}\s+(?:\w+\s+)?{_any('subjects')}")
NOT = _pattern(_any("not"))
CLAUSE = _pattern(rf"[,;:—–]|(?<![{LATIN}])(?:but|so|hence|thus|therefore|aber|mais|pero|sino|sondern)(?![{LATIN}])")

# matched in what follows an option
JUDGED = _pattern(rf"{CLOSING}\s*{_any('judged')}")
REJECTED = _pattern(rf"{CLOSING}[ ]?(?:option |choice |answer )?{_any('rejected')}")
DONE = _pattern(rf"{CLOSING}[.,;:!?]*(?:\s|\Z)")
LINE_ENDED = _pattern(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z)")
ENDED = _pattern(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z|(?<=[.!?])\s)")
REASONED = _pattern(rf"{CLOSING}\s*(?:\Z|\n|[.,:;!?()=…–—-]|because|since|due to|rather than|given)")

# lines that say nothing of the answer
OPENS_POLITELY = _pattern(rf"(?:{_any('opens_politely')}[.!:,]*\s+)+(?=\S)")
CLOSES_POLITELY = _pattern(rf"{_any('closes_politely')}\W*")

# searched between two answers, and in the whole reply
CORRECTS = _pattern(_any("corrects"))
TURNS = _pattern(_any("turns"))
HEDGES = _pattern(_any("hedges"))

# matched between two options
OWN = _pattern(r"[)\]}\"'>.:=,(\[–—\- ]{0,6}")
OTHERWISE = _pattern(rf"[.):][ ](?:[{LATIN}]+ ){{1,3}}")
OF = _pattern(r" ?[(\[,–-]+ ?")
JOINED = _pattern(rf"{CLOSING} ?(?:[,/&+>、]? ?(?:{_any('joins')})?) ?[\"'(\[]*(?:option |choice )?")

_GOES_ON = _any("goes_on")
_SENTENCE = "the|this|that|it|there|these|he|she|we|they|i|my|his|her|no|yes"
LETTER = (
    rf"(?<![{LATIN}0-9_-])(?<![{LATIN}]')(?:[AIi](?!\s+[A-Z0-9])|a(?=\s*[.,:;)\]!?\"'])|(?<=[:=] )a|[B-HJ-Zb-hj-z])"
    rf"(?!'?[{LATIN}0-9]|-|\.[{LATIN}])"
    rf"(?! (?!(?i:{_GOES_ON}))[a-z])(?!\.\s?(?!(?i:{_GOES_ON}|(?:{_SENTENCE})\b))[a-z])"
)
# a letter that stands alone, or an option's text; only then is it looked at closely
CANDIDATE = re.compile(rf"\b(?:[A-Zb-z]|a(?! ))\b|{TEXT}", re.A)
ATOM = re.compile(rf"{LETTER}|{TEXT}(?!-?[{LATIN}0-9])(?! (?!(?i:{_GOES_ON}|{_any('kinds')}))[a-z])")
KIND = _pattern(rf" {_any('kinds')}")
