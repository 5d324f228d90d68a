"""A run opened again after it ended: its study, manifest, cases, prompts and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.asking.prompts import Prompts
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.core.study import Study, load_study
from wardround.running.run_folder import RunFolder
from wardround.running.store import AnswerKey, AnswerStore
from wardround.running.used_answers import read_used


@dataclass(frozen=True)
class StoredRun:
    """A run folder with everything that its answers can be marked and shown from."""

    folder: Path
    study: Study
    manifest: dict[str, Any]
    cases: CaseSet
    store: AnswerStore
    prompts: Prompts

    @property
    def study_folder(self) -> Path:
        """What paths of the study are relative to."""
        return Path(self.manifest["study"]["folder"])

    @classmethod
    def open(cls, folder: Path, answers: Path | None = None) -> StoredRun:
        """Opens a run; its answers are those packed into it, else those of the store beside the folder of runs."""
        if not (folder / "used.parquet").exists():
            raise BadInput(folder, "is not a run folder that can be marked: there is no used.parquet in it")
        study = load_study(folder / "study.toml")
        manifest = RunFolder(folder).manifest
        cases = CaseSet.open(manifest["cases"].get("file") or manifest["cases"]["folder"])
        packed, workspace_store = folder / "answers.sqlite", folder.absolute().parent.parent / "answers.sqlite"
        store = AnswerStore(answers or (packed if packed.exists() else workspace_store))
        return cls(folder, study, manifest, cases, store, Prompts(Path(manifest["study"]["folder"])))

    def __enter__(self) -> StoredRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()


def pack_answers(folder: Path, answers: Path, judge_keys: Sequence[AnswerKey]) -> int:
    """Copies the answers that a run used into its folder, those of its judge among them; returns their number."""
    used = read_used(folder).select("ask", "trial", "turn").unique(maintain_order=True)
    keys = [AnswerKey(bytes.fromhex(ask), trial, turn) for ask, trial, turn in used.iter_rows()]
    store = AnswerStore(answers)
    try:
        return store.copy_answers([*keys, *judge_keys], folder / "answers.sqlite")
    finally:
        store.close()
