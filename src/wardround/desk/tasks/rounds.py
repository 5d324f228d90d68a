"""Criteria and rounds of a review: physicians read a sample, findings go back to students, until a sample passes.

A finding is a physician's edit or discard of an item on which a student decided otherwise. A round ends when its sample
is read and every item that was sent back is read again. It passes if the share of findings is not above the task's
limit; else the next sample is drawn from the items that no physician was asked to read. The limit is our choice:
ClinBench says that it went on until quality was assured.
"""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from wardround.building.review.items import PHYSICIAN, STUDENT
from wardround.building.review.verdicts import KEEP
from wardround.core.random import seeded
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, DeskVerdict, Task
from wardround.measuring.engine.wilson import wilson

CRITERIA = {  # after ClinBench's two guidelines (tables 14 and 15), in our words
    STUDENT: {
        "complete": "Nothing that the answer needs is missing, compared with the source",
        "images": "What an image shows is either seen in it or told, and nothing was lost with the figures",
        "distinct": "No other option overlaps with the right one, and none is ambiguous",
        "answer": "The right answer is the one of the source",
    },
    PHYSICIAN: {
        "clarity": "Clarity: stem and options are clear and professionally worded",
        "rationality": "Clinical rationality: such a patient could come to you like this",
        "accuracy": "Factual accuracy: stem and right answer are medically true",
        "options": "Options: plausible, distinct, not overlapping, fairly difficult",
    },
}
CRITERION_TEXTS = CRITERIA[STUDENT] | CRITERIA[PHYSICIAN]


class ReviewRound(NamedTuple):
    """One sample and its findings."""

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


def process_verdict(desk: Desk, task: Task, item: DeskItem, verdict: DeskVerdict) -> None:
    """Sends findings back to those who read the item, and starts the next round when this one is over."""
    verdicts = desk.tasks.verdicts(task, item.number)
    finding = next((other for other in reversed(verdicts) if other.level == PHYSICIAN and _is_objection(other)), None)
    if finding is not None:
        if verdict.level == PHYSICIAN:
            readers = {other.person: other for other in verdicts if other.level == STUDENT}
        else:  # a student reads an item that a physician objected to: blind first, then it is sent back
            own = [other for other in verdicts if other.person == verdict.person]
            readers = {verdict.person: verdict} if len(own) == 1 and verdict.level == STUDENT else {}
        for person, last in readers.items():
            if last.said["verdict"] != finding.said["verdict"]:
                desk.tasks.send_back(task, item.number, person, _explain(finding))
    if verdict.level == PHYSICIAN or desk.tasks.was_ever_returned(task, item.number, verdict.person):
        _start_next_round(desk, task)  # nothing else can end a round


def reason_texts(said: Mapping[str, Any]) -> list[str]:
    """The reasons of a verdict: criteria that are not fulfilled, and the comment. What was not judged is no reason."""
    unfulfilled = [CRITERION_TEXTS[name] for name, is_fulfilled in said["criteria"].items() if is_fulfilled is False]
    return [f"not fulfilled: {text}" for text in unfulfilled] + ([said["comment"]] if said["comment"] else [])


def _is_objection(verdict: DeskVerdict) -> bool:
    return bool(verdict.said["verdict"] != KEEP)


def _explain(finding: DeskVerdict) -> dict[str, object]:
    return {"text": f"A physician would {finding.said['verdict']} it.", "reasons": reason_texts(finding.said)}


def _samples(desk: Desk, task: Task) -> dict[int, set[int]]:
    """The items that physicians were asked to read, by round."""
    by_round: dict[int, set[int]] = {number: set() for number in range(1, task.round + 1)}
    rows = desk.store.rows("SELECT item, round FROM wanted WHERE task = ? AND level = ?", task.id, PHYSICIAN)
    for row in rows:
        by_round.setdefault(row["round"], set()).add(row["item"])
    return by_round


def list_rounds(desk: Desk, task: Task) -> list[ReviewRound]:
    first: dict[tuple[int, str], DeskVerdict] = {}
    for verdict in desk.tasks.verdicts(task):
        first.setdefault((verdict.item, verdict.level), verdict)
    returned = Counter(item.round for item in desk.tasks.list_returned(task))
    results = []
    samples = _samples(desk, task)
    for number, sample in sorted(samples.items()):
        read = [item for item in sample if (item, PHYSICIAN) in first]
        findings = sum(_is_finding(first[item, PHYSICIAN], first.get((item, STUDENT))) for item in read)
        share = findings / len(read) if read else 0.0
        is_open = len(read) < len(sample) or returned[number] > 0
        state = "open" if is_open else "passed" if share <= task.settings["passes"] else "another sample"
        if state == "another sample" and number == max(samples):
            state = "all was read"
        low, high = map(float, wilson(np.array(share), np.array(float(len(read) or 1))))
        results.append(ReviewRound(number, len(sample), len(read), findings, returned[number], low, high, state))
    return results


def _is_finding(physician: DeskVerdict, student: DeskVerdict | None) -> bool:
    return _is_objection(physician) and (student is None or student.said["verdict"] != physician.said["verdict"])


def _start_next_round(desk: Desk, task: Task) -> None:
    latest = list_rounds(desk, task)[-1]
    if latest.state != "all was read" or latest.number != task.round:
        return
    requested = set().union(*_samples(desk, task).values())
    by_queue: dict[str, list[int]] = {}
    for item in desk.tasks.list_items(task):
        by_queue.setdefault(item.batch, []).append(item.number)
    sample: list[int] = []
    for queue, numbers in by_queue.items():
        left = [number for number in numbers if number not in requested]
        size = min(len(left), math.ceil(task.settings["share"] * len(numbers) - 1e-9))
        sample += seeded("double reading", queue, task.settings["seed"], task.round + 1).sample(left, size)
    if sample:
        desk.store.write("UPDATE tasks SET round = ? WHERE id = ?", task.round + 1, task.id)
        desk.tasks.request_readings(task, sorted(sample), PHYSICIAN, task.round + 1)
        desk.store.log_action(None, "next round", task.id, round=task.round + 1, items=sorted(sample))


def physician_findings(desk: Desk, task: Task) -> list[tuple[str, int]]:
    """How often physicians found each criterion not fulfilled."""
    counts = Counter(
        CRITERION_TEXTS[name]
        for verdict in desk.tasks.verdicts(task)
        if verdict.level == PHYSICIAN
        for name, is_fulfilled in verdict.said["criteria"].items()
        if is_fulfilled is False
    )
    return counts.most_common()
