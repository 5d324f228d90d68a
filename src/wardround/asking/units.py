"""Which questions of a case a study asks, and which of them belong together."""

from collections.abc import Sequence

from wardround.core.case import Case, Question
from wardround.core.study import Study


def select_questions(case: Case, study: Study) -> list[Question]:
    """The questions that the study selects by id, kind or stage."""
    selected = set(study.questions)
    if "all" in selected:
        return case.questions
    return [question for question in case.questions if selected & {question.id, question.kind, question.stage}]


def question_units(case: Case, questions: Sequence[Question], *, with_ancestors: bool = True) -> list[list[Question]]:
    """Single questions, and chains in the order in which they are asked.

    A chain has the ancestors of its questions only if the candidate's own answers are carried: others are known.
    """
    by_id = {question.id: question for question in case.questions}
    units: list[list[Question]] = []
    chains: dict[str, set[str]] = {}
    for question in questions:
        if question.chain is None and not question.given:
            units.append([question])
        else:
            ids = _with_ancestors(question, by_id) if with_ancestors else {question.id}
            chains.setdefault(question.chain or f"given to {question.id}", set()).update(ids)
    units.extend(_in_order(ids, by_id) for ids in chains.values())
    return units


def _with_ancestors(question: Question, by_id: dict[str, Question]) -> set[str]:
    ids, waiting = set[str](), [question.id]
    while waiting:
        id = waiting.pop()
        if id not in ids:
            ids.add(id)
            waiting.extend(by_id[id].given)
    return ids


def _in_order(ids: set[str], by_id: dict[str, Question]) -> list[Question]:
    """Each question after those that it is given; otherwise in the case's own order."""
    ordered: dict[str, Question] = {}
    while len(ordered) < len(ids):
        ready = [
            id
            for id in by_id
            if id in ids and id not in ordered and ids.intersection(by_id[id].given) <= ordered.keys()
        ]
        for id in ready:
            ordered[id] = by_id[id]
    return list(ordered.values())
