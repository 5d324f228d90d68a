"""A case set as a task of Inspect AI: our prompts, and our parser as the scorer. Choice questions only."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.core.files import write_file
from wardround.core.study import Study
from wardround.exporting.destination import require_new_file
from wardround.exporting.inspect_tasks.study_task import study_task
from wardround.exporting.single_asks import CANDIDATE

TASK_FILE = '''"""The case set {name} as a task of Inspect: inspect eval {file} --model ..."""

from pathlib import Path

from inspect_ai import Task, task

from wardround.exporting.inspect_task import case_task


@task
def {function}() -> Task:
    return case_task(Path(__file__).parent / {path!r})
'''


def export_cases(source: Path, out: Path) -> list[Path]:
    """Writes a Python file with the task; it reads the case set where that is."""
    if out.suffix != ".py":
        raise BadInput(out, "is not the name of a Python file; write --out NAME.py")
    cases = CaseSet.open(source)
    require_new_file(out)
    name = cases.folder.resolve().name
    path = os.path.relpath(cases.file.resolve(), out.parent.resolve())
    function = re.sub(r"\W", "_", f"cases_{name}")
    write_file(out, TASK_FILE.format(name=name, file=out.name, function=function, path=path))
    return [out]


def case_task(source: Path) -> Any:
    """The task: a sample per choice question, scored right if our strict parser reads the right option."""
    cases = CaseSet.open(source)
    study = Study(name="inspect", cases=str(cases.folder), questions=["choice"], candidates=[CANDIDATE])
    return study_task(study, cases, cases.folder.name)
