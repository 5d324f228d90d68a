"""The runs that the explorer shows: folders of runs, or folders that hold some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wardround.core.errors import WardroundError
from wardround.core.study import load_study
from wardround.marking.marks import MARKS_FILE
from wardround.running.run_folder import RunFolder, find_run_folders


@dataclass(frozen=True)
class ShownRun:
    """One run folder and the name under which it is shown."""

    name: str
    folder: Path

    @property
    def marks(self) -> Path:
        return self.folder / MARKS_FILE

    @property
    def manifest(self) -> dict[str, Any]:
        return RunFolder(self.folder).manifest

    @cached_property
    def counts_refused(self) -> bool:
        """Whether a refused question counts as not right, as the study says."""
        try:
            return "refused" in load_study(self.folder / "study.toml").scored_outcomes
        except WardroundError:
            return True

    @cached_property
    def candidate_order(self) -> list[str]:
        return [entry.get("name", "?") for entry in self.manifest.get("candidates", [])]


def find_runs(paths: Sequence[Path]) -> list[ShownRun]:
    """The runs at these paths; a path may be a run folder or a folder of runs. Equal names are told apart."""
    folders: dict[Path, None] = {}
    for path in paths:
        folders |= dict.fromkeys(folder.resolve() for folder in find_run_folders(path))
    names = [folder.name for folder in folders]
    return [
        ShownRun(name if names.count(name) == 1 else f"{folder.parent.name}/{name}", folder)
        for name, folder in zip(names, folders, strict=True)
    ]
