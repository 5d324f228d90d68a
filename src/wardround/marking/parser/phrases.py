# ruff: noqa: E501 (patterns)
"""The phrases of languages.toml as patterns for lower-case text, which is several times faster."""

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from importlib import resources
from typing import Any, cast

from wardround.marking.parser.option_text import OPTION_CHARACTERS
from wardround.marking.parser.words.word_search import by_first_letter

_LANGUAGES = tomllib.loads(resources.files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))

_UNSPACED = re.compile(r"[\u3001-\u9fff\uac00-\ud7a3]")  # Chinese, Japanese; Korean particles follow without a space
_CYRILLIC = re.compile(r"(?:\(\?:)*[\u0400-\u0dff]")  # and Arabic and Devanagari
LATIN = "A-Za-z\u00c0-\u024f\u0400-\u04ff"  # and Cyrillic
OPENING = r"[\s\"'(\[{<#>|•→:=–—-]*"
CLOSING = r"[)\]}\"'>]*"


def _any_of(kind: str, of_ascii: bool = False) -> str:
    """A pattern for any phrase of a kind, as whole words; those of scripts without spaces, anywhere.

    `of_ascii`: those that ASCII text may contain.
    """
    phrases = [phrase for language in _LANGUAGES.values() for phrase in language.get(kind, ())]
    phrases.sort(key=len, reverse=True)
    anywhere = [phrase for phrase in phrases if _UNSPACED.search(phrase)]
    cyrillic = [phrase for phrase in phrases if _CYRILLIC.match(phrase)]
    apart = [phrase for phrase in phrases if phrase not in anywhere and phrase not in cyrillic]
    if cyrillic and not of_ascii:
        apart.append(f"(?=[\u0400-\u0dff])(?:{'|'.join(cyrillic)})")  # one test in place of many
    unspaced = f"|(?=[\u3001-\ud7a3])(?:{'|'.join(anywhere)})" if anywhere and not of_ascii else ""
    letters = "A-Za-z" if of_ascii else LATIN
    return rf"(?:(?<![{letters}])(?:{by_first_letter(apart)})(?![{letters}]){unspaced})"


