"""HealthBench: lines with prompt (messages), prompt_id, rubrics (criterion, points, tags), example_tags.

The last message is the question; those before it are its conversation, sent as messages. A tag `axis:NAME` of a
criterion is its axis. The physicians' ideal completion, if there is one, is the gold.
"""

from pathlib import Path
from typing import Any

from wardround.cases.readers.tables.case_collector import CaseCollector, RecordPlace
from wardround.cases.readers.tables.json_file import JsonObject, jsonl_records, required_text
from wardround.cases.readers.tables.source_files import find_files_by_suffix
from wardround.core.case import drop_empty

AXIS = "axis:"
READ = {"prompt", "prompt_id", "rubrics", "example_tags", "ideal_completions_data"}


def read_healthbench(source: Path) -> CaseCollector:
    """The cases of one .jsonl file, or of a folder of them; the subsets (hard, consensus) repeat cases of the whole."""
    cases = CaseCollector()
    for file in find_files_by_suffix(source, ".jsonl"):
        for place, record in jsonl_records(file, cases.problems):
            _add(place, record, cases)
    return cases.require_cases(source)


def _add(place: RecordPlace, record: JsonObject, cases: CaseCollector) -> None:
    field = "prompt_id"
    try:
        id = required_text(record, field)
        field = "prompt"
        messages = _objects(record.get(field), "messages, each with role and content")
        if messages[-1].get("role") != "user":
            raise ValueError(f"ends with a message of {messages[-1].get('role')!r}; expected one of 'user'")
        prompt = required_text(messages[-1], "content")
        field = "rubrics"
        criteria = [
            _criterion(number, item)
            for number, item in enumerate(_objects(record.get(field), "criteria, each with criterion and points"), 1)
        ]
    except ValueError as error:
        cases.problems.append(place.problem(field, str(error)))
        return
    ideal = record.get("ideal_completions_data")
    question = drop_empty(
        {
            "id": "rubric",
            "kind": "rubric",
            "prompt": prompt,
            "gold": ideal.get("ideal_completion") if isinstance(ideal, dict) else None,
            "criteria": criteria,
            "conversation": messages[:-1],
        }
    )
    extra = {key: value for key, value in record.items() if key not in READ}
    case = {
        "id": f"healthbench-{id}",
        "tags": [str(tag) for tag in record.get("example_tags") or []],
        "origin": {"name": "healthbench"},
        "questions": [question | {f"source_{key}" if key in question else key: extra[key] for key in extra}],
    }
    cases.add(place, drop_empty(case), {"questions[0].criteria": "rubrics", "questions[0]": "rubrics"})


def _criterion(number: int, item: JsonObject) -> dict[str, Any]:
    tags = [str(tag) for tag in item.get("tags") or []]
    axis = next((tag.removeprefix(AXIS) for tag in tags if tag.startswith(AXIS)), None)
    points = item.get("points")
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise ValueError(f"criterion {number} has the points {points!r}; expected a number")
    text = required_text(item, "criterion")
    return drop_empty({"id": str(number), "text": text, "axis": axis, "tags": tags}) | {"points": points}


def _objects(value: object, expected: str) -> list[JsonObject]:
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        raise ValueError(f"is not a list of {expected}")
    return value
