"""A named study over several case sets: run on each of them, and drawn of all runs together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from wardround.api import Ended, run_study
from wardround.benchmarks.engine.named_study import Entry
from wardround.benchmarks.engine.study_file import as_toml, study_table
from wardround.cases.set import FILE_NAME, CaseSet
from wardround.core.errors import WardroundError
from wardround.core.study import study_from
from wardround.reporting.run_files import RunFolder, read_run


def case_sets(folder: Path) -> list[Path]:
    """The case sets that a folder holds, by name."""
    found = sorted(path.parent for path in folder.glob(f"*/{FILE_NAME}"))
    if len(found) < 2:
        raise WardroundError(f"{folder}: is no folder of several case sets, each a folder with a {FILE_NAME}")
    return found


def run_on_each(
    name: str,
    entry: Entry,
    cases: Path,
    candidates: list[dict[str, Any]],
    file_name: str,
    *,
    runs: Path,
    answers: Path | None,
    trials: int | None,
    note: Callable[[str], None],
) -> list[tuple[str, RunFolder, Ended]]:
    """The study on every case set of a folder. A set without the telling that is asked for is told in its own way."""
    assert entry.put is not None
    studies = []
    for folder in case_sets(cases):
        wanted = entry.put.conditions.get("telling", [])
        own = not all(telling in case.tellings for case in CaseSet.open(folder) for telling in wanted)
        conditions = {axis: values for axis, values in entry.put.conditions.items() if not (own and axis == "telling")}
        put = entry.put.model_copy(update={"conditions": conditions})
        told = study_table(name, put, folder, candidates, trials=trials)
        told["name"] += f"-{folder.name}"
        study_from(told, runs / told["name"] / file_name)  # what is wrong with it is said before anything is run
        studies.append((folder.name, told))
    ended = []
    for set_name, told in studies:
        place = runs / told["name"]
        place.mkdir(parents=True, exist_ok=True)
        (place / file_name).write_text(f"# {name} on {set_name}: {entry.title}\n{as_toml(told)}", encoding="utf-8")
        note(f"{set_name}:")
        done = run_study(place / file_name, runs=runs, answers=answers, note=note)
        ended.append((set_name, read_run(done.folder), done))
    return ended
