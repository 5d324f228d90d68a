"""Sentences that state a diagnosis: "the most likely diagnosis is X", "of these, X is the most likely"."""

import re
from typing import NamedTuple

from wardround.marking.parser.diagnoses import patterns
from wardround.marking.parser.diagnoses.asserting import asserted_disease
from wardround.marking.parser.diagnoses.findings import (
    describes_finding,
    diagnosis_of_finding,
    is_plain_finding,
    is_symptom,
    names_disease,
)
from wardround.marking.parser.diagnoses.names import (
    cut_reason,
    ends_as_disease,
    is_headed_by_disease,
    is_sentence,
    split_names,
)

# how firmly a diagnosis is stated
HINTED, ASSERTED, WEAK, ASIDE, LIKELY, FINAL = range(6)
MAX_SENTENCE = 500  # characters


class StatedDiagnosis(NamedTuple):
    """What a sentence states, how firmly, and what it names besides. Without names it refers to one before."""

    strength: int
    names: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def split_sentences(text: str) -> list[str]:
    """The sentences of a text without its questions, each cut to the length that is read."""
    sentences, start = [], 0
    for end in (*patterns.SENTENCE_END.finditer(text), None):
        sentence = text[start : end.start() if end else len(text)].strip()
        if sentence and not (end and "?" in end[0] and (patterns.QUESTION.match(sentence) or end.end() < len(text))):
            sentences.append(sentence[:MAX_SENTENCE])
        start = end.end() if end else len(text)
    return sentences


def read_statement(sentence: str) -> StatedDiagnosis | None:
    """What a sentence states; None if it states no diagnosis."""
    statements = [
        statement
        for clause in patterns.CLAUSE_END.split(patterns.NOT_BUT.sub("", sentence))
        if (statement := _read_clause(clause))
    ]
    if all(statement.strength == HINTED and not statement.others for statement in statements):
        asserted = None if patterns.SUPPOSED.match(sentence) else asserted_disease(sentence)
        if asserted or not statements:
            return StatedDiagnosis(ASSERTED, (asserted,)) if asserted else None
    if patterns.BUT.search(sentence):  # of equal clauses the last counts
        statements.reverse()
    best = max(statements, key=lambda statement: (statement.strength, bool(statement.names)))
    if best.names and patterns.CORRECTS.match(sentence):
        best = best._replace(strength=FINAL)
    if not best.names and patterns.UNLIKELY.search(sentence):
        return None
    others = [name for statement in statements if statement is not best for name in statement.others]
    return best._replace(others=(*best.others, *others))


def _read_clause(clause: str) -> StatedDiagnosis | None:
    clause = patterns.SUBORDINATE.sub("", clause.strip(), count=1)
    if not clause or patterns.SUPPOSED.match(clause):
        return None
    if (linked := diagnosis_of_finding(clause)) and (stated := _stated(WEAK, linked.diagnosis)):
        return stated._replace(strength=LIKELY) if linked.is_firm else stated
    statement = (
        _read_comparison(clause)
        or _read_lead_in(clause)
        or _read_subject(clause)
        or _read_likeliest(clause)
        or _read_further(clause)
        or _read_choice(clause)
        or _read_weak(clause)
        or _read_ending(clause)
    )
    return None if statement and statement.names and _is_denied(clause, statement.names[0]) else statement


def _is_denied(clause: str, name: str) -> bool:
    """Whether the words right before a name deny it: "this is unlikely to be asthma"."""
    place = clause.casefold().find(name[:20].casefold())
    return place > 0 and patterns.DENIES.search(clause, 0, place) is not None


def _read_comparison(clause: str) -> StatedDiagnosis | None:
    if match := patterns.LESS_LIKELY.match(clause):
        name = _names(match["rest"])
        others = _names(patterns.BEFORE_NAME.sub("", match["name"], count=1))
        return StatedDiagnosis(LIKELY, tuple(name[:1]), tuple(others)) if name else None
    if match := patterns.MORE_LIKELY.match(clause):
        name = _names(patterns.BEFORE_NAME.sub("", match["name"], count=1))
        return StatedDiagnosis(LIKELY, tuple(name[:1]), tuple(_names(match["rest"]))) if name else None
    return None


def _read_lead_in(clause: str) -> StatedDiagnosis | None:
    """In other languages than English."""
    match = patterns.LEAD_IN.match(clause)
    if match is None:
        return None
    tail = patterns.CLOSING.sub("", patterns.ARTICLE.sub("", match["name"].strip(), count=1))
    return _stated(LIKELY, tail)


def _read_subject(clause: str) -> StatedDiagnosis | None:
    """ "The most likely diagnosis is X"; "other diagnoses are Y and Z"."""
    if match := patterns.OF_NAME.search(clause):
        return _stated(LIKELY, match["name"])
    match = patterns.SUBJECT_IS.match(clause)
    if match is None:
        return None
    if clause[: match.start("name")].rstrip().endswith(":") and patterns.STANDS.search(match["before"]):
        return None  # "X is the answer: a reason"
    before = match["before"].rpartition(",")[2]
    subject = clause[len(match["before"]) : match.start("name")]
    is_differential = re.match(r"differential|alternative", subject, re.I) or (
        "consider" in match["between"] and not patterns.LEADING.search(before)
    )
    if is_differential or patterns.FURTHER.search(before):
        names = _names(match["name"], is_list=True)
        is_list = len(names) > 2 or any(map(is_headed_by_disease, names))
        return StatedDiagnosis(HINTED, (), tuple(names)) if is_list else None
    return _stated(FINAL if patterns.FINAL.search(before + subject.partition(" ")[0]) else LIKELY, match["name"])


