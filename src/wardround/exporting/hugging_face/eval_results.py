"""A run's scores as `.eval_results/*.yaml`, which the Hugging Face Hub shows on the page of a model.

Fields as of 2026-11-18 (huggingface.co/docs/hub/eval-results): dataset (id, task_id, revision), value, date, source,
notes. None is for an interval, so the interval stands in the notes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput, WardroundError
from wardround.core.files import new_folder, write_file
from wardround.exporting.destination import require_new_folder
from wardround.exporting.hugging_face.card import quoted
from wardround.exporting.shared_manifest import shared_manifest_text
from wardround.reporting.reference_condition import score_measures
from wardround.reporting.run_files import MeasureLine, RunFiles, read_run

TASK = "default"  # of the data set's eval.yaml, which a run does not know


def export_run(folder: Path, out: Path, dataset: str | None) -> list[Path]:
    """Writes OUT/CANDIDATE/.eval_results/STUDY_MEASURE.yaml for each score at the reference condition."""
    require_new_folder(out)
    run = read_run(folder)
    source = _dataset(run, folder, dataset)
    files: list[Path] = []
    with new_folder(out) as draft:
        write_file(draft / "manifest.json", shared_manifest_text(run))
        for candidate in run.candidates:
            for measure in score_measures(run):
                line = run.find_line(measure, candidate, {})
                if line is None or line.value is None:
                    continue
                file = Path(_file_name(candidate), ".eval_results", f"{_file_name(f'{run.name}_{measure}')}.yaml")
                if out / file in files:
                    raise WardroundError(f"two candidates have the folder {file.parts[0]}; rename one of them")
                (draft / file).parent.mkdir(parents=True, exist_ok=True)
                write_file(draft / file, _entry(run, line, source))
                files.append(out / file)
    return files


def _dataset(run: RunFiles, folder: Path, dataset: str | None) -> dict[str, str]:
    """The benchmark's data set: as the user names it, else that from which the case set came."""
    if dataset is not None:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", dataset):
            raise WardroundError(f"--dataset {dataset!r}: expected OWNER/NAME, as on the Hugging Face Hub")
        return {"id": dataset, "task_id": TASK}
    hub: Mapping[str, Any] = ((run.manifest.get("cases") or {}).get("source") or {}).get("hub") or {}
    if not hub.get("repo"):
        raise BadInput(folder, "its case set is not from the Hub; name the benchmark's data set: --dataset OWNER/NAME")
    return {"id": str(hub["repo"]), "task_id": TASK, **({"revision": str(hub["commit"])} if hub.get("commit") else {})}


def _entry(run: RunFiles, line: MeasureLine, dataset: Mapping[str, str]) -> str:
    """One result in percent, as YAML."""
    assert line.value is not None
    lines = ["- dataset:", *(f"    {key}: {quoted(value)}" for key, value in dataset.items())]
    lines += [f"  value: {round(100 * line.value, 4)}"]
    if run.manifest.get("finished"):
        lines.append(f"  date: {quoted(str(run.manifest['finished']))}")
    return "\n".join([*lines, f"  notes: {quoted(_notes(run, line))}", ""])


def _notes(run: RunFiles, line: MeasureLine) -> str:
    interval = "no interval"
    if line.low is not None and line.high is not None:
        interval = f"95% interval {round(100 * line.low, 4)} to {round(100 * line.high, 4)} ({line.method})"
    condition = ", ".join(f"{axis} = {value}" for axis, value in run.study.reference_condition.items())
    facts = [f"{line.measure} in percent", interval, f"n = {line.n}", f"{line.clusters} clusters"]
    facts += [f"{run.study.trials} trials"] + ([condition] if condition else [])
    cases, study = run.manifest.get("cases") or {}, run.manifest.get("study") or {}
    facts += [f"cases {str(cases.get('hash'))[:16]}", f"study {run.name} {str(study.get('hash'))[:16]}"]
    facts += [] if run.is_complete else ["incomplete run"]
    return "; ".join([*facts, f"wardround {run.manifest.get('wardround')}"])


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.@-]+", "-", text).strip(".") or "unnamed"
