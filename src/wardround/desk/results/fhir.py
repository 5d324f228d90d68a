"""Verdicts and exam answers as FHIR R4: a Questionnaire and its QuestionnaireResponses, in one Bundle.

An exam is one Questionnaire with a question for each of its items, and one response for each person. Every other task
is a Questionnaire of the fields of its form, and each verdict is a response about its item. Fields are nested as in
`verdicts.jsonl`; what has no fixed shape (edits) is JSON in a text.
"""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wardround.core.text import LETTERS
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, DeskVerdict, Task
from wardround.desk.results.agreement import latest_verdicts

SYSTEM = "urn:wardround:desk"
EXAM, OPTION, CONFIDENCE, ANSWER = "exam", "option", "confidence", "answer"
BOOLEAN, DECIMAL, STRING, TEXT, GROUP, CHOICE = "boolean", "decimal", "string", "text", "group", "choice"
VALUE_OF = {BOOLEAN: "valueBoolean", DECIMAL: "valueDecimal", STRING: "valueString", TEXT: "valueString"}

Resource = dict[str, Any]


def fhir_bundle(desk: Desk, task: Task) -> bytes:
    """The Bundle of a task: its Questionnaire first, then the responses in the order of their verdicts."""
    if task.kind == EXAM:
        questionnaire, responses = _exam_questionnaire(desk, task), list(_exam_responses(desk, task))
    else:
        verdicts = desk.tasks.verdicts(task)
        fields = _fields([verdict.said for verdict in verdicts])
        questionnaire = _questionnaire(desk, task, [_definition(link, field) for link, field in fields.items()])
        items = {item.number: item for item in desk.tasks.list_items(task)}
        responses = [_response(task, verdict, items[verdict.item], fields) for verdict in verdicts]
    entries = [{"fullUrl": _uuid(resource["id"]), "resource": resource} for resource in (questionnaire, *responses)]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": entries}
    return (json.dumps(bundle, ensure_ascii=False, indent=1) + "\n").encode()


def _questionnaire(desk: Desk, task: Task, items: list[Resource]) -> Resource:
    kind = desk.kind(task)
    resource = {
        "resourceType": "Questionnaire",
        "id": f"task-{task.id}",
        "url": _canonical(task),
        "name": f"Task{task.id}",
        "title": task.name,
        "status": "active" if task.open else "retired",
        "date": task.made,
        "publisher": task.project,
        "description": kind.summary,
        "code": [{"system": SYSTEM, "code": kind.name, "display": kind.title}],
    }
    return resource | ({"item": items} if items else {})


def _canonical(task: Task) -> str:
    return _uuid(f"questionnaire {task.id} {task.made}")


def _uuid(name: str) -> str:
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{SYSTEM}/{name}')}"


# tasks of one form for each item


