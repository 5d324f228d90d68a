"""A table becomes a case set, with the first cases as a candidate would be asked them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.cases.conversion import write_cases
from wardround.cases.importing.guessing import (
    first_row,
    guess_map,
    is_table_of_studies,
    map_as_toml,
    unmapped_columns,
)
from wardround.cases.importing.mapped_cases import import_table, read_public_set
from wardround.cases.importing.table_map import TableMap, public_names, read_map
from wardround.cases.set import CaseSet, error_from
from wardround.core.ask import ImagePart
from wardround.core.condition import Condition
from wardround.core.errors import BadInput, Problem
from wardround.core.study import CandidateSettings, Study

SHOWN_CASES = 3
CANDIDATE = CandidateSettings(name="preview", provider="random")


@dataclass(frozen=True)
class ImportedTable:
    """What became of a table: the number of cases, what was left out, and the map, if it was guessed."""

    cases: int
    out: Path | None
    problems: list[Problem]
    map_text: str = ""
    unmapped: tuple[str, ...] = ()
    preview: tuple[str, ...] = ()  # the first cases, as a candidate would be asked them
    has_questions: bool = True  # False: a table of studies with diagnoses, by its guessed map

    def to_dict(self) -> dict[str, Any]:
        guessed = {"map": self.map_text, "not_imported": list(self.unmapped), "preview": list(self.preview)}
        problems = [
            {"file": str(problem.file), "line": problem.line, "field": problem.field, "message": problem.message}
            for problem in self.problems
        ]
        written = {"cases": self.cases, "out": None if self.out is None else str(self.out), "problems": problems}
        return written | (guessed if self.map_text else {})


def import_table_to(table: Path, out: Path | None, map_name: str | None, *, strict: bool = False) -> ImportedTable:
    """Imports a table by a map's file or a public set's name; None: by a guess, with a preview of the first cases."""
    if map_name is not None and map_name in public_names():
        cases, guessed = read_public_set(map_name, table), None
    else:
        guessed = guess_map(table) if map_name is None else None
        try:
            cases = import_table(table, guessed or read_map(Path(map_name or "")))
        except BadInput as error:  # the map may still be right but for one key
            if guessed is None or out is not None or strict:
                raise
            return ImportedTable(0, None, [error.problem], map_as_toml(guessed), _unmapped(guessed, table))
    if strict and cases.problems:
        raise error_from(cases.problems[0])
    count = len(cases) if out is None else write_cases(cases, out)
    if guessed is None:
        return ImportedTable(count, out, cases.problems)
    with TemporaryDirectory(prefix="wardround-") as folder:
        write_cases(cases, Path(folder) / "preview", SHOWN_CASES)
        preview = tuple(preview_asks(CaseSet.open(Path(folder) / "preview"), SHOWN_CASES))
    map_text, unmapped = map_as_toml(guessed), _unmapped(guessed, table)
    return ImportedTable(count, out, cases.problems, map_text, unmapped, preview, not is_table_of_studies(guessed))


def preview_asks(cases: CaseSet, count: int) -> Iterator[str]:
    """The text of the first cases' first questions, with a line for each image and one for the right answer."""
    study = Study(name="preview", cases=str(cases.folder), candidates=[CANDIDATE])
    renderer = Renderer(study, cases, Prompts(), lambda path: "")
    for case in islice(cases, count):
        question = case.questions[0]
        ask = renderer.render(case, question, Condition(), CANDIDATE, CANDIDATE.identity, trial=0).ask
        lines = [
            f"[image {PurePath(part.path).name}]" if isinstance(part, ImagePart) else part
            for message in ask.messages
            for part in message.parts
        ]
        yield "\n".join([f"--- {case.id}, question {question.id}", *lines, f"Right: {question.gold_text}"])


def _unmapped(table_map: TableMap, table: Path) -> tuple[str, ...]:
    return tuple(unmapped_columns(table_map, first_row(table, table_map)))
