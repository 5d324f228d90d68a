# ruff: noqa: E501 (patterns)
"""The option that a sentence within a reply only names, or concludes with, whatever is said of others after it.

"... anti-dsDNA. SLE. The arthritis here argues against RA": a sentence that is a name, or ends a chain of reasons with
one ("so it's a Smith's-type injury", "this is acute glaucoma", "=> CLL"). All such sentences must name one option.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from wardround.marking.parser.conclusions.weighing import MEANT_WOULD, REFUTED, WOULD
from wardround.marking.parser.words.word_search import WordSearch

MAX_NAMED_SENTENCES = 24  # of a longer reply the last are read
MAX_NAME = 90  # characters

_BEFORE_NAME = (
    r"(?:(?:most )?(?:likely|probably|obviously|clearly|simply|just|definitely|certainly|almost certainly|in fact|really|then|now)[ ,]+)*"
    r"(?:(?:an?|the|his|her|their|my) )?(?:(?:classic(?:al)?(?:ally)?|typical|textbook|straightforward|good|clear|case of|picture of|diagnosis of|presentation of"
    r"|example of|likely|probable|presumed|so-called) (?:an? )?)*"
)
_POINTS = (
    r"(?:(?:this|that|these|it|which|what we have|what he has|what she has|the (?:\w+[ -]){0,3}(?:diagnosis|picture|answer|lesion|finding|drug|test|organism|bug|nerve|vessel|structure|culprit|condition|injury|mechanism|sign|view|projection|rhythm|step|treatment|problem))"
    r"(?: (?:man|woman|patient|boy|girl|child|film|image|picture|scan|lesion|rhythm|pattern|ecg|combination|presentation|case|all|together|therefore|clearly|must|has to|would|should|can only|most likely|probably)){0,3}"
    r"(?: is| was| are|'s|s(?= )| be| means| represents| indicates| suggests| fits| equals| describes| spells| says| looks like| sounds like| favou?rs?| points to| screams)"
    r"|(?:i(?:'d| would|'m| am)?|we(?:'d| would|'re| are)?) (?:expect|suspect|call (?:it|this)|favou?r|think (?:this is|it's|of)|go (?:for|with)|say|read (?:it|this) as|diagnose|treat (?:it |this )?as|use|give|choose|worried about|dealing with|looking at|left with|think it's)"
    r"|(?:i'd |i would |you should |we should |please )?(?:give|start|prescribe|order|request|arrange|book|perform|do|use|get|treat (?:\w+ )?with|needs?|requires?)(?: (?:iv|im|oral|topical|intravenous|urgent|immediate|him|her|them))*"
    r"|(?:he|she|they|the patient) (?:has|have|had to have|needs?|should (?:have|get|receive|be given)|must have)"
    r"|(?:all|both|everything|the (?:findings|features|signs|picture|history|tests?|changes|clues)) (?:\w+ ){0,3}?(?:fits?|favou?rs?|suggests?|says?|points? to|indicates?|means?|spells?|makes?|supports?|speaks? for))"
)
_OF_CASE = r"(?:(?:this|it|that) (?:is|must be|has to be|can only be)|(?:it|that)'s|(?:the )?(?:findings|features|signs|picture|history|tests?|changes|clues) (?:\w+ )?(?:fits?|favou?rs?|suggests?|says?|points? to|indicates?|supports?|speaks? for))"
_MARKERS = r"(?:so|thus|hence|therefore|ergo|accordingly|consequently|in other words|i\.e\.|ie|that is|in short|conclusion|impression|diagnosis|dx|verdict|answer|overall|bottom line|in summary|final diagnosis|which means|meaning|leaving|which leaves|this leaves|that leaves|so that's|which is|making this|making it)"
# within a sentence, whatever stands before
_POINTING = (
    r"(?:(?:(?:characteristic|typical|diagnostic|pathognomonic|suggestive|indicative|classic) (?:of|for)"
    r"|(?:in keeping|consistent|compatible|fits?|fit in|in line|tallies) (?:best |well |perfectly )?with|speaks? for|points? (?:to|towards?|at)|pointing (?:to|towards?|at)|(?:all|both) (?:say|spell|mean|point to|favou?r|suggest|indicate|fit)"
    r"|makes? (?:this|it|him|her)|(?:this|that|which) (?:suggests?|indicates?|means|implies|reflects?|represents?|gives|defines|equals|leaves))"
    r"|(?:swap|switch|change|exchange) (?:it|this|that|him|her|the \w+) (?:for|to|with)|reach for|time for|next step is(?! to)|treatment is|management is|drug is|answer is|(?:is|as) (?:known as|called|termed|named)|proceed to|go straight (?:to|for)|goes straight to)"
)
_SIGNS = r"(?:=+>|-+>|→|⇒|∴|>|=)"
# what may stand before a name: at the beginning of a sentence, after a break within it, and anywhere
_OPENS = re.compile(
    rf"(?P<lead>\W*(?:{_MARKERS}[,:]? |{_SIGNS}\s*|(?:and|but|well|ok)[, ]+)?(?:{_POINTS} )?){_BEFORE_NAME}(?=\S)", re.I
)
_GOES_ON = re.compile(
    rf"(?:(?:(?:[,;:–—(.]|\s-)\s*(?:and |but )?{_MARKERS}[,:]? |\s{_SIGNS}\s*)(?:{_POINTS} )?"
    rf"|(?:[,;:–—]|\s-)\s(?:and )?{_OF_CASE} ){_BEFORE_NAME}(?=\S)",
    re.I,
)
_BREAKS = ",;:–—(->→⇒∴=."
_POINTED = WordSearch(
    rf"\b(?:{_POINTING}|(?P<verb>suggests?|means?|indicates?|implies|confirms?)) {_BEFORE_NAME}(?=\S)"
)
MIN_REASON = 5  # words up to a verb that points: "wheeze suggests asthma" is true of many
_LAST_NAME = re.compile(r"(?:\s[–—-]|:|\.\.\.|…)\s+(?=\S[^:–—]{1,60}\Z)")
_NAME_ENDS = re.compile(
    r"[,;:(\[—…]|\.\.|\s[-–]\s|(?<=\w\w)\.(?:\s|\Z)|!|\s(?:because|since|as|given|with|and|which|that|who|until|till|while|but|can|could|should|would|must|by|due|from|after|before|in|on|at|to|for|without|is|are|fits?|best|until|unless|plus|here|please|now|over|rather|instead|of no|at once)\b"
)
_CLAUSE_BREAK = re.compile(r"[,;:–—]\s(?=\S)")
_IS_VERB = re.compile(r"(?:is|are|can|could|should|would|must|fits?)\Z")
_ENTRY = re.compile(r"(?:[-*•]|\(?[A-Ja-j1-9][.):]) ")  # of a list
_WORD = re.compile(r"\w")
_SAYS_MORE = WordSearch(
    r"\b(?:would|could|might|may|not|no|never|however|but|though|although|unlike|whereas|while|less|unlikely|excluded|needs?|requires?|causes?|presents?|has|have|is|are|was|were|does|do|shows?|gives?|lacks?)\b|n't\b"
)
_PAST = WordSearch(
    r"\b(?:history|known(?! as)|previous|previously|past|pmh|prior|earlier|allerg\w+|family|mother|father|sister|brother|taking|takes|on treatment"
    r"|referr\w+|wrote|label\w*|initially|at first|first thought|thought|mistaken|mimic\w*|confused|students?|some|many|others?|second|third|next most|less|least|usually|often|sometimes|rarely|typically"
    r"|differential|rule out|exclude[sd]?|exclusion of|consider\w*|possible|possibly|maybe|perhaps|could|might|may|if|unless|risk|versus|vs|or|prefer\w*|instructions?|asks?|asked|question|stem|option)\b|\?"
)
_TAKES_BACK = WordSearch(
    r"\b(?:wait|scratch that|on second thoughts?|actually|correction|changed? my mind|revise|second look|i take that back|no longer)\b"
)

# the option that a few words name; alone, as a sentence, they must say all of it and nothing else
Name = Callable[[str, bool], int | None]


def read_names(sentences: Sequence[str], may_name: Callable[[str], bool], name: Name) -> int | None:
    """The option that sentences name by themselves or conclude with; None if they name none or several."""
    named: set[int] = set()
    for sentence in sentences[-MAX_NAMED_SENTENCES:]:
        if _ENTRY.match(sentence) or not may_name(sentence):
            continue
        if sentence.endswith("?"):
            return None
        options = (name(words, is_bare) for words, is_bare in _candidates(sentence, len(sentences) == 1))
        named |= {option for option in options if option is not None}
        if len(named) > 1:
            return None
    if not named or any(map(_TAKES_BACK.search, sentences)):
        return None
    return named.pop()


def _candidates(sentence: str, is_only: bool = False) -> Iterator[tuple[str, bool]]:
    """The words of a sentence that may be a name of the answer, and whether no word before them says so."""
    opening = None if is_only else _OPENS.match(sentence)  # other rules say what the only sentence opens with
    openings = [(opening.end(), opening.end("lead"), opening["lead"])] if opening else []
    if any(map(sentence[:-1].__contains__, _BREAKS)):
        breaks = (*_GOES_ON.finditer(sentence), *_LAST_NAME.finditer(sentence))
        openings += [(lead.end(), lead.end(), lead[0]) for lead in breaks]
    if pointed := _POINTED.search(sentence):
        clause = _CLAUSE_BREAK.split(sentence[: pointed.end()])[-1].replace("non-", "")
        if not pointed["verb"] or len(clause.split()) >= MIN_REASON:
            openings.append((pointed.end(), pointed.end(), clause))
    for end, end_of_lead, clause in openings:
        if (
            _PAST.search(sentence[:end])
            or REFUTED.search(clause)
            or (WOULD.search(clause) and not MEANT_WOULD.search(clause))
        ):
            continue
        rest = sentence[end : end + MAX_NAME]
        stop = _NAME_ENDS.search(rest)
        words = (rest[: stop.start()] if stop else rest).strip(" .*\"'")
        if stop and _IS_VERB.match(stop[0].strip()) and REFUTED.search(_CLAUSE_BREAK.split(rest)[0]):
            continue  # "so the Libman-Sacks form can be left out"
        is_bare = not _WORD.search(sentence[:end_of_lead])
        if stop and ((is_bare and stop[0].strip().isalpha()) or _SAYS_MORE.search(sentence[end:] if is_bare else rest)):
            continue  # "MS lesions in the cord are short"
        if words:
            yield words, is_bare