def _fields(said: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The type of each field of the verdicts, by its name; a group has a dictionary of its own."""
    values: dict[str, list[Any]] = {}
    for verdict in said:
        for name, value in verdict.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: _type_of(name, answers) for name, answers in values.items()}


def _type_of(name: str, values: list[Any]) -> Any:
    if all(isinstance(value, dict) for value in values):
        is_fixed = name != "edits" and all(_is_plain(inner) for value in values for inner in value.values())
        return _fields(values) if is_fixed else TEXT
    scalars = [part for value in values for part in (value if isinstance(value, list) else [value])]
    if all(isinstance(part, bool) for part in scalars):
        return BOOLEAN
    if all(isinstance(part, int | float) and not isinstance(part, bool) for part in scalars):
        return DECIMAL
    return STRING if all(isinstance(part, str) for part in scalars) else TEXT


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _definition(link: str, field: Any) -> Resource:
    name = link.rsplit(".", 1)[-1].replace("_", " ")
    if isinstance(field, dict):
        return {
            "linkId": link,
            "text": name,
            "type": GROUP,
            "item": [_definition(f"{link}.{inner}", kind) for inner, kind in field.items()],
        }
    return {"linkId": link, "text": name, "type": field, "repeats": True}


def _response(task: Task, verdict: DeskVerdict, item: DeskItem, fields: Mapping[str, Any]) -> Resource:
    subject = {"identifier": {"system": f"{SYSTEM}:item", "value": item.name}, "display": item.name}
    return _answered(task, verdict, f"verdict-{verdict.id}", _answers(verdict.said, fields)) | {"subject": subject}


def _answered(task: Task, verdict: DeskVerdict, id: str, items: list[Resource]) -> Resource:
    author = {"identifier": {"system": f"{SYSTEM}:person", "value": str(verdict.person)}}
    resource = {
        "resourceType": "QuestionnaireResponse",
        "id": id,
        "questionnaire": _canonical(task),
        "status": "completed",
        "authored": verdict.time,
        "author": author | {"display": f"{verdict.reader} ({verdict.role})"},
    }
    return resource | ({"item": items} if items else {})


def _answers(said: Mapping[str, Any], fields: Mapping[str, Any], prefix: str = "") -> list[Resource]:
    answers: list[Resource] = []
    for name, field in fields.items():
        value = said.get(name)
        if value is None or value in ("", [], {}):
            continue
        if isinstance(field, dict):
            inner = _answers(value, field, f"{prefix}{name}.")
            answers += [{"linkId": f"{prefix}{name}", "item": inner}] if inner else []
            continue
        parts = value if isinstance(value, list) and field != TEXT else [value]
        texts = [json.dumps(part, ensure_ascii=False) if not _is_plain(part) else part for part in parts]
        answers.append({"linkId": f"{prefix}{name}", "answer": [{VALUE_OF[field]: text} for text in texts]})
    return answers


# the exam


def _exam_questionnaire(desk: Desk, task: Task) -> Resource:
    items = [item for item in desk.tasks.list_items(task) if "question" in item.shown]
    return _questionnaire(desk, task, [_exam_question(item) for item in items])


def _exam_question(item: DeskItem) -> Resource:
    question, inner = item.shown["question"], [_definition(f"{item.name}.{CONFIDENCE}", DECIMAL)]
    definition: Resource = {"linkId": item.name, "text": question["prompt"], "type": STRING, "item": inner}
    if question.get("options"):
        definition |= {"type": CHOICE, "answerOption": [{"valueCoding": _coding(item, n)} for n in _places(item)]}
    return definition


def _places(item: DeskItem) -> range:
    return range(len(item.shown["question"]["options"]))


def _coding(item: DeskItem, place: int) -> Resource:
    option = item.shown["question"]["options"][place]
    return {"system": f"{SYSTEM}:option", "code": LETTERS[place], "display": str(option)}


def _exam_responses(desk: Desk, task: Task) -> Iterator[Resource]:
    """One response for each person, with their latest answers; `in-progress` until they have finished."""
    items = {item.number: item for item in desk.tasks.list_items(task)}
    verdicts = desk.tasks.verdicts(task)
    latest = latest_verdicts(verdicts)
    for person in dict.fromkeys(verdict.person for verdict in verdicts):
        own = [verdict for by_reader in latest.values() for verdict in by_reader.values() if verdict.person == person]
        answers = [
            _exam_answer(items[verdict.item], verdict.said)
            for verdict in sorted(own, key=lambda verdict: verdict.item)
            if OPTION in verdict.said or ANSWER in verdict.said
        ]
        last = max(own, key=lambda verdict: verdict.id)
        status = "completed" if any("ai" in verdict.said for verdict in own) else "in-progress"
        yield _answered(task, last, f"task-{task.id}-person-{person}", answers) | {"status": status}


def _exam_answer(item: DeskItem, said: Mapping[str, Any]) -> Resource:
    value = {"valueCoding": _coding(item, said[OPTION])} if OPTION in said else {"valueString": said[ANSWER]}
    if said.get(CONFIDENCE) is not None:
        sure = {"linkId": f"{item.name}.{CONFIDENCE}", "answer": [{"valueDecimal": said[CONFIDENCE]}]}
        value |= {"item": [sure]}
    return {"linkId": item.name, "answer": [value]}
