# ruff: noqa: E501 (patterns)
"""The option that a statement names in the place of the answer, though no word says that it is the answer.

A reply to "which is it?" that says "P. aeruginosa is the classic organism at this age" or "the largest diameter is 3.4
cm" has chosen. A statement of what an option is, does or needs ("P. aeruginosa is resistant to ceftriaxone") has not.
Three shapes are read: an option and a verdict on it, a definite subject that is an option, and an order to do it.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from wardround.marking.parser.option_text import folded_words
from wardround.marking.parser.option_tokens import stem
from wardround.marking.parser.words.word_search import WordSearch

MAX_SUBJECT = 200  # characters before the verb
MAX_STATEMENT = 320  # characters of a sentence that may be a statement

Weigh = Callable[[str], Mapping[int, float]]  # the options that a text names
Exact = Callable[[str], int | None]  # the option that is the whole text

_PIECE = re.compile(r"[;:]\s|\s[–—-]\s")
_WITHOUT = re.compile(
    r"\b(?:without (?:an? |any |the )?|with (?:an? )?normal )[\w-]+(?: (?:function|beyond it))?", re.I
)
_BRACKETED = re.compile(r"\s*\([^()]*\)")
_LEAD = re.compile(
    r"\A\W*(?:(?:so|thus|hence|therefore|overall|in (?:short|summary|this (?:case|patient|setting))|here|now|well"
    r"|clearly|most likely|probably)\b,? )*",
    re.I,
)
# a sentence with one of these says what was, what others do, or what is true of many
_GENERAL = WordSearch(
    r"\b(?:previous\w*|prior|earlier|last (?:year|week|month)|ago|histor(?:y|ies)|family|father|mother|brother|sister|son"
    r"|many|some|most (?:patients|people|cases)|others?|sometimes|often|usually|generally|commonly|always|typically|rarely"
    r"|if|unless|whether|either|both(?! (?:positive|negative|raised|sides|drain|point))|neither|could|might|may|can|cannot|not|no|never|nor|except|unlike"
    r"|unlikely|excluded|ruled|contra-?indicated|vaccinated|complains?|denie[sd]|asked?|requested|mentioned|stopped|e\.g|question"
    r"|second|third|worst|least|alternative|differential|consider\w*|possib\w+|perhaps|maybe|trap|distractor|adverse"
    r"|side effects?|risk|(?:surgical|medical) emergency|complications?|mortality|prognosis|survival|(?:slice|section) thickness|sensitiv\w+|specific\w*"
    r"|depend\w*|or|options?|physicians?|doctors?|colleagues?|radiologists?|surgeons?|students?|believ\w+|thinks?|says?|said|suspect\w+|miss|dangerous|fear\w*|worr\w+|exclude|before|until|later|options?|ones|causes)\b|n't\b|\?"
)
_VERDICT = re.compile(
    r"(?:,[^,]{1,90},)?\s*(?:(?:is|are|would be|should be|must be|has to be|remains|seems(?: to be)?|appears(?: to be)?)"
    r"(?: (?:clearly|therefore|thus|then|indeed|now|strongly|also|still|by far|certainly|definitely|probably))*"
    r" (?:the (?!(?:reason|cause|source) (?:for|of) (?:about|up to|many|most|some|\d)|(?:most |next |second |single )*(?:common|frequent|commonest|second|only|largest|main|primary|leading|site|smallest)\b)"
    r"[\w -]{2,60}|what\b|where\b|all that\b|my\b|our\b|indicated|advised|advisable|needed|required|preferred|recommended|warranted|justified"
    r"|appropriate|(?:started|given|chosen|added|used|used here|prescribed|ordered|done|performed)(?=[.,;]|\s*\Z| (?:at once|immediately|now|today|first|here|intravenously|without delay|after))"
    r"|sufficient|enough|adequate|responsible|shown|marked|labell?ed|highlighted|pictured|involved|affected|best|first[- ]line|(?:most )?likely|probable|obvious|evident here)"
    r"|(?:best |most closely |also )?(?:accounts? for|explains?) (?:the|this|these|all|every|both)\b"
    r"|fits? (?:best|well|perfectly|this|the|these|here|everything|with)|(?:is|are) (?:clearly )?(?:present|seen|visible) (?:here|in this|on this)\b)",
    re.I,
)
_STATED = re.compile(
    r"(?:(?:is|are|would be|must be|has to be|should be)(?: (?:clearly|therefore|thus|then|most likely|probably|indeed))*"
    r"(?: (?:that of|those of|at|about|around|roughly|approximately|called|classed as|graded as|classified as|staged as|read as"
    r"|given at|formed by|caused by|due to|part of))?"
    r"|(?:appears?|seems?) to be|constitutes?|(?:meets?|fulfil?ls?) the (?:definition|criteria) (?:of|for)|measures?|means?(?: that)?|corresponds? to|represents?|amounts? to|comes? to|counts? as|belongs? to|falls? (?:in|into|under)"
    r"|indicates?(?: that)?|equals?|fits?|puts? (?:this|it|him|her) (?:at|in)|proves?|reflects?|betrays?|calls? for|demands?|deserves?|warrants?|requires?|needs?(?: to (?:be|have|undergo|get))?|tells? (?:us|me)(?: that)?|must be (?:treated|managed) with|should (?:be|have|receive|undergo|get)(?: (?:treated|managed|given|started)(?: with| on)?)?|makes? (?:this|it)|lies (?:in|at)|ends? (?:in|at)) (?:an? |the )?",
    re.I,
)
_LINKED = re.compile(
    r"(?:(?:is|are|remains|would be|must be|has to be)(?: (?:clearly|therefore|thus|indeed|considered|classed as|graded as|read as))?"
    r"|means?|corresponds? to|represents?|indicates?|counts? as|qualifies as) (?:an? |the )?",
    re.I,
)
_ORDER = re.compile(
    r"(?:i would |i'd |we should |please |just |simply )?(?:give|start|administer|prescribe|order|perform|obtain|begin|use|do|get|add|inject|infuse)\b",
    re.I,
)
_EQUALS = re.compile(r"=\s*([^=\n]{1,40}?)[\s.]*\Z")
_WHOLE_LIST = (
    (
        re.compile(
            r"\W*(?:so |thus |hence |therefore |in fact,? )?(?:all|each|every one)(?: (?:of )?(?:these|those|them|the (?:above|listed|\w+ listed"
            r"|options|choices|answers|statements|factors)|the (?:\w+ ){1,2}(?:listed|above|mentioned|given))| (?:three|four|five))\b",
            re.I,
        ),
        re.compile(r"all(?: of)? (?:the above|these|them|the options|the other options)\.?|all", re.I),
    ),
    (
        re.compile(
            r"\W*(?:so |thus |hence |therefore )?none (?:of )?(?:these|those|them|the (?:above|listed|options|choices|answers|\w+ listed))\b",
            re.I,
        ),
        re.compile(r"none(?: of)? (?:the above|these|them)\.?|none", re.I),
    ),
)
_NOT_ALL = re.compile(
    r"\b(?:except|but|apart from|other than|should be (?:considered|checked|asked|excluded|ruled|tested|looked)|possible|plausible|remain|can|could|may|might|discussed|differential)\b|n't\b|\?",
    re.I,
)
_NO_OPTION = re.compile(
    r"(?:no|without|absence of)(?: (?:evidence|signs?) of)? ([a-z][\w -]{3,40}?)(?: (?:is|are) (?:present|seen|visible|identified))?",
    re.I,
)
_SEES_NO = re.compile(
    r"\b(?:(?:do(?:es)? not|don't|doesn't|cannot|can't|did not|could not) (?:see|find|show|identify|detect|demonstrate|reveal|note|discern)(?: any| an?)?"
    r"|(?:see|sees|find|finds|shows?|there (?:is|are)|with|reveals?|demonstrates?) no|without(?: any)?|free of|\A\W*no)"
    r" ((?:[\w-]+ ?){1,4}?)(?=[.,;]|\s*\Z| (?:is|are|was|were|here|on this|in this|of note|whatsoever|anywhere|seen|visible)\b)",
    re.I,
)
_REPORTED = re.compile(
    r"\b(?:if|histor\w+|previous\w*|denies|but|however|except|unless|may|might|could|patient has no)\b|\?", re.I
)
_NAMED_NEXT = re.compile(r"\b(?:option|answer|it (?:is|must be)|comes next|is next|i'd|i would)\b", re.I)
_OF_CASE = re.compile(
    r"(?:the|this|that|these|those|it|what|here|there|his|her|their|our|my|i|we|he|she|all|both)\b", re.I
)
_APPOSED = re.compile(
    r".{25,}, (?:i\.e\.,? |that is,? |namely,? |in other words,? )?((?:(?:in|at|within) )?(?:an?|the) [\w'/-]+(?: [\w'/-]+){0,5})[\s.!]*",
    re.S,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|may|might|would|should|must|will|does|do|measures?|means?|corresponds?|represents?|proves?|reflects?|betrays?|calls?|demands?|deserves?|warrants?|tells?|constitutes?|meets?|fulfil?ls?"
    r"|amounts?|comes?|counts?|belongs?|falls?|indicates?|suggests?|equals?|fits?|explains?|accounts?|remains|seems|appears?|puts?|makes?"
    r"|lies|lie|helps?|hurts?|argues?|works?|ends?|causes?|reverses?|requires?|needs?|affects?|occurs?|leads?|shows?|gives?|uses?|treats?|prevents?"
    r"|\w{3,}(?:izes|ises|ates|uces|ifies|ails|ens|ains|erves|olds|eads|umps|ells|asks|ides)\b)\b",
    re.I,
)


def read_stated(sentence: str, weigh: Weigh, exact: Exact) -> int | None:
    """The option that a sentence states, if it names no other in the same place."""
    if len(sentence) > MAX_STATEMENT:
        return None
    outer = _BRACKETED.sub("", sentence)
    outer = _LEAD.sub("", outer, count=1)
    if (equal := _EQUALS.search(outer)) is not None:
        return _only(weigh(equal[1]))
    for main in _PIECE.split(outer):
        option = _stated_in(_WITHOUT.sub("", main), weigh, exact)
        if option is not None:
            return option
    apposed = _APPOSED.fullmatch(outer)
    if apposed and not _GENERAL.search(outer) and len(named := weigh(apposed[1])) == 1:
        return _only(named) if weigh(outer).keys() == named.keys() else None
    return None


def _stated_in(main: str, weigh: Weigh, exact: Exact) -> int | None:
    """The option that a part of a sentence states."""
    if _GENERAL.search(main):
        return None
    if ordered := _ORDER.match(main):
        return _only(weigh(re.split(r" of (?:her|his|the|their|this)\b", _up_to_reason(main[ordered.end() :]))[0]))
    for verb in _VERB.finditer(main, 0, MAX_SUBJECT):
        subject, predicate = main[: verb.start()], main[verb.start() :]
        named = weigh(subject.split(",")[0]) or weigh(subject)
        if named:
            is_judged = _VERDICT.match(predicate) and weigh(predicate).keys() <= named.keys()
            return _only(named) if is_judged else None
        if (
            " to " not in predicate
            and (linked := _LINKED.match(predicate))
            and (option := exact(_head(predicate[linked.end() :]))) is not None
        ):
            return option
        if stated := _STATED.match(predicate):
            rest = _up_to_reason(predicate[stated.end() :])
            head = _head(rest)
            if rest[len(head) :].startswith((" and ", " or ")):
                return None
            option = _only(weigh(head))
            return option if option is not None and weigh(predicate.split(", ")[0]).keys() == {option} else None
        if verb[0].lower() not in ("has", "have", "can", "could", "would", "should", "must", "will", "may", "might"):
            continue
    return None


def is_fact(sentence: str, weigh: Weigh) -> bool:
    """Whether a sentence only says something of an option, its subject: "BPH gives a smooth gland"."""
    main = _LEAD.sub("", _BRACKETED.sub("", sentence), count=1)
    verb = _VERB.search(main, 0, MAX_SUBJECT)
    if verb is None or _OF_CASE.match(main) or _NAMED_NEXT.search(main):
        return False
    subject, predicate = main[: verb.start()], main[verb.start() :]
    if _OF_CASE.match(subject.rpartition(", ")[2]):
        return False
    return bool(weigh(subject)) and _VERDICT.match(predicate) is None


def read_all_or_none(sentence: str, options: Sequence[str]) -> int | None:
    """The option "all of the above" of "all of these are risk factors", or "none of the above"."""
    for said, meant in _WHOLE_LIST:
        if said.match(sentence):
            named = [place for place, option in enumerate(options) if meant.fullmatch(option.strip())]
            return named[0] if len(named) == 1 and not _NOT_ALL.search(sentence) else None
    return None


def read_absence(sentence: str, options: Sequence[str]) -> int | None:
    """The option "no complication" of a sentence that sees none."""
    absent = {
        place: _stems(match[1])
        for place, option in enumerate(options)
        if (match := _NO_OPTION.fullmatch(option.strip()))
    }
    if len(absent) != 1:
        return None
    (place, own), *_ = absent.items()
    if _REPORTED.search(sentence):
        return None
    for denial in _SEES_NO.finditer(sentence):
        if own and own == _stems(denial[1]) - _stems("any sign evidence obvious acute visible of such a the"):
            return place
    return None


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, folded_words(text)))


def _up_to_reason(text: str) -> str:
    """A text up to its first clause, or reason."""
    return re.split(
        r"[,;:]\s| (?:because|since|as|given|which|that|when|while|but|and not|with|in view of)\b", text, maxsplit=1
    )[0]


def _head(text: str) -> str:
    """A text up to what is said of its first noun."""
    return re.split(
        r" (?:from|to|for|by|on|in|at|after|under|and|or|between|within)\b", _up_to_reason(text), maxsplit=1
    )[0]


def _only(scores: Mapping[int, float]) -> int | None:
    return next(iter(scores)) if len(scores) == 1 else None
