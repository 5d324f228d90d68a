"""The paths of a run: the study's file, the folder of runs, the answer store and the case set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wardround.cases.hub.hub_name import is_hub_name
from wardround.core.store.location import StoreLocation
from wardround.core.study import Study


@dataclass(frozen=True)
class RunPaths:
    """The paths of a run: the study's file, the folder of runs and the answer store."""

    study: Path
    runs: Path
    answers: StoreLocation
    study_text: bytes | None = None  # of a study that was made in Python and has no file

    @classmethod
    def from_options(cls, study: Study | Path, runs: Path | None, answers: StoreLocation | None) -> RunPaths:
        """The default store is beside the folder of runs. A study without a file is relative to the working folder."""
        runs = runs or Path("runs")
        answers = answers or runs.absolute().parent / "answers.sqlite"
        if isinstance(study, Study):
            return cls(Path(f"{study.name}.toml"), runs, answers, study.to_toml().encode())
        return cls(study, runs, answers)


def cases_folder(study: Study, study_file: Path, note: Callable[[str], None] = lambda line: None) -> Path:
    """The case set that a study names: beside the study file, in the working directory, or on the Hub (hf:)."""
    if is_hub_name(study.cases):
        from wardround.cases.hub.getting import cases_of_study  # which loads every reader

        return cases_of_study(study.cases, study_file.parent, offline=study.offline, note=note)
    folder = study_file.parent / study.cases
    return folder if folder.exists() else Path(study.cases)
