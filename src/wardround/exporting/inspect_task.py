"""A case set as a task of Inspect AI: our prompts, and our parser as the scorer. Choice questions only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.cases.images.recipe import RASTER_SUFFIXES
from wardround.cases.set import CaseSet
from wardround.core.condition import Condition
from wardround.core.errors import BadInput
from wardround.core.files import write_file
from wardround.core.study import CandidateSettings, Study
from wardround.core.text import option_letter
from wardround.exporting.destination import require_new_file
from wardround.marking.parser.choice import parse_choice

CANDIDATE = CandidateSettings(name="inspect", provider="random")
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
    from inspect_ai import Task
    from inspect_ai.scorer import Score, accuracy, scorer, stderr
    from inspect_ai.solver import generate

    def choice() -> Any:
        async def score(state: Any, target: Any) -> Score:
            options = state.metadata["options"]
            option = parse_choice(state.output.completion, options, mode="strict").option
            letter = option_letter(option) if option is not None else None
            return Score(value="C" if letter == target.text else "I", answer=letter)

        return score

    registered = scorer(metrics=[accuracy(), stderr()], name="wardround_choice")(choice)
    return Task(dataset=list(_samples(CaseSet.open(source))), solver=generate(), scorer=registered())


def _samples(cases: CaseSet) -> Iterator[Any]:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

    study = Study(name="inspect", cases=str(cases.folder), candidates=[CANDIDATE])
    renderer = Renderer(study, cases, Prompts(), lambda path: "")
    for case in cases:
        for question in case.questions:
            if not isinstance(question.gold, int):
                continue
            ask = renderer.render(case, question, Condition(), CANDIDATE, CANDIDATE.identity, trial=0).ask
            messages: list[Any] = []
            for message in ask.messages:
                content: list[Any] = []
                for part in message.parts:
                    if isinstance(part, str):
                        content.append(ContentText(text=part))
                    elif str(part.path).lower().endswith(RASTER_SUFFIXES):
                        content.append(ContentImage(image=str(part.path)))
                    else:
                        raise BadInput(Path(part.path), f"expected {', '.join(RASTER_SUFFIXES)}: convert it first")
                kind = ChatMessageSystem if message.role == "system" else ChatMessageUser
                messages.append(kind(content=content))
            yield Sample(
                id=f"{case.id}/{question.id}",
                input=messages,
                target=option_letter(question.gold),
                metadata={"options": question.choices},
            )