class LatePattern:
    """A pattern that is compiled when it is first used: most replies need few of them."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._text)
        for method in ("search", "match", "fullmatch", "finditer", "split"):
            setattr(self, method, getattr(compiled, method))  # found from now on, without this function
        return getattr(compiled, name)


def _pattern(text: str) -> re.Pattern[str]:
    return cast("re.Pattern[str]", LatePattern(text))


class PhraseSearch:
    """A pattern, and its faster twin for ASCII text; each is compiled when it is first needed."""

    def __init__(self, template: Callable[[Callable[[str], str]], str]) -> None:
        self._template = template

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self._template(_any_of))

    @cached_property
    def of_ascii(self) -> re.Pattern[str]:
        return re.compile(self._template(partial(_any_of, of_ascii=True)), re.ASCII)

    def search(self, text: str) -> re.Match[str] | None:
        return (self.of_ascii if text.isascii() else self.pattern).search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return (self.of_ascii if text.isascii() else self.pattern).finditer(text)


def _filled(any_of: Callable[[str], str]) -> str:
    """A pattern for what may stand between a phrase and the option after it."""
    return rf"{OPENING}(?:{any_of('fillers')}[\s,]*{OPENING})*(?:\d{{1,2}}[.)]\s*)?\Z"


_FILLED = _filled(_any_of)

# searched in the text before an option, up to it
_NAMELESS = r"[^\n\ue000-\uefff]"
BRACKETED = _pattern(rf"{_any_of('subjects')}{_NAMELESS}{{0,80}}?(?:{_any_of('links')}|:){_NAMELESS}*[(\[]\Z")
IN_BRACKETS = _pattern(rf"\({_any_of('subjects')}\s*\Z")
HEADING = _pattern(rf"(?:(?:the|my|final|correct|best) )*{_any_of('subjects')}")
STATED = PhraseSearch(
    lambda any_of: (
        rf"{any_of('subjects')}[^\n\ue000-\uefff]{{0,80}}?(?:{any_of('links')}|[:=–—→⇒▸➜]|\s-\s){_filled(any_of)}"
    )
)
ADJACENT = PhraseSearch(lambda any_of: rf"{any_of('subjects')}[\s(\[\]\"'#|]*{_filled(any_of)}")
CHOSEN = PhraseSearch(lambda any_of: any_of("choosing") + _filled(any_of))
POINTED = PhraseSearch(lambda any_of: any_of("pointing") + _filled(any_of))
CORRECTED = PhraseSearch(lambda any_of: rf"{any_of('corrects')}[\s,.!…]*{_filled(any_of)}")
BUT = _pattern(rf"{_any_of('but')}{_FILLED}")
PREDICATE = _pattern(rf"\A(?:the|this) [^,.\n\ue000-\uefff]{{3,80}}{_any_of('links')}{_FILLED}")
WRONG = PhraseSearch(
    lambda any_of: (
        rf"{any_of('wrong')}(?:\s+(?:\w+\s+){{0,2}}{any_of('subjects')}|(?:\s+(?:is|was|would be))?\s*:?\s*\Z)"
    )
)
NOT = PhraseSearch(lambda any_of: any_of("not"))
SUPPOSED = _pattern(rf"\W*{_any_of('supposed')}")
DISTANT = PhraseSearch(lambda any_of: any_of("distant"))
RETURNS = _pattern(_any_of("returns"))
TURNS_BACK = _pattern(_any_of("turns"))
CLAUSE = _pattern(
    rf"[,;:—–]|(?<![{LATIN}])(?:but|so|hence|thus|therefore|aber|mais|pero|sino|sondern|and(?= (?:i'd |i would )?(?:rather |instead )?(?:go|choose|pick|opt|select)\b))(?![{LATIN}])"
)

# matched in the text after an option
JUDGED = _pattern(rf"{CLOSING}\s*{_any_of('judged')}")
CONCLUDED = _pattern(
    r",? (?:and |so |which )(?:that |this |it )?(?:is|'s|was|would be|corresponds to) (?:therefore |thus )?"
    r"(?:the |my |our )?(?:one to (?:select|choose|pick|mark)"
    r"|(?:correct |right |best |final )?(?:answer|choice|pick)\b)"
)
REJECTED = _pattern(rf"{CLOSING}[ ]?(?:option |choice |answer )?{_any_of('rejected')}")
RETRACTED = _pattern(
    rf"{CLOSING}(?:[\s.,;:!…–—-]*{_any_of('retracted')}|,? (?:specifically|namely|more (?:specifically|precisely))\b"
    r"|,? (?:and|or|and/or|und|oder|et|ou|y|o)\s*\Z"  # cut off before the other one
    r"|[.!]\s+(?:it|this|that)(?: option| answer| choice)? (?:is|was|would be) (?:\w+ly )?(?:wrong|incorrect|false)\b)"
)
CONFIRMED = _pattern(rf"{CLOSING}\?\s*(?:yes|correct|exactly)\b")
LINE_ENDED = _pattern(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z)")
ENDED = _pattern(rf"{CLOSING}[.!?]*{CLOSING}\s*(?:\n|\Z|(?<=[.!?])\s)")
REASONED = _pattern(
    rf"{CLOSING}\s*(?:\Z|\n|[.,:;!?()=…–—-]|because|since|due to|rather than|given|based on|(?:from|on) (?:the|this)\b"
    r"|over (?:option )?(?:[b-h]\b|a[.,)]))"
)

# before an option that is pointed to, says that it is not the answer
DOUBT = PhraseSearch(lambda any_of: any_of("doubt"))


# what comes before and after a name of the answer (option_parts.py)
_STARTS = rf"(?:(?<![{LATIN}])|(?=[\u3001-\ud7a3]))"  # where any phrase does: one test in place of many


def _stating(any_of: Callable[[str], str]) -> str:
    return rf"{any_of('subjects')}[^\n.;:]{{0,60}}?(?:{any_of('links')}|[:–—])"


def _fillers(any_of: Callable[[str], str]) -> str:
    return rf"[\s:\"'(]*(?:{any_of('fillers')}[\s,]+)*"


STATING = PhraseSearch(lambda any_of: _stating(any_of) + _fillers(any_of))
NAMING = PhraseSearch(
    lambda any_of: (
        rf"(?:{_STARTS}(?:{_stating(any_of)}|{any_of('choosing')}|{any_of('pointing')}"
        rf"|{any_of('shown')} (?:\w+ ){{0,4}}?{any_of('showing')}|{any_of('prescribing')})"
        rf"|→|⇒|[-=]>| = |: | [-–—] ){_fillers(any_of)}"
    )
)
DENIED = PhraseSearch(lambda any_of: rf"{any_of('distant')}|\A{any_of('supposed')}|{any_of('wrong')}")
SAID_OF = PhraseSearch(lambda any_of: rf"(?<=\w)\s+{any_of('judged')}")
DENIED_AFTER = PhraseSearch(lambda any_of: rf"(?<!\A){any_of('rejected')}|\?")

# verdicts on an option (listings.py)
GOOD, BAD, FAIR = _any_of("good"), _any_of("bad"), _any_of("fair")
RANKING = _pattern(rf"{_any_of('ranking')}[^\n:]{{0,60}}(?::|\n)[\s\-•#(]*(?:1(?:st)?[.):]\s*)?(?:option )?\(?\Z")

# polite lines
ROLE = _pattern(
    rf"\W*(?:<\|?)?{_any_of('roles')}(?:\|?>)?\s*(?::|\n)\s*(?=\S)"
    r"|(?:q:[^\n]{0,600}[?\n]\s*a|question:[^\n]{0,600}[?\n]\s*answer):\s*(?=\S)"
)
OPENS_POLITELY = _pattern(rf"(?:{_any_of('opens_politely')}[.!:,]*\s+)+(?=\S)")
CLOSES_POLITELY = _pattern(rf"{_any_of('closes_politely')}\W*")

# searched between two answers, and in the whole reply
CORRECTS = _pattern(_any_of("corrects"))
TURNS = _pattern(_any_of("turns"))
UNDECIDED = _pattern(_any_of("undecided"))
HEDGES = _pattern(_any_of("hedges"))

# matched between two options
LETTER_JOINT = _pattern(r"[)\]}\"'>.:=,(\[–—\-/| ]{0,6}")
EQUATED = _pattern(r" (?:is|means|stands for) (?:an? |the )?")
OTHER_WORDS = _pattern(
    rf"[.):][ ](?:(?!(?:before|after|than|over|without|from|against|always|never|causes?|by|instead|for|to)\b)[{LATIN}]+ ){{1,3}}"
)
BRACKET_JOINT = _pattern(r" ?[(\[,–/-]+ ?")
UNIT_JOINT = _pattern(r" [^.,;:\n()]{1,14} ?[(\[]")
# "I would answer C. Retinoblastoma is the one not to miss, yet ..."
CHOOSES = _pattern(
    r"(?:\b(?:choose|pick|select|answer|go with|go for|opt for|say|take|(?:answer|choice|option|pick|letter) (?:is|would be)"
    r"(?: (?:clearly|therefore|thus|then|definitely|obviously|probably|indeed|most likely))?|(?:matches|fits|supports|favou?rs|points to|consistent with)"
    r"|option)[ :]+|[,;.] (?:so|hence|thus|therefore|i\.e\.),? )(?:option )?\(?\Z"
)
PREPOSED = _pattern(r"\. (?:in|with|for|unlike) (?:an? |the )?")  # "This matches A. In cecal volvulus, the loop ..."
SAID_OF_ANY = _pattern(
    r"(?! (?:best )?(?:fits|explains|matches|accounts)\b)(?![^.!?\n]*\b(?:as (?:here|in this|in the)|this patient)\b)"
    r"%?(?: \([a-j]\))?(?: in [a-z]| [a-z]+(?: [a-z]+)?)? (?!(?:is|was|would be|remains) (?:the |my )?(?:most likely|likely|correct|right|best|diagnosis|answer)\b"
    r"|(?:best )?(?:fits|explains|matches|accounts)\b)"
    r"(?:is|are|was|were|has|have|would|could|might|may|can|does|do|also|only|[a-z]{2,}s|comes?|came)\b"
)
SAID_OF_ANOTHER = _pattern(
    r" (?!(?:is|was|would be|remains) (?:the |my )?(?:most likely|likely|correct|right|best|diagnosis|answer)\b"
    r"|(?:best )?(?:fits|explains|matches|accounts)\b)"
    r"(?:(?:would|could|might|may|can|does|do|lacks?|needs?|requires?|takes?|has no|have no|also)\b"
    r"|[a-z]+\b[^.!?\n]*(?:\b(?:not|no|never|yet|but|however|though|while|less|unlikely|rather|only|against|without|instead"
    r"|wrong|incorrect|excluded|ruled|absent|rare|later|slow|another|different|distractor|too|unlike|reserved|contraindicated"
    r"|second-line|neither|nor|none)\b|n't\b))"
)
LIST_JOINT = _pattern(rf"{CLOSING} ?(?:[,/&+=<>、(\[]? ?(?:{_any_of('joins')})?) ?[\"'(\[]*(?:option |choice )?")

_GOES_ON = _any_of("goes_on")
_SENTENCE = "the|this|that|it|there|these|he|she|we|they|i|my|his|her|no|yes"
_PRONOUN_VERB = r"(?:would|should|must|can(?:not|'t)?|could|do|may|might|have|was|will)\b"  # "so I would avoid D"
LETTER = (
    rf"(?<![{LATIN}0-9_-])(?<![{LATIN}]')(?<![a-z]\.)"
    rf"(?:[AIi](?! +[A-Z0-9]|(?<=[Ii]) {_PRONOUN_VERB})|a(?=\s*[.,:;)\]!?\"'])"
    rf"|(?<=[:=] )a|(?<=choice )a|(?<=option )a|[B-HJ-Zb-hj-z])"
    rf"(?!'?[{LATIN}0-9]|-|\.[{LATIN}])"
    rf"(?! (?=[a-z])(?!{_GOES_ON}))(?!\.\s?(?=[a-z])(?!{_GOES_ON}|(?:{_SENTENCE})\b))"
)
# a lone letter with the character before it: a fast test before NAMED_OPTION
LONE_LETTER = _pattern(r"[^A-Za-z][A-Za-z](?![A-Za-z])(?<!a(?= ))")
OPTION_CHARACTER = _pattern(OPTION_CHARACTERS)
NAMED_OPTION = _pattern(
    rf"{LETTER}|{OPTION_CHARACTERS}(?!-?[{LATIN}0-9])(?! (?=[a-z])(?!{_GOES_ON}|{_any_of('kinds')}))"
)
KIND = _pattern(rf" {_any_of('kinds')}")
