"""The phrases of languages.toml as patterns for lower-case text, which is several times faster."""

import re
import tomllib
from importlib import resources

from wardround.marking.parser.option_text import OPTION_CHARACTERS

_LANGUAGES = tomllib.loads(resources.files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))

_CHINESE = re.compile(r"[\u3001-\u9fff]")
LATIN = "A-Za-z\u00c0-\u024f"
OPENING = r"[\s\"'(\[{<#>|•→:=–—-]*"
CLOSING = r"[)\]}\"'>]*"


def _any_of(kind: str) -> str:
    """A pattern for any phrase of a kind, as whole words; Chinese ones, which have no spaces, anywhere."""
    phrases = sorted((phrase for language in _LANGUAGES.values() for phrase in language[kind]), key=len, reverse=True)
    apart = "|".join(phrase for phrase in phrases if not _CHINESE.search(phrase))
    anywhere = "".join(f"|{phrase}" for phrase in phrases if _CHINESE.search(phrase))
    return rf"(?:(?<![{LATIN}])(?:{apart})(?![{LATIN}]){anywhere})"


_FILLED = rf"{OPENING}(?:{_any_of('fillers')}[\s,]*{OPENING})*(?:\d{{1,2}}[.)]\s*)?\Z"

# searched in the text before an option, up to it
STATED = re.compile(rf"{_any_of('subjects')}[^\n\ue000-\uefff]{{0,80}}?(?:{_any_of('links')}|[:=–—]|\s-\s){_FILLED}")
ADJACENT = re.compile(rf"{_any_of('subjects')}[\s(\[\"'#|]*{_FILLED}")
CHOSEN = re.compile(rf"{_any_of('choosing')}{_FILLED}")
POINTED = re.compile(rf"{_any_of('pointing')}{_FILLED}")
CORRECTED = re.compile(rf"{_any_of('corrects')}[\s,.]*{_FILLED}")
BUT = re.compile(rf"{_any_of('but')}{_FILLED}")
PREDICATE = re.compile(rf"\Athe [^,.\n\ue000-\uefff]{{3,80}}{_any_of('links')}{_FILLED}")
WRONG = re.compile(rf"{_any_of('wrong')}\s+(?:\w+\s+)?{_any_of('subjects')}")
NOT = re.compile(_any_of("not"))
SUPPOSED = re.compile(rf"\s*{_any_of('supposed')}")
CLAUSE = re.compile(rf"[,;:—–]|(?<![{LATIN}])(?:but|so|hence|thus|therefore|aber|mais|pero|sino|sondern)(?![{LATIN}])")

# matched in the text after an option
JUDGED = re.compile(rf"{CLOSING}\s*{_any_of('judged')}")
REJECTED = re.compile(rf"{CLOSING}[ ]?(?:option |choice |answer )?{_any_of('rejected')}")
RETRACTED = re.compile(
    rf"{CLOSING}(?:[\s.,;:!…-]*(?:no,? |oh,? |hmm,? )?(?:wait|hold on|correction)\b"
    r"|,? (?:and|or|and/or|und|oder|et|ou|y|o)\s*\Z)"  # cut off before the other one
)
LINE_ENDED = re.compile(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z)")
ENDED = re.compile(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z|(?<=[.!?])\s)")
REASONED = re.compile(rf"{CLOSING}\s*(?:\Z|\n|[.,:;!?()=…–—-]|because|since|due to|rather than|given)")

# polite lines
OPENS_POLITELY = re.compile(rf"(?:{_any_of('opens_politely')}[.!:,]*\s+)+(?=\S)")
CLOSES_POLITELY = re.compile(rf"{_any_of('closes_politely')}\W*")

# searched between two answers, and in the whole reply
CORRECTS = re.compile(_any_of("corrects"))
TURNS = re.compile(_any_of("turns"))
HEDGES = re.compile(_any_of("hedges"))

# matched between two options
LETTER_JOINT = re.compile(r"[)\]}\"'>.:=,(\[–—\- ]{0,6}")
OTHER_WORDS = re.compile(rf"[.):][ ](?:[{LATIN}]+ ){{1,3}}")
BRACKET_JOINT = re.compile(r" ?[(\[,–-]+ ?")
LIST_JOINT = re.compile(rf"{CLOSING} ?(?:[,/&+>、(\[]? ?(?:{_any_of('joins')})?) ?[\"'(\[]*(?:option |choice )?")

_GOES_ON = _any_of("goes_on")
_SENTENCE = "the|this|that|it|there|these|he|she|we|they|i|my|his|her|no|yes"
LETTER = (
    rf"(?<![{LATIN}0-9_-])(?<![{LATIN}]')(?:[AIi](?! +[A-Z0-9])|a(?=\s*[.,:;)\]!?\"'])|(?<=[:=] )a|[B-HJ-Zb-hj-z])"
    rf"(?!'?[{LATIN}0-9]|-|\.[{LATIN}])"
    rf"(?! (?=[a-z])(?!{_GOES_ON}))(?!\.\s?(?=[a-z])(?!{_GOES_ON}|(?:{_SENTENCE})\b))"
)
# a lone letter with the character before it: a fast test before NAMED_OPTION
LONE_LETTER = re.compile(r"[^A-Za-z](?:[A-Zb-z](?![A-Za-z])|a(?![A-Za-z ]))")
OPTION_CHARACTER = re.compile(OPTION_CHARACTERS)
NAMED_OPTION = re.compile(
    rf"{LETTER}|{OPTION_CHARACTERS}(?!-?[{LATIN}0-9])(?! (?=[a-z])(?!{_GOES_ON}|{_any_of('kinds')}))"
)
KIND = re.compile(rf" {_any_of('kinds')}")
