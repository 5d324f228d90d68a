"""The phrases of languages.toml as patterns for lower-case text, which is several times faster."""

import re
import tomllib
from itertools import chain
from importlib import resources

from wardround.marking.parser.option_text import OPTION_CHARACTERS

_LANGUAGES = tomllib.loads(resources.files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))

_UNSPACED = re.compile(r"[\u3001-\u9fff\uac00-\ud7a3]")  # Chinese, Japanese; Korean particles follow without a space
_CYRILLIC = re.compile(r"(?:\(\?:)*[\u0400-\u04ff]")
_FIRST_GROUP = re.compile(r"\(\?:([^()\[\]\\]*)\)(\??)(?![?*+{])")
LATIN = "A-Za-z\u00c0-\u024f\u0400-\u04ff"  # and Cyrillic
OPENING = r"[\s\"'(\[{<#>|•→:=–—-]*"
CLOSING = r"[)\]}\"'>]*"


def _any_of(kind: str) -> str:
    """A pattern for any phrase of a kind, as whole words; those of scripts without spaces, anywhere."""
    phrases = [phrase for language in _LANGUAGES.values() for phrase in language.get(kind, ())]
    phrases.sort(key=len, reverse=True)
    anywhere = [phrase for phrase in phrases if _UNSPACED.search(phrase)]
    cyrillic = [phrase for phrase in phrases if _CYRILLIC.match(phrase)]
    apart = [phrase for phrase in phrases if phrase not in anywhere and phrase not in cyrillic]
    if cyrillic:
        apart.append(f"(?=[\u0400-\u04ff])(?:{'|'.join(cyrillic)})")  # one test in place of many
    unspaced = f"|(?=[\u3001-\ud7a3])(?:{'|'.join(anywhere)})" if anywhere else ""
    return rf"(?:(?<![{LATIN}])(?:{_by_first_letter(apart)})(?![{LATIN}]){unspaced})"


def _by_first_letter(phrases: list[str]) -> str:
    """The phrases as alternatives, those with the same first letter together: one test in place of many."""
    rests: dict[str, list[str]] = {}
    others = []
    for phrase in chain.from_iterable(map(_without_first_group, phrases)):
        if phrase[:1].isalpha() and phrase[1:2] not in ("?", "*", "+", "{"):
            rests.setdefault(phrase[0], []).append(phrase[1:])
        else:
            others.append(phrase)
    grouped = [
        f"{letter}(?:{_by_first_letter(of_letter)})" if len(of_letter) > 1 else f"{letter}{of_letter[0]}"
        for letter, of_letter in rests.items()
    ]
    return "|".join([*grouped, *others])


def _without_first_group(phrase: str) -> list[str]:
    """A phrase that begins with alternatives, as one phrase for each."""
    group = _FIRST_GROUP.match(phrase)
    if group is None:
        return [phrase]
    return [f"{start}{phrase[group.end() :]}" for start in (*group[1].split("|"), *([""] if group[2] else []))]


_FILLED = rf"{OPENING}(?:{_any_of('fillers')}[\s,]*{OPENING})*(?:\d{{1,2}}[.)]\s*)?\Z"

# searched in the text before an option, up to it
_NAMELESS = r"[^\n\ue000-\uefff]"
BRACKETED = re.compile(rf"{_any_of('subjects')}{_NAMELESS}{{0,80}}?(?:{_any_of('links')}|:){_NAMELESS}*[(\[]\Z")
IN_BRACKETS = re.compile(rf"\({_any_of('subjects')}\s*\Z")
HEADING = re.compile(rf"(?:(?:the|my|final|correct|best) )*{_any_of('subjects')}")
STATED = re.compile(rf"{_any_of('subjects')}[^\n\ue000-\uefff]{{0,80}}?(?:{_any_of('links')}|[:=–—]|\s-\s){_FILLED}")
ADJACENT = re.compile(rf"{_any_of('subjects')}[\s(\[\"'#|]*{_FILLED}")
CHOSEN = re.compile(rf"{_any_of('choosing')}{_FILLED}")
POINTED = re.compile(rf"{_any_of('pointing')}{_FILLED}")
CORRECTED = re.compile(rf"{_any_of('corrects')}[\s,.!…]*{_FILLED}")
BUT = re.compile(rf"{_any_of('but')}{_FILLED}")
PREDICATE = re.compile(rf"\Athe [^,.\n\ue000-\uefff]{{3,80}}{_any_of('links')}{_FILLED}")
WRONG = re.compile(rf"{_any_of('wrong')}(?:\s+(?:\w+\s+){{0,2}}{_any_of('subjects')}|\s*:?\s*\Z)")
NOT = re.compile(_any_of("not"))
SUPPOSED = re.compile(rf"\W*{_any_of('supposed')}")
DISTANT = re.compile(_any_of("distant"))
RETURNS = re.compile(_any_of("returns"))
TURNS_BACK = re.compile(_any_of("turns"))
CLAUSE = re.compile(rf"[,;:—–]|(?<![{LATIN}])(?:but|so|hence|thus|therefore|aber|mais|pero|sino|sondern)(?![{LATIN}])")

