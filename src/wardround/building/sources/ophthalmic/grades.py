"""The step `grades`: levels and importance that specialists set at the desk, instead of the schema's.

A line of grades.jsonl names a question of a set that was built before, by its case, its id and its right answer. The
same table, seed and files give the same questions again; other ones are refused.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import Field, ValidationError

from wardround.building.pipeline.pipeline import Build, Record, Step, record_step
from wardround.building.sources.ophthalmic.schema import EyeSchema, Level
from wardround.building.sources.ophthalmic.severity import grades_by_option
from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.field_errors import list_errors
from wardround.core.toml_table import StrictTable

STEP = "grades"


class QuestionGrade(StrictTable):
    """What specialists say of one question."""

    case: str
    question: str
    answer: str
    grade: Level
    importance: float = Field(ge=0)
    readers: int = Field(default=1, ge=1)


Grades = dict[tuple[str, str], QuestionGrade]


def read_grades(file: Path) -> Grades:
    """The lines of grades.jsonl by case and question."""
    grades: Grades = {}
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(file, describe_unreadable(error)) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            grade = QuestionGrade.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            raise BadInput(file, f"is not JSON: {error.msg}", line=number) from None
        except ValidationError as error:
            field, message = list_errors(error)[0]
            raise BadInput(file, message, line=number, field=field or None) from None
        grades[grade.case, grade.question] = grade
    return grades


def grades_step(grades: Grades, file: Path, schema: EyeSchema) -> Step:
    """Sets the level and importance of the questions that have a grade."""

    def change(record: Record, build: Build) -> Record:
        return record | {"items": [_graded(item, record["id"]) for item in record["items"]]}

    def _graded(item: Record, case: str) -> Record:
        grade = grades.get((case, item["id"]))
        if grade is None:
            return item
        answer = item["options"][item["gold"]]
        if not _is_same_answer(grade.answer, item, schema):
            raise BadInput(
                file,
                f"{case}, {item['id']}: graded with the answer {grade.answer!r}, built with {answer!r}; "
                "build with the table, seed and files of the graded set",
            )
        return item | {"grade": grade.grade, "importance": grade.importance}

    return record_step(STEP, change)


def _is_same_answer(graded: str, item: Record, schema: EyeSchema) -> bool:
    """Whether an item has the answer that it was graded with; grades may be named as in sets that were built before."""
    if graded == item["options"][item["gold"]]:
        return True
    disease = schema.diseases[item["disease"]]
    grades = grades_by_option(disease).get(graded, []) if item.get("stage") == "SG" else []
    return item.get("label") in [disease.grades[grade] for grade in grades]
