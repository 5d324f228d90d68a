"""A run as a local tracking store of MLflow: a parent run for the study, and a run for each candidate under it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from wardround.core.errors import WardroundError
from wardround.core.files import new_folder
from wardround.exporting.destination import require_new_folder
from wardround.exporting.shared_manifest import write_shared_files
from wardround.exporting.trackers.figures import figures_of, settings_of, study_settings_of
from wardround.reporting.run_files import ALL_CANDIDATES, RunFiles, read_run

DATABASE, ARTIFACTS = "mlflow.db", "artifacts"
MAX_METRICS, MAX_PARAMETERS = 1000, 100  # of one call to the store

Item = TypeVar("Item")


def export_run(folder: Path, out: Path) -> list[Path]:
    """Writes the folder: the database, and the manifest, tables and report as artifacts of the parent run."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # an export sends nothing; read at the import
    try:
        from mlflow.tracking import MlflowClient
    except ImportError:
        raise WardroundError("a store of MLflow needs its package: pip install 'wardround[mlflow]'") from None
    require_new_folder(out)
    run = read_run(folder)
    for name in ("alembic", "mlflow"):  # they report every migration of the new database
        logging.getLogger(name).setLevel(logging.WARNING)
    with new_folder(out) as draft:
        client = MlflowClient(tracking_uri=f"sqlite:///{(draft / DATABASE).absolute()}")
        # the artifacts are copied below to where MLflow finds them after the draft has become the folder
        place = (out.absolute() / ARTIFACTS).as_uri()
        experiment = client.create_experiment(run.name, artifact_location=place)
        parent = _write(client, experiment, run, run.name, study_settings_of(run), figures_of(run, ALL_CANDIDATES))
        write_shared_files(run, draft / ARTIFACTS / parent / "artifacts")
        for candidate in run.candidates:
            settings, figures = settings_of(run, candidate), figures_of(run, candidate)
            _write(client, experiment, run, candidate, settings, figures, {"mlflow.parentRunId": parent})
    return [out]


def _write(
    client: Any,
    experiment: str,
    run: RunFiles,
    name: str,
    settings: Mapping[str, str],
    figures: Mapping[str, float],
    tags: Mapping[str, str] | None = None,
) -> str:
    """Writes one MLflow run; returns its id."""
    from mlflow.entities import Metric, Param

    started, finished = (_milliseconds(run.manifest.get(key)) for key in ("started", "finished"))
    entry = client.create_run(
        experiment, start_time=started, run_name=name, tags={"wardround.study": run.name} | {**(tags or {})}
    )
    id = str(entry.info.run_id)
    for batch in _batches([Param(key, value) for key, value in settings.items()], MAX_PARAMETERS):
        client.log_batch(id, params=batch)
    metrics = [Metric(key, value, finished, 0) for key, value in figures.items()]
    for batch in _batches(metrics, MAX_METRICS):
        client.log_batch(id, metrics=batch)
    client.set_terminated(id, "FINISHED" if run.is_complete else "KILLED", finished)
    return id


def _milliseconds(moment: Any) -> int:
    return round(datetime.fromisoformat(str(moment)).timestamp() * 1000) if moment else 0


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))
