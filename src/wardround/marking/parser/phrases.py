"""The phrases of languages.toml as patterns, all to be used on small letters: that is several times faster."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

from wardround.marking.parser.option_text import TEXT

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


_FILLED = rf"{OPENING}(?:{_any('fillers')}[\s,]*{OPENING})*(?:\d{{1,2}}[.)]\s*)?\Z"

# searched in what stands before an option, up to it
STATED = re.compile(rf"{_any('subjects')}[^\n\ue000-\uefff]{{0,80}}?(?:{_any('links')}|[:=–—]|\s-\s){_FILLED}")
ADJACENT = re.compile(rf"{_any('subjects')}[\s(\[\"'#|]*{_FILLED}")
CHOSEN = re.compile(rf"{_any('choosing')}{_FILLED}")
POINTED = re.compile(rf"{_any('pointing')}{_FILLED}")
CORRECTED = re.compile(rf"{_any('corrects')}[\s,.]*{_FILLED}")
BUT = re.compile(rf"{_any('but')}{_FILLED}")
PREDICATE = re.compile(rf"\Athe [^,.\n\ue000-\uefff]{{3,80}}{_any('links')}{_FILLED}")
WRONG = re.compile(rf"{_any('wrong')}\s+(?:\w+\s+)?{_any('subjects')}")
NOT = re.compile(_any("not"))
SUPPOSED = re.compile(rf"\s*{_any('supposed')}")
CLAUSE = re.compile(rf"[,;:—–]|(?<![{LATIN}])(?:but|so|hence|thus|therefore|aber|mais|pero|sino|sondern)(?![{LATIN}])")

# matched in what follows an option
JUDGED = re.compile(rf"{CLOSING}\s*{_any('judged')}")
REJECTED = re.compile(rf"{CLOSING}[ ]?(?:option |choice |answer )?{_any('rejected')}")
UNDONE = re.compile(
    rf"{CLOSING}(?:[\s.,;:!…-]*(?:no,? |oh,? |hmm,? )?(?:wait|hold on|correction)\b"
    r"|,? (?:and|or|and/or|und|oder|et|ou|y|o)\s*\Z)"  # cut off before the other one
)
DONE = re.compile(rf"{CLOSING}[.,;:!?]*(?:\s|\Z)")
LINE_ENDED = re.compile(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z)")
ENDED = re.compile(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z|(?<=[.!?])\s)")
REASONED = re.compile(rf"{CLOSING}\s*(?:\Z|\n|[.,:;!?()=…–—-]|because|since|due to|rather than|given)")

# lines that say nothing of the answer
OPENS_POLITELY = re.compile(rf"(?:{_any('opens_politely')}[.!:,]*\s+)+(?=\S)")
CLOSES_POLITELY = re.compile(rf"{_any('closes_politely')}\W*")

# searched between two answers, and in the whole reply
CORRECTS = re.compile(_any("corrects"))
TURNS = re.compile(_any("turns"))
HEDGES = re.compile(_any("hedges"))

# matched between two options
OWN = re.compile(r"[)\]}\"'>.:=,(\[–—\- ]{0,6}")
OTHERWISE = re.compile(rf"[.):][ ](?:[{LATIN}]+ ){{1,3}}")
OF = re.compile(r" ?[(\[,–-]+ ?")
JOINED = re.compile(rf"{CLOSING} ?(?:[,/&+>、(\[]? ?(?:{_any('joins')})?) ?[\"'(\[]*(?:option |choice )?")

_GOES_ON = _any("goes_on")
_SENTENCE = "the|this|that|it|there|these|he|she|we|they|i|my|his|her|no|yes"
LETTER = (
    rf"(?<![{LATIN}0-9_-])(?<![{LATIN}]')(?:[AIi](?! +[A-Z0-9])|a(?=\s*[.,:;)\]!?\"'])|(?<=[:=] )a|[B-HJ-Zb-hj-z])"
    rf"(?!'?[{LATIN}0-9]|-|\.[{LATIN}])"
    rf"(?! (?=[a-z])(?!{_GOES_ON}))(?!\.\s?(?=[a-z])(?!{_GOES_ON}|(?:{_SENTENCE})\b))"
)
# a letter that stands alone, with the character before it: only then is it looked at closely
ALONE = re.compile(r"[^A-Za-z](?:[A-Zb-z](?![A-Za-z])|a(?![A-Za-z ]))")
MARKED = re.compile(TEXT)
ATOM = re.compile(rf"{LETTER}|{TEXT}(?!-?[{LATIN}0-9])(?! (?=[a-z])(?!{_GOES_ON}|{_any('kinds')}))")
KIND = re.compile(rf" {_any('kinds')}")