# matched in the text after an option
JUDGED = re.compile(rf"{CLOSING}\s*{_any_of('judged')}")
REJECTED = re.compile(rf"{CLOSING}[ ]?(?:option |choice |answer )?{_any_of('rejected')}")
RETRACTED = re.compile(
    rf"{CLOSING}(?:[\s.,;:!…–—-]*{_any_of('retracted')}|,? (?:specifically|namely|more (?:specifically|precisely))\b"
    r"|,? (?:and|or|and/or|und|oder|et|ou|y|o)\s*\Z)"  # cut off before the other one
)
CONFIRMED = re.compile(rf"{CLOSING}\?\s*(?:yes|correct|exactly)\b")
LINE_ENDED = re.compile(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z)")
ENDED = re.compile(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z|(?<=[.!?])\s)")
REASONED = re.compile(
    rf"{CLOSING}\s*(?:\Z|\n|[.,:;!?()=…–—-]|because|since|due to|rather than|given|based on|(?:from|on) (?:the|this)\b)"
)

# before an option that is pointed to, says that it is not the answer
DOUBT = re.compile(_any_of("doubt"))

# what comes before and after a name of the answer (option_parts.py)
_SHOWN = rf"{_any_of('shown')} (?:\w+ ){{0,4}}?{_any_of('showing')}"
_FILLERS = rf"[\s:\"'(]*(?:{_any_of('fillers')}[\s,]+)*"
_STATING = rf"{_any_of('subjects')}[^\n.;:]{{0,60}}?(?:{_any_of('links')}|[:–—])"
STATING = re.compile(f"{_STATING}{_FILLERS}")
NAMING = re.compile(
    rf"(?:{_STATING}|{_any_of('choosing')}|{_any_of('pointing')}|{_SHOWN}|{_any_of('prescribing')}"
    rf"|→|⇒|[-=]>| = |: | [-–—] ){_FILLERS}"
)
DENIED = re.compile(rf"{_any_of('distant')}|\A{_any_of('supposed')}|{_any_of('wrong')}")
SAID_OF = re.compile(rf"(?<=\w)\s+{_any_of('judged')}")
DENIED_AFTER = re.compile(rf"(?<!\A){_any_of('rejected')}|\?")

# verdicts on an option (listings.py)
GOOD, BAD, FAIR = _any_of("good"), _any_of("bad"), _any_of("fair")
RANKING = re.compile(rf"{_any_of('ranking')}[^\n:]{{0,60}}(?::|\n)[\s\-•#(]*(?:1(?:st)?[.):]\s*)?(?:option )?\(?\Z")

# polite lines
ROLE = re.compile(
    rf"\W*(?:<\|?)?{_any_of('roles')}(?:\|?>)?\s*(?::|\n)\s*(?=\S)"
    r"|q(?:uestion)?:[^\n]{0,600}[?\n]\s*a(?:nswer)?:\s*(?=\S)"
)
OPENS_POLITELY = re.compile(rf"(?:{_any_of('opens_politely')}[.!:,]*\s+)+(?=\S)")
CLOSES_POLITELY = re.compile(rf"{_any_of('closes_politely')}\W*")

# searched between two answers, and in the whole reply
CORRECTS = re.compile(_any_of("corrects"))
TURNS = re.compile(_any_of("turns"))
UNDECIDED = re.compile(_any_of("undecided"))
HEDGES = re.compile(_any_of("hedges"))

# matched between two options
LETTER_JOINT = re.compile(r"[)\]}\"'>.:=,(\[–—\-/ ]{0,6}")
EQUATED = re.compile(r" (?:is|means|stands for) (?:an? |the )?")
OTHER_WORDS = re.compile(rf"[.):][ ](?:[{LATIN}]+ ){{1,3}}")
BRACKET_JOINT = re.compile(r" ?[(\[,–/-]+ ?")
LIST_JOINT = re.compile(rf"{CLOSING} ?(?:[,/&+=<>、(\[]? ?(?:{_any_of('joins')})?) ?[\"'(\[]*(?:option |choice )?")

_GOES_ON = _any_of("goes_on")
_SENTENCE = "the|this|that|it|there|these|he|she|we|they|i|my|his|her|no|yes"
_PRONOUN_VERB = r"(?:would|should|must|can(?:not|'t)?|could|do|may|might|have|was|will)\b"  # "so I would avoid D"
LETTER = (
    rf"(?<![{LATIN}0-9_-])(?<![{LATIN}]')(?<![a-z]\.)"
    rf"(?:[AIi](?! +[A-Z0-9]|(?<=[Ii]) {_PRONOUN_VERB})|a(?=\s*[.,:;)\]!?\"'])|(?<=[:=] )a|[B-HJ-Zb-hj-z])"
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
