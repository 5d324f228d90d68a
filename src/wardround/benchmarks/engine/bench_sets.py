"""A named study on several case sets: one run on each, drawn together."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.benchmark import STUDY_FILE
from wardround.benchmarks.engine.named_study import NamedStudy
from wardround.benchmarks.engine.study_file import study_settings, write_study
from wardround.cases.set import FILE_NAME, CaseSet
from wardround.core.errors import WardroundError
from wardround.core.store.location import StoreLocation
from wardround.core.study import parse_study
from wardround.pipeline import RunOutcome, run_study
from wardround.reporting.run_files import RunFiles, read_run


def find_case_sets(folder: Path) -> list[Path]:
    """The case sets in a folder, by name."""
    folders = sorted(path.parent for path in folder.glob(f"*/{FILE_NAME}"))
    if len(folders) < 2:
        raise WardroundError(f"{folder}: expected a folder of two or more case sets, each a folder with a {FILE_NAME}")
    return folders


def run_on_case_sets(
    study: NamedStudy,
    cases: Path,
    candidates: list[dict[str, Any]],
    *,
    runs: Path,
    answers: StoreLocation | None,
    trials: int | None,
    prompts: Path | None = None,
    parser: str | None = None,
    accept_ignored: bool = False,
    note: Callable[[str], None],
) -> list[tuple[str, RunFiles, RunOutcome]]:
    """Runs the study on every case set of a folder; sets without the telling that it asks for use their own."""
    settings_by_set: dict[str, dict[str, Any]] = {}
    for folder in find_case_sets(cases):
        tellings = study.template.conditions.get("telling", [])
        has_tellings = all(telling in case.tellings for case in CaseSet.open(folder) for telling in tellings)
        conditions = {
            axis: values for axis, values in study.template.conditions.items() if has_tellings or axis != "telling"
        }
        template = study.template.model_copy(update={"conditions": conditions})
        settings = study_settings(
            study.name, template, folder, candidates, trials=trials, prompts=prompts, parser=parser
        )
        settings["name"] += "-" + re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name)  # the name of a run has no spaces
        parse_study(settings, runs / settings["name"] / STUDY_FILE)  # all are checked before the first is run
        settings_by_set[folder.name] = settings
    results = []
    for set_name, settings in settings_by_set.items():
        file = runs / settings["name"] / STUDY_FILE
        write_study(settings, file, f"{study.name} on {set_name}: {study.definition.title}")
        note(f"{set_name}:")
        ended = run_study(
            file,
            runs=runs,
            answers=answers,
            accept_ignored=accept_ignored,
            named_study=study.to_manifest(),
            note=note,
        )
        results.append((set_name, read_run(ended.folder), ended))
    return results
