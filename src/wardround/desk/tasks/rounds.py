"""Rounds of a review: physicians read a sample, what they find goes back, another sample is drawn, until one passes.

A finding is a physician's edit or discard of what a student had let pass or decided otherwise. A round ends when its
sample is read and everything that went back is done. It passes if the share of findings is not above the limit of
the task; else the next sample is drawn from what no physician was asked to read. The limit is our choice: ClinBench
says that it went on until quality was assured.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from wardround.asking.options import seeded
from wardround.building.review.items import PHYSICIAN, STUDENT
from wardround.building.review.verdicts import KEEP
from wardround.desk.desk import Desk
from wardround.desk.records import Item, Task, Verdict
from wardround.desk.tasks.criteria import WORDS, reasons
from wardround.measuring.engine.wilson import wilson


class Round(NamedTuple):
    """One sample, and what was found in it."""

    number: int
    sampled: int
    read: int
    findings: int
    back: int  # items that still wait on a student's list
    low: float
    high: float
    state: str

    @property
    def share(self) -> float | None:
        return self.findings / self.read if self.read else None


def after_verdict(desk: Desk, task: Task, item: Item, verdict: Verdict) -> None:
    """Sends findings back to those who read the item, and goes on to the next round when this one is over."""
    said = desk.work.verdicts(task, item.number)
    finding = next((each for each in reversed(said) if each.level == PHYSICIAN and _is_grave(each)), None)
    if finding is not None:
        if verdict.level == PHYSICIAN:
            readers = {each.person: each for each in said if each.level == STUDENT}
        else:  # a student reads what a physician has found fault with already: blind first, then it comes back
            mine = [each for each in said if each.person == verdict.person]
            readers = {verdict.person: verdict} if len(mine) == 1 and verdict.level == STUDENT else {}
        for person, last in readers.items():
            if last.said["verdict"] != finding.said["verdict"]:
                desk.work.send_back(task, item.number, person, _why(finding))
    if verdict.level == PHYSICIAN or desk.work.ever_came_back(task, item.number, verdict.person):
        _go_on(desk, task)  # nothing else can end a round


def _is_grave(verdict: Verdict) -> bool:
    return bool(verdict.said["verdict"] != KEEP)


def _why(finding: Verdict) -> dict[str, object]:
    return {"text": f"A physician would {finding.said['verdict']} it.", "reasons": reasons(finding.said)}


def _samples(desk: Desk, task: Task) -> dict[int, set[int]]:
    """The items that physicians were asked to read, by round."""
    found: dict[int, set[int]] = {number: set() for number in range(1, task.round + 1)}
    rows = desk.store.rows("SELECT item, round FROM wanted WHERE task = ? AND level = ?", task.id, PHYSICIAN)
    for row in rows:
        found.setdefault(row["round"], set()).add(row["item"])
    return found


def rounds(desk: Desk, task: Task) -> list[Round]:
    """Every round so far."""
    first: dict[tuple[int, str], Verdict] = {}
    for verdict in desk.work.verdicts(task):
        first.setdefault((verdict.item, verdict.level), verdict)
    back = Counter(each.round for each in desk.work.todo(task))
    told = []
    samples = _samples(desk, task)
    for number, sample in sorted(samples.items()):
        read = [item for item in sample if (item, PHYSICIAN) in first]
        findings = sum(_is_finding(first[item, PHYSICIAN], first.get((item, STUDENT))) for item in read)
        share = findings / len(read) if read else 0.0
        waits = len(read) < len(sample) or back[number] > 0
        state = "open" if waits else "passed" if share <= task.settings["passes"] else "another sample"
        if state == "another sample" and number == max(samples):
            state = "all was read"
        low, high = map(float, wilson(np.array(share), np.array(float(len(read) or 1))))
        told.append(Round(number, len(sample), len(read), findings, back[number], low, high, state))
    return told


def _is_finding(physician: Verdict, student: Verdict | None) -> bool:
    return _is_grave(physician) and (student is None or student.said["verdict"] != physician.said["verdict"])


def _go_on(desk: Desk, task: Task) -> None:
    now = rounds(desk, task)[-1]
    if now.state != "all was read" or now.number != task.round:
        return
    asked = set().union(*_samples(desk, task).values())
    by_queue: dict[str, list[int]] = {}
    for item in desk.work.items(task):
        by_queue.setdefault(item.batch, []).append(item.number)
    drawn: list[int] = []
    for queue, numbers in by_queue.items():
        left = [number for number in numbers if number not in asked]
        many = min(len(left), math.ceil(task.settings["share"] * len(numbers) - 1e-9))
        drawn += seeded("double reading", queue, task.settings["seed"], task.round + 1).sample(left, many)
    if drawn:
        desk.store.write("UPDATE tasks SET round = ? WHERE id = ?", task.round + 1, task.id)
        desk.work.want(task, sorted(drawn), PHYSICIAN, task.round + 1)
        desk.store.record(None, "next round", task.id, round=task.round + 1, items=sorted(drawn))


def found_by_physicians(desk: Desk, task: Task) -> list[tuple[str, int]]:
    """How often each criterion was not fulfilled, in the physicians' eyes."""
    counted = Counter(
        WORDS[name]
        for verdict in desk.work.verdicts(task)
        if verdict.level == PHYSICIAN
        for name, is_fine in verdict.said["criteria"].items()
        if not is_fine
    )
    return counted.most_common()
