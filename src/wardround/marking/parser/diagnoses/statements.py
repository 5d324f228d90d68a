"""Sentences that state a diagnosis: "the most likely diagnosis is X", "of these, X is the most likely"."""

import re
from typing import NamedTuple

from wardround.marking.parser.diagnoses.findings import diagnosis_of_finding
from wardround.marking.parser.diagnoses.labels import phrases
from wardround.marking.parser.diagnoses.names import cut_reason, ends_as_disease, is_sentence, split_names
from wardround.marking.parser.diagnoses.vocabulary import one_of, read_vocabulary

# how firmly a diagnosis is stated
HINTED, WEAK, ASIDE, LIKELY, FINAL = range(5)
MAX_SENTENCE = 500  # characters

_SENTENCE_END = re.compile(r"(?:(?<=[^\s.]{3})|(?<=\s(?:it|is|me|so)))[.!?;]+(?:\s+|\Z)|(?<=[A-Z]{2})\.\s+(?=[A-Z])|\n")
_CLAUSE_END = re.compile(
    r",?\s+(?:(?:even )?though|although|while|whereas)\s+"
    r"|[,;]\s+(?:and )?(?:so|hence|thus|therefore),?\s+(?=(?:this|it|the|i|we)\b)"
    r"|[,;]?\s+(?<!not )(?:but|however),?\s+(?!rather|instead)|:\s+(?=the\b)"
    r"|\s[–—-]\s(?=(?:this|it|these|I|think|suspect)\b)",
    re.I,
)
_SUBORDINATE = re.compile(
    r"(?:although|though|while|whereas|unlike|despite|previously|initially|in this|at first|given|with|considering|based on|because of|in view of|in light of)\b"
    r"[^,;]{3,200}?(?:,[^,;]{3,80}){0,3}?,\s+(?=(?:this|it|these|that|the|i|we|he|she|they|her|his|my)\b)"
    r"|if (?:i|we) had to\b[^,;]*?,?\s+(?=(?:it|this|i|we|my)\b(?! had))",
    re.I,
)
_NOT_BUT = re.compile(r"\bnot\s+[^,;.]{2,60}?,?\s+(?:but|rather)(?: rather| instead)?\s+", re.I)


def _words(kind: str) -> str:
    return one_of(read_vocabulary("phrases.toml")[kind])


