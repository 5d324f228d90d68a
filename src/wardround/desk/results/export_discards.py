"""Discarding: how `wardround build review` takes out of a set what its readers discarded."""

from __future__ import annotations

from wardround.building.review.items import PHYSICIAN
from wardround.building.review.verdicts import EDIT
from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.desk.desk import Desk
from wardround.desk.records import Task
from wardround.desk.results.decisions import DISCARD, RULES, decisions
from wardround.desk.results.export import jsonl


def taken_out(desk: Desk, task: Task) -> bytes:
    """One verdict a case, in the name of all readers: its discarded questions go, and it goes if none is left."""
    gone: dict[str, set[str]] = {}
    for each in decisions(desk, task):
        if each.decision == DISCARD:
            named = {question["question"] for question in each.item.shown["degraded"]}
            clean = {each.question[1]} if each.clean == DISCARD else set()
            gone.setdefault(each.question[0], set()).update(named | clean)
    if not gone:
        return b""
    same = {
        "reviewer": f"readers of {task.name}",
        "level": PHYSICIAN,
        "time": max(verdict.time for verdict in desk.work.verdicts(task)),
        "reasons": [RULES[task.settings["rule"]]],
    }
    lines = []
    for case in CaseSet.open(desk.source(task)):
        if case.id in gone:
            dropped = _with_dependents(case, gone[case.id])
            edits = {f"questions.{question.id}": None for question in case.questions if question.id in dropped}
            said = {"verdict": EDIT, "edits": edits} if len(edits) < len(case.questions) else {"verdict": DISCARD}
            lines.append({"item": f"cases/{case.id}", **same, **said})
    return jsonl(lines)


def _with_dependents(case: Case, gone: set[str]) -> set[str]:
    """Those questions, and all that are made of them or follow them in a chain: a case must not name what it lacks."""
    more = {
        question.id
        for question in case.questions
        if question.id in gone or question.of in gone or not gone.isdisjoint(question.given)
    }
    return gone if more == gone else _with_dependents(case, more)
