"""Results of an exam: the answers as the provider `people` reads them, and one record per person."""

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

from wardround.candidates.people import COLUMNS
from wardround.core.text import LETTERS
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, DeskVerdict, Task
from wardround.desk.results.export import to_csv
from wardround.desk.results.progress import seconds_open
from wardround.desk.tasks.exam_paper import exam_level, is_within, parse_specialties


class ExamAttempt(NamedTuple):
    """One person's exam. Right answers are counted for questions with options."""

    person: str
    role: str
    specialty: str
    begun: str | None
    ended: str | None
    rules: str | None
    no_ai: bool  # whether they confirmed before it began that they would use no AI tool
    ai: str | None  # what they confirmed at the end
    comment: str
    asked: int
    answered: int
    within: int
    right_within: int
    outside: int
    right_outside: int
    seconds: float | None  # median


def seconds_spent(verdict: DeskVerdict) -> float:
    """Seconds on a question: as the page counted them while it was visible, at most as long as it was open."""
    if "confidence" not in verdict.said:
        return 0.0
    opened, counted = seconds_open(verdict) or 0.0, verdict.said.get("seconds")
    return round(opened if counted is None else min(counted, opened), 1)


def answers_csv(desk: Desk, task: Task, *, confirmed: bool) -> bytes:
    """CSV of each person's latest answer to each question; `confirmed`: only of those who finished without AI."""
    items = {item.number: item for item in desk.tasks.list_items(task)}
    verdicts = desk.tasks.verdicts(task)
    people = {person: desk.accounts.by_id(person) for person in {verdict.person for verdict in verdicts}}
    finished = {verdict.person for verdict in verdicts if verdict.said.get("ai") == "no"}
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for verdict in verdicts:
        if "confidence" not in verdict.said or (confirmed and verdict.person not in finished):
            continue
        person, item = people[verdict.person], items[verdict.item]
        before = rows.get((person.id, item.number), {"seconds": 0.0})
        rows[person.id, item.number] = {
            "person": person.name,
            "role": person.role,
            "specialty": person.specialty,
            "case": item.hidden["case"],
            "question": item.hidden["question"],
            "trial": 0,
            "option": _option_or_answer(verdict.said),
            "confidence": verdict.said["confidence"],
            "seconds": round(before["seconds"] + seconds_spent(verdict), 1),
            "at": verdict.time,
        }
    return to_csv(rows.values(), COLUMNS)


def _option_or_answer(said: Mapping[str, Any]) -> str:
    return LETTERS[said["option"]] if "option" in said else said["answer"]


def exam_attempts(desk: Desk, task: Task) -> list[ExamAttempt]:
    """Everybody for whom questions were drawn, by name."""
    items = {item.number: item for item in desk.tasks.list_items(task)}
    verdicts_by_person: dict[int, dict[int, DeskVerdict]] = {}
    for verdict in desk.tasks.verdicts(task):
        verdicts_by_person.setdefault(verdict.person, {})[verdict.item] = verdict
    attempts = []
    for person in desk.accounts.list_people():
        sql = "SELECT count(*) - 2 FROM wanted WHERE task = ? AND level = ?"
        asked = int(desk.store.value(sql, task.id, exam_level(person)))
        if asked < 0:
            continue
        verdicts = list(verdicts_by_person.get(person.id, {}).values())
        rules = next((verdict for verdict in verdicts if "agreed" in verdict.said), None)
        closing = next((verdict for verdict in verdicts if "ai" in verdict.said), None)
        answers = [(items[verdict.item], verdict) for verdict in verdicts if "confidence" in verdict.said]
        own = parse_specialties(person.specialty)
        within = [_is_right(*answer) for answer in answers if is_within(answer[0].hidden["specialty"], own)]
        outside = [_is_right(*answer) for answer in answers if not is_within(answer[0].hidden["specialty"], own)]
        attempts.append(
            ExamAttempt(
                *(person.name, person.role, person.specialty),
                *(rules.time if rules else None, closing.time if closing else None),
                rules.said["rules"] if rules else None,
                bool(rules and rules.said.get("no_ai")),
                closing.said["ai"] if closing else None,
                closing.said["comment"] if closing else "",
                *(asked, len(answers), len(within), sum(within), len(outside), sum(outside)),
                seconds=median(seconds_spent(verdict) for _, verdict in answers) if answers else None,
            )
        )
    return attempts


def _is_right(item: DeskItem, verdict: DeskVerdict) -> bool:
    return "option" in verdict.said and verdict.said["option"] == item.hidden["gold"]
