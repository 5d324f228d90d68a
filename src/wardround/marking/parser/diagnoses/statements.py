"""Sentences that state a diagnosis: "the most likely diagnosis is X", "of these, X is the most likely"."""

import re
from typing import NamedTuple

from wardround.marking.parser.diagnoses.labels import phrases
from wardround.marking.parser.diagnoses.names import cut_reason, is_sentence, split_names

# how firmly a diagnosis is stated
HINTED, WEAK, ASIDE, LIKELY, FINAL = range(5)

MAX_SENTENCE = 500  # characters

_SENTENCE_END = re.compile(r"(?<=[^\s.]{3})[.!?;]+(?:\s+|\Z)|(?<=[A-Z]{2})\.\s+(?=[A-Z])|\n")
_CLAUSE_END = re.compile(
    r",?\s+(?:(?:even )?though|although|while|whereas)\s+|[,;]?\s+(?<!not )(?:but|however),?\s+(?!rather|instead)|:\s+(?=the\b)", re.I
)
_NOT_BUT = re.compile(r"\bnot\s+[^,;.]{2,60}?,?\s+(?:but|rather)(?: rather| instead)?\s+", re.I)
_SUPPOSED = re.compile(
    r"(?:if|unless|were|had|should|suppose|assuming|in case)\b(?!.*\bi had to\b)"
    r"|.*\b(?:some|many|others|one|people|clinicians|students)(?: \w+)? (?:might|may|would|could|will)?\s?(?:say|think|argue|suspect|consider)\b"
    r"|.*\b(?:was|were|been) (?:previously |initially |first )?diagnosed with\b|.*\bhistory of\b(?!.*\bdiagnosis\b)",
    re.I,
)
_SUBJECT = (
    r"(?:diagnos[ei]s|answer|dx|impression|possibilit(?:y|ies)|explanation|cause|condition|disease|choice|considerations?"
    r"|hypothesis|conclusion|guess|pick|culprit|suspicion|differentials?|alternatives?|candidate)"
)
_BE = r"(?:is|was|are|were|would be|will be|remains?|must be|should be|seems to be|appears to be|has to be|includes?|include)"
_ADVERBS = (
    r"(?:\s(?:therefore|thus|clearly|most likely|likely|probably|most probably|then|indeed|that of|almost certainly|still"
    r"|definitely|now|also|either|hence|consequently|in fact|to be|as follows))*"
)
_AFTER_LIKELY = (
    r"diagnos\w+|explanation|possibility|cause|one|because|given|since|due|as|here|in|based|considering|for|with|and|candidate|answer|choice"
    r"|condition|option|underlying|clinical|unifying|single|primary|overall|culprit|among|of|at|from|on"
)
_LIKELIEST = (
    r"(?:the |my |our |your |a |an )?(?:single |clear |overall )?"
    r"(?:most (?:(?:likely|probable|plausible|fitting|suspected)(?=\W*\Z|\s?[,;(]|\s(?:" + _AFTER_LIKELY + r")\b)|(?:consistent|compatible)(?! with))|best (?:fit|explanation|diagnosis|match|answer|choice)"
    r"|(?:strongest|leading|top|primary|favou?red|preferred|final|correct|likeliest|number one|first|working|diagnosis)\b)"
)
_OF_NAME = re.compile(rf"\bdiagnosis of (?P<name>.+?)\s(?:is|can be|was|seems|should be|would be|appears|remains|fits)\b(?! (?:un|less|not))", re.I)
_SUBJECT_IS = re.compile(
    rf"(?P<before>(?:[^,;]*[,;]\s)*?[^,;]*?)\b{_SUBJECT}\b(?P<middle>(?:,[^;:]{{2,80}}?,|\s(?:in|for|of|based|given|here|that|on|to|i|we|at|would)\b[^;:]{{0,80}}?)?)"
    rf"\s{_BE}{_ADVERBS}:?\s+(?P<name>.+)",
    re.I,
)
_NAME_IS = re.compile(
    rf"(?P<name>.+?)\s(?:(?:is|are|remains?|would be|seems|appears|should be (?:considered|regarded as)|stands out as|becomes)(?: by far| to be| as|,? therefore,?| thus| \w+ly)*"
    rf"\s{_LIKELIEST}|fits (?:the \w+ |these \w+ )?best|best (?:explains|fits|matches|accounts)|explains .*\bbest\b)(?!.*\bleast\b)",
    re.I,
)
_MORE_LIKELY = re.compile(r"(?P<name>.+?)\s(?:is|seems|appears)(?: much| far| considerably)? (?:more likely|likelier|more probable) than (?P<rest>.+)", re.I)
_MAKES = re.compile(r"\b(?:mak(?:e|es|ing)|render(?:s|ing)?|leaves?)\s+(?P<name>.+?)\s+(?:as )?(?:by far )?(?:the )?(?:most|far more|very|highly|leading|best)\b", re.I)
_CHOOSES = re.compile(
    r"\b(?:i|we)(?:'d| would| will|'m| am)?(?: \w+ly)?\s(?:diagnose|favou?r|suspect|choose|pick|select|go with|go for|opt for|lean(?:ing)? towards?"
    r"|conclude|think|believe|say|answer)(?:\s(?:this|the|that|patient|case|child|it|most|likely|is|has|with|as|would be|to be|an?|diagnosis"
    r"|he|she|boy|girl|man|woman|of|probably|presentation|for|option|answer))*[:,]?\s+(?P<name>.+)",
    re.I,
)
_POINTS = re.compile(
    r"\b(?P<firm>(?:most|best|strongly|highly|very|clearly|almost)\s(?:\w+ly )?)?"
    r"(?:suggest(?:s|ing|ed|ive of)?|indicat(?:es?|ing|ive of)|points?(?:ing)? (?:strongly |clearly )?(?:to(?:wards?)?)|favou?rs?|supports?|consistent with"
    r"|compatible with|in keeping with|(?:classic|typical|characteristic|diagnostic|pathognomonic|suspicious|concerning|indicative)(?:al)? (?:of|for)"
    r"|confirms?|establish(?:es)?|explained by|represents?|looks? like|matches|those of"
    r"|(?:is|are) (?:most likely |likely |probably |most probably )?(?:due to|caused by|secondary to|the result of|attributable to|a manifestation of))(?: strongly| most)?\s"
    r"(?:(?:an?|the)\s)?(?P<name>.+)",
    re.I,
)
_PATIENT_HAS = re.compile(
    r"\b(?:patient|he|she|child|man|woman|boy|girl|infant|baby|\d+-year-old(?: \w+)?)(?: most| very)?(?: likely| probably| clearly)*"
    r"\s(?P<firm>)?(?:has|have|suffers from|is (?:most likely |likely |probably )?suffering from|is likely to have)\s(?!a history|no |had|been)(?P<name>.+)",
    re.I,
)
_THIS_IS = re.compile(
    r"(?:(?:so|therefore|thus|overall|hence|in summary|in conclusion),?\s)?(?:this|it|these|that|presentation|picture)(?: \w+){0,3}?\s"
    r"(?:is|are|appears to be|seems to be|must be|would be)(?: \w+ly| most| therefore)*\s(?P<name>.+)",
    re.I,
)
_IS_LIKELY = re.compile(r".*?\s(?:is|are) (?P<firm>most likely|most probably|very likely|likely|probably)(?: to be)?\s+(?:an?\s)?(?P<name>.+)", re.I)
_SUSPECTED = re.compile(r"(?P<name>.+?)\s(?:is|was) (?:strongly |highly |very |clinically )?(?:suspected|likely|diagnosed|present|probable|the likely \w+)\b", re.I)
_SHOWS = re.compile(r"\b(?:shows?|demonstrates?|reveals?)\s+(?P<name>.+)", re.I)
_STARTS = re.compile(r"(?P<firm>most (?:likely|probabl[ey]))[:,]?\s+(?P<name>.+)|(?:likely|probabl[ey]|suspected|suspect|favou?r|presumed)[:,]?\s+(?P<other>.+)", re.I)
_POSSIBLY = re.compile(r"(?:possibl[ey]|consider|perhaps|maybe|could be|may be|might be|(?:it|this) (?:could|may|might) (?:also )?be)[:,]?\s+(?P<name>.+)", re.I)
_LEAD_IN = re.compile(rf"(?:^|.*?\b)(?:{phrases('lead_ins')})(?:\s+|(?=[^\x00-\u02ff])|(?<='))(?P<name>.+)", re.I)
_CLOSING = re.compile(rf"\s*(?:{phrases('closings')})[\s.]*\Z", re.I)
_ARTICLE = re.compile(
    r"(?:eine?[nrsm]?|der|die|das|une?|la|les?|un[ao]?|el|los|las|uma?|o|a|il|lo|gli|du|des|this|это)\s+|l'|d'|un'", re.I
)
_FURTHER = re.compile(
    r"\b(?:differential|other|alternatives?|less|least|further|additional|possible|possibilities|potential|second|third|fourth|fifth|next|also|unlikely|secondary)\b", re.I
)
_FINAL = re.compile(r"\b(?:final|correct|definitive|definite|answer|confirmed|current)\b", re.I)
_REMAINS = re.compile(
    r"(?P<name>.+?)\s(?:is|are|remains?|could be|may be|should be)(?: also| still)?\s(?:an? )?(?:possible|possibility|differentials?|considerations?|considered|alternatives?"
    r"|less likely|in the differential|on the differential)\b(?!.*\bleading\b)",
    re.I,
)
_INCLUDES = re.compile(r"\b(?:differential(?: diagnos[ei]s)?|considerations|possibilities|alternatives|diagnoses)\b[^:;]{0,40}?(?:\sincludes?|\sincluding|\sare|\bfor\b[^:;]{0,60}?:|:)\s+(?P<name>.+)", re.I)
_COMPARED = re.compile(r"\s(?:rather than|over|as opposed to|instead of|more than)\s+(?P<rest>.+)", re.I)
_BEFORE_NAME = re.compile(
    r"(?:.*,\s+)?(?:(?:of|among|amongst|out of) (?:these|them|those|the \w+)\s)?(?:(?:i|we) (?:think|believe|feel|would say)(?: that)?\s)?"
    r"(?:(?:therefore|thus|hence|so|overall|clearly|here)\s)?(?:a )?(?:diagnosis of\s)?",
    re.I,
)
_PRONOUN = re.compile(r"(?:this|it|that|which|these|the (?:first|former|latter|second)|option \w)(?:\s.*)?", re.I)


