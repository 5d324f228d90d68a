"""Rubric writing: clinicians write the rubric of a case, or edit the one that it has: criteria, points, axes.

Each person begins with the version that was saved last. All versions stay in verdicts.jsonl; the last counts.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import ValidationError
from starlette.datastructures import FormData

from wardround.cases.set import CaseSet, case_to_json
from wardround.core.case import Case, Question, drop_empty
from wardround.core.errors import BadInput, WardroundError
from wardround.desk.auth.accounts import PHYSICIANS, Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, DeskVerdict, NewImage, NewItem, Task
from wardround.desk.results.export import to_jsonl
from wardround.desk.tasks.task_kind import Export, Setting, TaskKind, checked_comment

WRITE, DISCARD = "write", "discard"
NEW_QUESTION = "rubric"  # the id of a question that is written here
MAX_PROMPT, MAX_CRITERION, MAX_AXIS, MAX_POINTS, MAX_CRITERIA = 50_000, 2_000, 60, 100, 100
EMPTY_ROWS, FEWEST_ROWS = 4, 8  # of the form
COLUMNS = ("id", "text", "points", "axis")


class RubricWriting(TaskKind):
    name = "rubrics"
    title = "Rubric writing"
    summary = "Rubrics are written for cases, or those that they have are edited: criteria, points and axes."
    source = "A case set; its rubric questions are edited, and cases without one get one"
    roles = PHYSICIANS
    settings = (Setting("writers", "Writers of each rubric", 1, "The second begins with the version of the first."),)
    template = "tasks/rubrics.html"
    classes = False

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if settings["writers"] < 1:
            raise WardroundError("each rubric needs a writer")
        if not source.is_dir():
            raise BadInput(source, "is not the folder of a case set")
        return [item for case in CaseSet.open(source) for item in _items_of_case(case, settings["writers"])]

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Person, level: str) -> dict[str, Any]:
        latest = _latest_version(desk, task).get(item.number)
        start = latest.said if latest is not None and latest.said["decision"] == WRITE else item.shown
        rows = max(FEWEST_ROWS, len(start["criteria"]) + EMPTY_ROWS)
        return {"start": self.fill_form(start, item), "rows": rows, "latest": latest}

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        fields = {key: value.strip() for key, value in form.items() if isinstance(value, str)}
        numbers = sorted({int(number) for name in fields if (number := name.partition(":")[2]).isdigit()})
        rows = [{column: fields.get(f"{column}:{number}", "") for column in COLUMNS} for number in numbers]
        return {
            **{name: fields.get(name, "") for name in ("decision", "prompt", "gold", "comment")},
            "criteria": [row for row in rows if row["text"] or row["points"]],
        }

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        filled = {name: [str(said.get(name) or "")] for name in ("decision", "prompt", "gold", "comment")}
        for number, criterion in enumerate(said["criteria"]):
            filled |= {f"{column}:{number}": [_cell(criterion.get(column))] for column in COLUMNS}
        return filled

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        comment, decision = checked_comment(said), said.get("decision")
        if decision == DISCARD:
            if not comment:
                raise WardroundError("say in the comment why the case gets no rubric")
            return {"decision": DISCARD, "prompt": "", "gold": "", "criteria": [], "comment": comment}
        if decision != WRITE:
            raise WardroundError("choose whether the rubric is saved or the case gets none")
        prompt, gold = said.get("prompt"), said.get("gold", "")
        if not isinstance(prompt, str) or not 0 < len(prompt.strip()) <= MAX_PROMPT:
            raise WardroundError(f"write the question, in at most {MAX_PROMPT:,} characters")
        if not isinstance(gold, str) or len(gold) > MAX_PROMPT:
            raise WardroundError(f"an ideal answer is a text of at most {MAX_PROMPT:,} characters")
        checked = {"prompt": prompt, "gold": gold, "criteria": _checked_criteria(said.get("criteria"))}
        try:
            Question.model_validate({"id": item.shown["question"], "kind": "rubric", **checked})
        except ValidationError as error:
            raise WardroundError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
        return {"decision": WRITE, **checked, "comment": comment}

    def label(self, said: Mapping[str, Any]) -> str | None:
        return str(said["decision"])

    def render_verdict(self, said: Mapping[str, Any], item: DeskItem) -> Markup:
        if said["decision"] == DISCARD:
            return Markup("<p>No rubric: {}</p>").format(said["comment"])
        lines = Markup("").join(
            Markup("<li>{} ({} points{})</li>").format(
                criterion["text"], _cell(criterion["points"]), f", {criterion['axis']}" if criterion["axis"] else ""
            )
            for criterion in said["criteria"]
        )
        return Markup('<p class="text">{}</p><ul>{}</ul>').format(said["prompt"], lines)

    def exports(self) -> Sequence[Export]:
        about = "the case set with these rubrics, beside its images; rubrics that nobody saved are as they were"
        return (Export("cases.jsonl", about, _cases_jsonl),)


def _items_of_case(case: Case, writers: int) -> list[NewItem]:
    pictures = tuple(NewImage(str(number), image) for number, image in enumerate(case.images))
    questions: list[Question | None] = [question for question in case.questions if question.kind == "rubric"]
    ids = {question.id for question in case.questions}
    new_id = NEW_QUESTION if NEW_QUESTION not in ids else f"{NEW_QUESTION}-{len(ids) + 1}"
    items = []
    for question in questions or [None]:
        shown = {
            "history": case.history,
            "findings": case.findings,
            "question": question.id if question else new_id,
            "conversation": [message.model_dump() for message in question.conversation] if question else [],
            "prompt": question.prompt if question else "",
            "gold": question.gold if question else "",
            "criteria": [criterion.model_dump(include=set(COLUMNS)) for criterion in question.criteria]
            if question
            else [],
        }
        name = f"{case.id}/{shown['question']}"
        hidden = {"case": json.loads(case_to_json(case))}
        items.append(NewItem(name, "rubrics", shown, {"reader": writers}, hidden, images=pictures))
    return items


def _cell(value: Any) -> str:
    """A value of a criterion in the form: 5 for 5.0."""
    return f"{value:g}" if isinstance(value, float | int) else str(value or "")


def _checked_criteria(rows: Any) -> list[dict[str, Any]]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise WardroundError("criteria are a list of objects with text, points and axis")
    if len(rows) > MAX_CRITERIA:
        raise WardroundError(f"there are {len(rows)} criteria; a rubric has at most {MAX_CRITERIA}")
    texts: set[str] = set()
    for place, row in enumerate(rows, 1):
        text, axis = row.get("text"), row.get("axis") or ""
        if not isinstance(text, str) or not 0 < len(text) <= MAX_CRITERION:
            raise WardroundError(f"criterion {place} needs a text of at most {MAX_CRITERION:,} characters")
        if not isinstance(axis, str) or len(axis) > MAX_AXIS:
            raise WardroundError(f"the axis of criterion {place} is a text of at most {MAX_AXIS} characters")
        if text.casefold() in texts:
            raise WardroundError(f"criterion {place} is there twice: “{text}”")
        texts.add(text.casefold())
    known_ids = {str(row["id"]) for row in rows if row.get("id")}
    free_ids = (id for number in count(1) if (id := f"c{number}") not in known_ids)
    return [
        {
            "id": str(row.get("id") or next(free_ids)),
            "text": row["text"],
            "points": _checked_points(row.get("points"), place),
            "axis": row.get("axis") or None,
        }
        for place, row in enumerate(rows, 1)
    ]


def _checked_points(value: Any, place: int) -> float:
    try:
        points = float(str(value).replace("−", "-").replace(",", "."))
    except ValueError:
        points = 0.0
    if not 0 < abs(points) <= MAX_POINTS:
        raise WardroundError(
            f"criterion {place} has {value or 'no'} points; write a number from {-MAX_POINTS} to {MAX_POINTS}, not 0"
        )
    return points


def _latest_version(desk: Desk, task: Task) -> dict[int, DeskVerdict]:
    """Of each item, what was saved last, by whomever."""
    return {verdict.item: verdict for verdict in sorted(desk.tasks.verdicts(task), key=lambda verdict: verdict.id)}


def _cases_jsonl(desk: Desk, task: Task) -> bytes:
    latest, cases = _latest_version(desk, task), dict[str, dict[str, Any]]()
    for item in desk.tasks.list_items(task):
        case = cases.setdefault(item.hidden["case"]["id"], dict(item.hidden["case"]))
        if item.number in latest:
            case["questions"] = _with_rubric(case["questions"], item.shown["question"], latest[item.number].said)
    return to_jsonl(case for case in cases.values() if case["questions"])


def _with_rubric(questions: list[dict[str, Any]], id: str, said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The questions of a case with a rubric written, changed or taken out; its other fields and tags are kept."""
    before = next((question for question in questions if question["id"] == id and question["kind"] == "rubric"), None)
    others = [question for question in questions if question is not before]
    if said["decision"] == DISCARD:
        return others
    tags = {criterion["id"]: criterion.get("tags") for criterion in before["criteria"]} if before else {}
    criteria = [drop_empty({**criterion, "tags": tags.get(criterion["id"])}) for criterion in said["criteria"]]
    rubric = {**(before or {"id": id, "kind": "rubric"}), "prompt": said["prompt"], "criteria": criteria}
    rubric = drop_empty({**rubric, "gold": said["gold"]})
    return [rubric if question is before else question for question in questions] if before else [*others, rubric]