_SUPPOSED = re.compile(_words("supposed"), re.I)
_FURTHER = re.compile(rf"\b{_words('further')}\b", re.I)
_FINAL = re.compile(rf"\b{_words('final')}\b", re.I)
_OF_NAME = re.compile(
    r"\bdiagnosis of (?P<name>.+?)\s(?:is|can be|was|seems|should be|would be|appears|remains|fits)\b"
    r"(?! (?:un|less|not))",
    re.I,
)
_SUBJECT_IS = re.compile(
    rf"(?P<before>(?:[^,;]*[,;]\s)*?[^,;]*?)\b{_words('subjects')}\b"
    rf"(?P<between>(?:,[^;:]{{2,80}}?,|\s{_words('between')}\b[^;:]{{0,80}}?)?)"
    rf"(?:\s{_words('links')}(?:\s{_words('adverbs')})*:?|:)\s+(?P<name>.+)",
    re.I,
)
_STANDS = re.compile(rf"\b{_words('stands')}\b", re.I)
_LIKELY = rf"most (?:likely|probable|plausible|fitting|suspected)(?=\W*\Z|\s?[,;(]|\s{_words('after_likely')}\b)"
_NAME_IS = re.compile(
    rf"(?P<name>.+?)(?:\s*[,–—-]+\s*(?:that|this|it))?(?:\s|(?<=that|this)(?='s))(?:(?:{_words('stands')}|'s)(?: by far| to be| as|,? therefore,?| thus| \w+ly)*"
    rf"\s(?:the most common \w+ and )?(?:(?:the|my|our|your|an?)\s)?(?:(?:single|clear|overall)\s)?"
    rf"(?:{_LIKELY}|{_words('likeliest')})|{_words('fits')})"
    r"(?!.*\bleast\b)",
    re.I,
)
_MORE_LIKELY = re.compile(
    r"(?P<name>.+?)\s(?:is|seems|appears)(?: much| far| considerably)?\s"
    r"(?:more likely|likelier|more probable) than (?P<rest>.+)",
    re.I,
)
_MAKES = re.compile(
    r"\b(?:mak(?:e|es|ing)|render(?:s|ing)?|leaves?)\s+(?P<name>.+?)\s+"
    r"(?:as )?(?:by far )?(?:the )?(?:most|far more|more likely|very|highly|leading|best)\b"
    r"|\bmakes? (?:this|it)\s(?:an?\s)?(?P<other>(?!more|less|un|very|most|likely|clear|difficult|hard)\w.+)",
    re.I,
)
_CORRECTS = re.compile(
    r"(?:on (?:second thoughts?|reflection|reconsideration)|actually|wait|correction|scratch that|sorry|no,)\b", re.I
)
_CHOOSES = re.compile(
    rf"\b(?:i|we)(?:'d| would| will|'m| am| can| could| should)?(?: now| still| therefore| \w+ly)?\s{_words('chooses')}"
    rf"(?:\s{_words('chosen_for')})*[:,]?\s+(?P<name>.+)",
    re.I,
)
_POINTS = re.compile(
    rf"\b(?P<firm>(?:most|best|strongly|highly|very|clearly|almost)\s(?:\w+ly )?)?{_words('points')}"
    r"(?: strongly| most)?\s(?:(?:an?|the)\s)?(?P<name>.+)",
    re.I,
)
_PATIENT_HAS = re.compile(
    rf"\b{_words('patients')}(?: most| very)?(?: likely| probably| clearly)*\s{_words('has')}\s"
    r"(?!a history|no |had|been)(?P<name>.+)",
    re.I,
)
_THIS_IS = re.compile(
    r"(?:(?:so|therefore|thus|overall|hence|in summary|in conclusion),?\s)?"
    r"(?:it's|that's|what (?:i|we|you) (?:see|have)(?: here)? is|(?:the )?(?:this|it|these|that|presentation|picture)(?: \w+){0,3}?\s"
    r"(?:is|are|appears to be|seems to be|must be|would be))(?: \w+ly| most| therefore)*\s(?P<name>.+)",
    re.I,
)
_IS_LIKELY = re.compile(
    r".*?\s(?:is|are) (?P<firm>most likely|most probably|very likely|likely|probably)(?: to be)?\s+"
    r"(?:an?\s)?(?P<name>.+)",
    re.I,
)
_PERSON_WITH = re.compile(
    rf"(?:this is |we have )?(?:an? )?[^,;]*?\b{_words('described')}\b[^,;]{{0,40}}?\swith\s(?P<name>[^,;]+)\Z", re.I
)
_EXPLAINS = re.compile(
    r"(?P<name>[^,;]+?)\s(?:would |could |can |best |also |readily |fully )*(?:explains?|accounts? for)\s", re.I
)
_EQUALS = re.compile(r".+\s(?:=+|[-=]+>|→|⇒)\s+(?P<name>.+)")
_UNTIL_PROVEN = re.compile(r".*\bis an?\s(?P<name>.+?) until proven otherwise", re.I)
_QUESTION = re.compile(
    r"(?:so|and|but)?,?\s*\b(?:wh(?:at|ich|y|o|ere|en)|how|do|does|did|is|are|can|could|would|should|have|has|will)\b",
    re.I,
)
_ENDS = re.compile(rf".*\b{_words('ends')}\s+(?:an?\s|the\s)?(?P<name>\S.{{2,80}}?)(?: first)?\Z", re.I)
_APPOSITION = re.compile(r",\s+(?:an?|the)\s[^,]*\Z")
_SUSPECTED = re.compile(
    rf"(?P<name>.+?)\s(?:is|was) (?:strongly |highly |very |clinically )?{_words('suspected')}\b", re.I
)
_SHOWS = re.compile(rf"\b{_words('shows')}\s+(?P<name>.+)", re.I)
_STARTS = re.compile(
    r"(?:(?P<firm>most (?:likely|probabl[ey])|favou?r(?:ing)?)|likely|probabl[ey]|suspected|suspect|presumed"
    r"|(?:the )?diagnosis of|(?:looks?|appears?|seems?) to be|(?:looks?|sounds?) like|must be|has to be|(?:definite|certain|clear|obvious)ly"
    r"|my (?:vote|money|bet) (?:goes to|is on|is|would be(?: on)?)"
    r"|think(?: of)?)[:,]?\s+(?!(?:this|the|that|it|he|she)\b)(?P<name>.+)",
    re.I,
)
_POSSIBLY = re.compile(rf"{_words('possibly')}[:,]?\s+(?P<name>.+)", re.I)
_REMAINS = re.compile(
    rf"(?P<name>.+?)\s(?:is|are|remains?|could be|may be|should(?: also)? be)(?: also| still)?\s"
    rf"(?:an? )?{_words('remains')}\b"
    r"(?!.*\bleading\b)",
    re.I,
)
_INCLUDES = re.compile(
    r"\b(?:differential(?: diagnos[ei]s)?|considerations|possibilities|alternatives|diagnoses)\b[^:;]{0,40}?"
    r"(?:\sincludes?|\sincluding|\sare|\bfor\b[^:;]{0,60}?:|:)\s+(?P<name>.+)",
    re.I,
)
_COMPARED = re.compile(
    r"(?:,?\swith\s+(?=.+\sas (?:the|an?) (?:\w+ )?(?:alternative|differential|runner-up))"
    r"|\s(?:rather than|over|as opposed to|instead of|more than)\s+|,\s*其次(?:需要?|应)?(?:考虑|为|是)?)"
    r"(?P<rest>.+)",
    re.I,
)
_BEFORE_NAME = re.compile(
    r"(?:.*[,:]\s+)?(?:(?:of|among|amongst|out of) (?:these|them|those|the \w+)\s)?"
    r"(?:(?:i|we) (?:think|believe|feel|would say|conclude)(?: that)?\s)?"
    r"(?:(?:therefore|thus|hence|so|overall|clearly|here)\s)?(?:a )?(?:diagnosis of\s)?",
    re.I,
)
_PRONOUN = re.compile(r"(?:this|it|that|which|these|(?:the )?(?:first|former|latter|second)|option \w)(?:\s.*)?", re.I)
_LEAD_IN = re.compile(
    rf"(?:^|.*?\b)(?:{phrases('lead_ins')})(?:\s+|(?=[^\x00-\u02ff])|(?<='))(?P<name>.+)",
    re.I,
)
_CLOSING = re.compile(rf"\s*(?:{phrases('closings')})[\s.]*\Z", re.I)
_ARTICLE = re.compile(
    r"\A(?:(?:eine?[nrsm]?|der|die|das|une?|la|les?|un[ao]?|el|los|las|uma?|o|a|il|lo|gli|du|des|это)\s+|l'|d'|un')?"
    r"(?:(?:caso?|cas|fall) (?:t[íi]pi(?:co|que)\s)?(?:de|di|d'|von)\s*)?",
    re.I,
)


