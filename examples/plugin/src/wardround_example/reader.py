"""Reader `quiz`: a CSV file with the columns question, right, wrong1, wrong2, wrong3."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wardround.core.case import Case, Image, Question
from wardround.core.errors import BadInput, Problem


@dataclass
class QuizCases:
    file: Path
    problems: list[Problem] = field(default_factory=list)

    def __iter__(self) -> Iterator[Case]:
        with self.file.open(encoding="utf-8-sig", newline="") as lines:
            for number, row in enumerate(csv.DictReader(lines), 1):
                options = [row["right"], row["wrong1"], row["wrong2"], row["wrong3"]]
                question = Question(id="mcq", kind="choice", prompt=row["question"], options=options, gold=0)
                yield Case(id=f"quiz-{number}", questions=[question])

    def copy_image(self, image: Image, target: Path, /) -> None:
        raise BadInput(self.file, "a quiz has no images")


def read_quiz(path: Path) -> QuizCases:
    if not path.is_file():
        raise BadInput(path, "is not a file; a quiz is one CSV file")
    return QuizCases(path)
