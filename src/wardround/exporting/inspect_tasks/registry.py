"""What Inspect loads by the entry point `inspect_ai`: a task per named study, such as wardround/medq_deg_table6."""

from __future__ import annotations

import re
from typing import Any

from inspect_ai import task
from inspect_ai._util.error import PrerequisiteError

from wardround.benchmarks.engine.named_study import NamedStudy, named_studies
from wardround.core.errors import WardroundError
from wardround.exporting.inspect_tasks.study_task import named_study_task


def _register(study: NamedStudy) -> None:
    def study_task(
        cases: str | None = None, type: str | None = None, trials: int | None = None, carry: str | None = None
    ) -> Any:
        try:
            return named_study_task(study, cases, type, trials, carry)
        except WardroundError as error:
            raise PrerequisiteError(f"wardround: {error}") from None

    task(name=re.sub(r"\W", "_", study.name))(study_task)


for named_study in named_studies().values():
    _register(named_study)
