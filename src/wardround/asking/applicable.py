"""Which questions of a case can be asked under which conditions, and why others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wardround.asking.carry import why_not_carried
from wardround.asking.degradation import why_not_degraded
from wardround.asking.options import LETTERS
from wardround.asking.without import left_out, why_not_without
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import CandidateSettings, Study


def conditions_for(candidate: CandidateSettings, conditions: Sequence[Condition]) -> list[Condition]:
    """A candidate that cannot see is never given conditions that differ in images only."""
    if candidate.sees:
        return list(conditions)
    kept: dict[Condition, Condition] = {}
    for condition in conditions:
        text = "+".join(part for part in ("history", "findings") if condition.shows(part))
        unseen = {} if condition.degradation in ("assigned", "stored") else {"degradation": "none"}
        kept.setdefault(
            replace(condition, inputs=text or "images", images="as-is", without="none", **unseen), condition
        )
    return list(kept.values())


def chosen_questions(case: Case, study: Study) -> list[Question]:
    """The questions that the study selects by id, kind or stage."""
    wanted = set(study.questions)
    if "all" in wanted:
        return case.questions
    return [q for q in case.questions if wanted & {q.id, q.kind, q.stage}]


def units(case: Case, chosen: Sequence[Question], *, with_ancestors: bool = True) -> list[list[Question]]:
    """What is asked together: a chain with the ancestors that its chosen questions need, or one question.

    Only its own answers need a candidate to be asked the ancestors: what else is carried is known.
    """
    by_id = {question.id: question for question in case.questions}
    together: list[list[Question]] = []
    chains: dict[str, set[str]] = {}
    for question in chosen:
        if question.chain is None and not question.given:
            together.append([question])
        else:
            needed = _with_ancestors(question, by_id) if with_ancestors else {question.id}
            chains.setdefault(question.chain or f"given to {question.id}", set()).update(needed)
    for members in chains.values():
        together.append(_in_order(members, by_id))
    return together


def _with_ancestors(question: Question, by_id: dict[str, Question]) -> set[str]:
    needed, waiting = set[str](), [question.id]
    while waiting:
        id = waiting.pop()
        if id not in needed:
            needed.add(id)
            waiting.extend(by_id[id].given)
    return needed


def _in_order(members: set[str], by_id: dict[str, Question]) -> list[Question]:
    """Each question after those that it is given; otherwise in the case's own order."""
    placed: dict[str, Question] = {}
    while len(placed) < len(members):
        ready = [
            id
            for id in by_id
            if id in members and id not in placed and members.intersection(by_id[id].given) <= placed.keys()
        ]
        for id in ready:
            placed[id] = by_id[id]
    return list(placed.values())


def why_not(case: Case, question: Question, condition: Condition) -> str | None:
    """Why this question cannot be asked under this condition, or None if it can."""
    if condition.telling != "own" and case.told_as(condition.telling) is None:
        return f"the case has no telling {condition.telling!r}"
    history, images = told(case, condition)
    images = _of_question(question, images)
    if condition.inputs != "all":
        has = {"history": history, "images": images, "findings": case.findings}
        for part in condition.inputs.split("+"):
            if not has[part]:
                return f"the case has no {part}"
    if condition.images != "as-is" and not (condition.shows("images") and condition.stem == "full" and images):
        return "no images are shown that could be changed"
    if reason := why_not_degraded(question, condition, [case.images[number] for number in images]):
        return reason
    if reason := why_not_without(condition, [case.images[number] for number in images]):
        return reason
    if reason := why_not_carried(case, question, condition):
        return reason
    if len(question.options or ()) > len(LETTERS):
        return f"there are more options than letters: {len(question.choices)}"
    if question.kind == "open":
        if condition.stem == "options-only":
            return "an open question has no options to show alone"
        if condition.options != "as-given":
            return "an open question has no options to reorder"
        if condition.confidence == "logprobs":
            return "an open answer has no option log-probabilities"
    if condition.confidence == "logprobs" and condition.reasoning == "on":
        return "log-probabilities of a first letter need reasoning off"
    if condition.confidence == "logprobs" and condition.options == "rotated":
        return "log-probabilities come from one request, which cannot rotate options by trial"
    return None


def shown_images(case: Case, question: Question, condition: Condition) -> list[int]:
    """The numbers of the images that a question shows in the condition's telling of the case."""
    _, images = told(case, condition)
    return [number for number in _of_question(question, images) if not left_out(case.images[number], condition)]


def _of_question(question: Question, images: list[int]) -> list[int]:
    return images if question.images is None else [number for number in question.images if number in images]


def told(case: Case, condition: Condition) -> tuple[str | None, list[int]]:
    """The history and the numbers of the images that the condition's telling of the case has."""
    history, images = case.history, list(range(len(case.images)))
    if condition.telling != "own" and (telling := case.told_as(condition.telling)) is not None:
        history = telling.history if telling.history is not None else history
        images = telling.images if telling.images is not None else images
    return history, images