def _read_likeliest(clause: str) -> StatedDiagnosis | None:
    """ "X is the most likely"; "this makes X the leading diagnosis"."""
    if match := patterns.MAKES.search(clause):
        name = match["name"] or match["other"]
        return None if patterns.PRONOUN.fullmatch(name) else _stated(LIKELY, name)
    match = patterns.NAME_IS.match(clause) or patterns.NAME_LIKELY.match(clause)
    if match is None:
        return None
    if patterns.DENIED.search(match["name"]):
        return None
    name = patterns.BEFORE_NAME.sub("", match["name"], count=1)
    if points := patterns.POINTS.search(name):
        name = points["name"]
    return StatedDiagnosis(LIKELY) if patterns.PRONOUN.fullmatch(name) else _stated(LIKELY, name)


def _read_further(clause: str) -> StatedDiagnosis | None:
    """ "The differential includes Y and Z"; "Y is possible"."""
    if match := patterns.INCLUDES.search(clause):
        names = _names(match["name"], is_list=True)
    elif match := patterns.REMAINS.match(clause):
        names = _names(patterns.BEFORE_NAME.sub("", match["name"], count=1))
    elif match := patterns.TO_EXCLUDE.match(clause) or patterns.POSSIBLY.match(clause):
        names = _names(match["name"], is_list=True)
    else:
        return None
    return StatedDiagnosis(HINTED, (), tuple(names)) if names else None


def _read_choice(clause: str) -> StatedDiagnosis | None:
    match = patterns.TOPS.match(clause) or patterns.TAKEN_AS.match(clause) or patterns.CHOOSES.search(clause)
    return _stated(LIKELY, match["name"]) if match else None


def _read_weak(clause: str) -> StatedDiagnosis | None:
    """What only points to a diagnosis: "suggests X", "the patient has X", "this is X"."""
    if (reason := patterns.REASON.search(clause)) and (statement := _read_weak(clause[: reason.start()])):
        return statement
    if (match := patterns.PERSON_WITH.match(clause) or patterns.EXPLAINS.match(clause)) and ends_as_disease(
        cut_reason(match["name"])
    ):
        return _stated(WEAK, match["name"])
    for pattern in (
        patterns.STARTS,
        patterns.UNTIL_PROVEN,
        patterns.POINTS,
        patterns.PATIENT_HAS,
        patterns.IS_LIKELY,
        patterns.THIS_IS,
        patterns.SUSPECTED,
        patterns.EQUALS,
        patterns.SHOWS,
    ):
        match = (
            pattern.search(clause)
            if pattern in (patterns.POINTS, patterns.PATIENT_HAS, patterns.SHOWS)
            else pattern.match(clause)
        )
        if match is None and pattern is patterns.THIS_IS and (this := patterns.LATER_THIS.search(clause)):
            match = pattern.match(clause, this.end())
        if match is None:
            continue
        before = clause[: match.start()].rstrip()
        if pattern is patterns.POINTS and before.endswith(",") and names_disease(before[:-1]):
            return None  # "acute pancreatitis, consistent with the raised lipase"
        is_firm = bool(match.groupdict().get("firm")) or "most likely" in clause.lower()
        is_summed_up = pattern is patterns.POINTS and patterns.SUMS_UP.match(clause)
        strength = HINTED if pattern is patterns.SHOWS else LIKELY if is_firm else ASIDE if is_summed_up else WEAK
        name = patterns.BEFORE_NAME.sub("", match["name"], count=1) if pattern is patterns.SUSPECTED else match["name"]
        if statement := _stated(strength, name):
            return statement
    return None


def _read_ending(clause: str) -> StatedDiagnosis | None:
    """The end of a clause, if it ends as diseases do: "one should think of X first", "fever, a rash: X"."""
    before, colon, after = clause.rpartition(": ")
    if colon and not ends_as_disease(before) and ends_as_disease(after) and not is_sentence(after):
        return _stated(HINTED, after)
    match = patterns.ENDS.match(patterns.APPOSITION.sub("", clause)) if is_sentence(clause) else None
    if match and ends_as_disease(match["name"]) and (names := _names(match["name"])) and not is_plain_finding(names[0]):
        return StatedDiagnosis(HINTED, (names[0],))
    return None


def _stated(strength: int, tail: str) -> StatedDiagnosis | None:
    """The names at the start of the rest of a clause."""
    others: list[str] = []
    if compared := patterns.COMPARED.search(tail):
        others, tail = _names(compared["rest"]), tail[: compared.start()]
    names = _names(patterns.ONE_DIAGNOSIS.sub("", tail))
    if (
        strength <= WEAK
        and names
        and (describes_finding(names[0]) or is_symptom(names[0]) or is_plain_finding(names[0]))
    ):
        return None
    return StatedDiagnosis(strength, (names[0],), (*names[1:], *others)) if names else None


def _names(tail: str, *, is_list: bool = False) -> list[str]:
    tail = cut_reason(re.sub(r"\A(?:either|both|one of)\s+", "", tail.strip(), flags=re.I))
    return [name for name in split_names(tail, is_list=is_list) if not is_sentence(name)]