class Statement(NamedTuple):
    """Diagnoses that a sentence states, how firmly, and those that it names besides. No name: it refers to one before."""

    strength: int
    names: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, each cut to the length that is read."""
    sentences = (sentence.strip() for sentence in _SENTENCE_END.split(text))
    return [sentence[:MAX_SENTENCE] for sentence in sentences if sentence]


def read_statement(sentence: str) -> Statement | None:
    """What a sentence states; None if it states no diagnosis."""
    statements = [statement for clause in _CLAUSE_END.split(_NOT_BUT.sub("", sentence)) if (statement := _read_clause(clause))]
    if not statements:
        return None
    best = max(statements, key=lambda statement: (statement.strength, bool(statement.names)))
    others = [name for statement in statements if statement is not best for name in (*statement.others,)]
    return best._replace(others=(*best.others, *others))


def _read_clause(clause: str) -> Statement | None:
    clause = clause.strip()
    if not clause or _SUPPOSED.match(clause):
        return None
    for reader in (_read_comparison, _read_lead_in, _read_subject, _read_likeliest, _read_further, _read_choice, _read_weak):
        if statement := reader(clause):
            return statement
    return None


def _read_comparison(clause: str) -> Statement | None:
    if match := _MORE_LIKELY.match(clause):
        name = _names(_BEFORE_NAME.sub("", match["name"], count=1))
        return Statement(LIKELY, tuple(name[:1]), tuple(_names(match["rest"]))) if name else None
    return None


def _read_lead_in(clause: str) -> Statement | None:
    """In other languages than English."""
    match = _LEAD_IN.match(clause)
    if match is None:
        return None
    tail = _CLOSING.sub("", _ARTICLE.sub("", match["name"].strip(), count=1))
    return _stated(LIKELY, tail)


def _read_subject(clause: str) -> Statement | None:
    """ "The most likely diagnosis is X"; "other diagnoses are Y and Z"."""
    if match := _OF_NAME.search(clause):
        return _stated(LIKELY, match["name"])
    match = _SUBJECT_IS.match(clause)
    if match is None:
        return None
    before = match["before"].rpartition(",")[2]
    subject = clause[len(match["before"]) : match.start("name")]
    if _FURTHER.search(before) or re.match(r"differential|alternative", subject, re.I) or "consider" in match["middle"]:
        names = _names(match["name"], is_list=True)
        return Statement(HINTED, (), tuple(names)) if names else None
    return _stated(FINAL if _FINAL.search(before + subject.partition(" ")[0]) else LIKELY, match["name"])


def _read_likeliest(clause: str) -> Statement | None:
    """ "X is the most likely"; "this makes X the leading diagnosis"."""
    if match := _MAKES.search(clause):
        return _stated(LIKELY, match["name"])
    match = _NAME_IS.match(clause)
    if match is None or re.search(r"\b(?:not|n't|never|less|second|next)\Z", clause[: match.end()].partition(match["name"])[2], re.I):
        return None
    name = _BEFORE_NAME.sub("", match["name"], count=1)
    if points := _POINTS.search(name):
        name = points["name"]
    return Statement(LIKELY) if _PRONOUN.fullmatch(name) else _stated(LIKELY, name)


def _read_further(clause: str) -> Statement | None:
    """ "The differential includes Y and Z"; "Y is possible"."""
    if match := _INCLUDES.search(clause):
        names = _names(match["name"], is_list=True)
    elif match := _REMAINS.match(clause):
        names = _names(_BEFORE_NAME.sub("", match["name"], count=1))
    elif match := _POSSIBLY.match(clause):
        names = _names(match["name"], is_list=True)
    else:
        return None
    return Statement(HINTED, (), tuple(names)) if names else None


def _read_choice(clause: str) -> Statement | None:
    match = _CHOOSES.search(clause)
    return _stated(LIKELY, match["name"]) if match else None


def _read_weak(clause: str) -> Statement | None:
    """What only points to a diagnosis: "suggests X", "the patient has X", "this is X"."""
    for pattern in (_STARTS, _POINTS, _PATIENT_HAS, _IS_LIKELY, _THIS_IS, _SUSPECTED, _SHOWS):
        match = pattern.search(clause) if pattern in (_POINTS, _PATIENT_HAS, _SHOWS) else pattern.match(clause)
        if match is None:
            continue
        groups = match.groupdict()
        is_firm = bool(groups.get("firm")) or "most likely" in clause.lower()
        strength = HINTED if pattern is _SHOWS else LIKELY if is_firm else WEAK
        if statement := _stated(strength, groups.get("name") or groups.get("other") or ""):
            return statement
    return None


def _stated(strength: int, tail: str) -> Statement | None:
    """The names at the start of the rest of a clause."""
    others: list[str] = []
    if compared := _COMPARED.search(tail):
        others, tail = _names(compared["rest"]), tail[: compared.start()]
    names = _names(tail)
    return Statement(strength, (names[0],), (*names[1:], *others)) if names else None


def _names(tail: str, *, is_list: bool = False) -> list[str]:
    tail = cut_reason(re.sub(r"\A(?:either|both|one of)\s+", "", tail.strip(), flags=re.I))
    return [name for name in split_names(tail, is_list=is_list) if not is_sentence(name)]