class StatedDiagnosis(NamedTuple):
    """What a sentence states, how firmly, and what it names besides. Without names it refers to one before."""

    strength: int
    names: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def split_sentences(text: str) -> list[str]:
    """The sentences of a text without its questions, each cut to the length that is read."""
    sentences, start = [], 0
    for end in (*_SENTENCE_END.finditer(text), None):
        sentence = text[start : end.start() if end else len(text)].strip()
        if sentence and not (end and "?" in end[0] and _QUESTION.match(sentence)):
            sentences.append(sentence[:MAX_SENTENCE])
        start = end.end() if end else len(text)
    return sentences


def read_statement(sentence: str) -> StatedDiagnosis | None:
    """What a sentence states; None if it states no diagnosis."""
    statements = [
        statement for clause in _CLAUSE_END.split(_NOT_BUT.sub("", sentence)) if (statement := _read_clause(clause))
    ]
    if not statements:
        return None
    best = max(statements, key=lambda statement: (statement.strength, bool(statement.names)))
    if best.names and _CORRECTS.match(sentence):
        best = best._replace(strength=FINAL)
    others = [name for statement in statements if statement is not best for name in statement.others]
    return best._replace(others=(*best.others, *others))


def _read_clause(clause: str) -> StatedDiagnosis | None:
    clause = _SUBORDINATE.sub("", clause.strip(), count=1)
    if not clause or _SUPPOSED.match(clause):
        return None
    if (linked := diagnosis_of_finding(clause)) and (stated := _stated(WEAK, linked.diagnosis)):
        return stated._replace(strength=LIKELY) if linked.is_firm else stated
    return (
        _read_comparison(clause)
        or _read_lead_in(clause)
        or _read_subject(clause)
        or _read_likeliest(clause)
        or _read_further(clause)
        or _read_choice(clause)
        or _read_weak(clause)
        or _read_ending(clause)
    )


def _read_comparison(clause: str) -> StatedDiagnosis | None:
    if match := _MORE_LIKELY.match(clause):
        name = _names(_BEFORE_NAME.sub("", match["name"], count=1))
        return StatedDiagnosis(LIKELY, tuple(name[:1]), tuple(_names(match["rest"]))) if name else None
    return None


def _read_lead_in(clause: str) -> StatedDiagnosis | None:
    """In other languages than English."""
    match = _LEAD_IN.match(clause)
    if match is None:
        return None
    tail = _CLOSING.sub("", _ARTICLE.sub("", match["name"].strip(), count=1))
    return _stated(LIKELY, tail)


def _read_subject(clause: str) -> StatedDiagnosis | None:
    """ "The most likely diagnosis is X"; "other diagnoses are Y and Z"."""
    if match := _OF_NAME.search(clause):
        return _stated(LIKELY, match["name"])
    match = _SUBJECT_IS.match(clause)
    if match is None:
        return None
    if clause[: match.start("name")].rstrip().endswith(":") and _STANDS.search(match["before"]):
        return None  # "X is the answer: a reason"
    before = match["before"].rpartition(",")[2]
    subject = clause[len(match["before"]) : match.start("name")]
    is_differential = re.match(r"differential|alternative", subject, re.I) or "consider" in match["between"]
    if is_differential or _FURTHER.search(before):
        names = _names(match["name"], is_list=True)
        return StatedDiagnosis(HINTED, (), tuple(names)) if names else None
    return _stated(FINAL if _FINAL.search(before + subject.partition(" ")[0]) else LIKELY, match["name"])


def _read_likeliest(clause: str) -> StatedDiagnosis | None:
    """ "X is the most likely"; "this makes X the leading diagnosis"."""
    if match := _MAKES.search(clause):
        name = match["name"] or match["other"]
        return None if _PRONOUN.fullmatch(name) else _stated(LIKELY, name)
    match = _NAME_IS.match(clause)
    if match is None:
        return None
    name = _BEFORE_NAME.sub("", match["name"], count=1)
    if points := _POINTS.search(name):
        name = points["name"]
    return StatedDiagnosis(LIKELY) if _PRONOUN.fullmatch(name) else _stated(LIKELY, name)


def _read_further(clause: str) -> StatedDiagnosis | None:
    """ "The differential includes Y and Z"; "Y is possible"."""
    if match := _INCLUDES.search(clause):
        names = _names(match["name"], is_list=True)
    elif match := _REMAINS.match(clause):
        names = _names(_BEFORE_NAME.sub("", match["name"], count=1))
    elif match := _POSSIBLY.match(clause):
        names = _names(match["name"], is_list=True)
    else:
        return None
    return StatedDiagnosis(HINTED, (), tuple(names)) if names else None


def _read_choice(clause: str) -> StatedDiagnosis | None:
    match = _CHOOSES.search(clause)
    return _stated(LIKELY, match["name"]) if match else None


def _read_weak(clause: str) -> StatedDiagnosis | None:
    """What only points to a diagnosis: "suggests X", "the patient has X", "this is X"."""
    if (match := _PERSON_WITH.match(clause) or _EXPLAINS.match(clause)) and ends_as_disease(cut_reason(match["name"])):
        return _stated(WEAK, match["name"])
    for pattern in (_STARTS, _UNTIL_PROVEN, _POINTS, _PATIENT_HAS, _IS_LIKELY, _THIS_IS, _SUSPECTED, _EQUALS, _SHOWS):
        match = pattern.search(clause) if pattern in (_POINTS, _PATIENT_HAS, _SHOWS) else pattern.match(clause)
        if match is None:
            continue
        is_firm = bool(match.groupdict().get("firm")) or "most likely" in clause.lower()
        strength = HINTED if pattern is _SHOWS else LIKELY if is_firm else WEAK
        if statement := _stated(strength, match["name"]):
            return statement
    return None


def _read_ending(clause: str) -> StatedDiagnosis | None:
    """The end of a clause, if it ends as diseases do: "one should think of X first", "fever, a rash: X"."""
    before, colon, after = clause.rpartition(": ")
    if colon and not ends_as_disease(before) and ends_as_disease(after) and not is_sentence(after):
        return _stated(HINTED, after)
    match = _ENDS.match(_APPOSITION.sub("", clause)) if is_sentence(clause) else None
    if match and ends_as_disease(match["name"]) and (names := _names(match["name"])):
        return StatedDiagnosis(HINTED, (names[0],))
    return None


def _stated(strength: int, tail: str) -> StatedDiagnosis | None:
    """The names at the start of the rest of a clause."""
    others: list[str] = []
    if compared := _COMPARED.search(tail):
        others, tail = _names(compared["rest"]), tail[: compared.start()]
    names = _names(tail)
    return StatedDiagnosis(strength, (names[0],), (*names[1:], *others)) if names else None


def _names(tail: str, *, is_list: bool = False) -> list[str]:
    tail = cut_reason(re.sub(r"\A(?:either|both|one of)\s+", "", tail.strip(), flags=re.I))
    return [name for name in split_names(tail, is_list=is_list) if not is_sentence(name)]
