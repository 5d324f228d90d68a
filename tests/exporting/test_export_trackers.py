"""MLflow and W&B: their own packages write the runs; what is read back are the figures of measures.csv."""

from __future__ import annotations

import csv
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from exam_study import wardround

needs_mlflow = pytest.mark.skipif(find_spec("mlflow") is None, reason="the package mlflow is not installed")
needs_wandb = pytest.mark.skipif(find_spec("wandb") is None, reason="the package wandb is not installed")


def expected_figures(run: Path) -> dict[str, dict[str, float]]:
    """Accuracy with its interval at the reference condition and with blank images, by candidate."""
    names = {"{}": "accuracy", '{"images":"blank"}': "accuracy/images:blank"}
    figures: dict[str, dict[str, float]] = {}
    with (run / "measures.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            if row["measure"] == "accuracy" and (name := names.get(row["slice"])):
                values = {
                    name + end: float(row[key]) for end, key in (("", "value"), ("_low", "low"), ("_high", "high"))
                }
                figures.setdefault(row["candidate"], {}).update(values)
    assert [len(values) for values in figures.values()] == [6, 6]
    return figures


def is_without_folders(manifest: str, run: Path) -> bool:
    return str(run.parent.parent) not in manifest and json.loads(manifest)["cases"].keys() >= {"hash", "questions"}


@needs_mlflow
def test_mlflow_reads_a_run_for_each_candidate_under_its_parent(exam_run, tmp_path):
    from mlflow.tracking import MlflowClient

    result = wardround("export", exam_run, "--to", "mlflow", "--out", "tracked", cwd=tmp_path)
    assert result.returncode == 0, result.stderr

    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/tracked/mlflow.db")
    experiment = client.get_experiment_by_name("exam")
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert set(runs) == {"exam", "strong", "weak"}
    parent = runs.pop("exam")
    for candidate, figures in expected_figures(exam_run).items():
        tracked = runs[candidate]
        assert {name: tracked.data.metrics[name] for name in figures} == figures
        assert tracked.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert tracked.data.params["provider"] == "simulated"
        assert tracked.data.params["sampling_temperature"] == "0.5"
        assert (tracked.info.status, tracked.info.start_time > 1_700_000_000_000) == ("FINISHED", True)
    files = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert files == {"manifest.json", "measures.csv", "comparisons.csv", "report.html"}
    copy = Path(client.download_artifacts(parent.info.run_id, "manifest.json", str(tmp_path)))
    assert is_without_folders(copy.read_text(), exam_run)


def wandb_records(file: Path) -> Iterator[bytes]:
    """The records of a .wandb file: LevelDB's log format after a header of 7 bytes, in blocks of 32 KiB."""
    data, place, record = file.read_bytes(), 7, b""
    while place + 7 <= len(data):
        if (left := 32768 - place % 32768) < 7:
            place += left
            continue
        _, length, kind = struct.unpack("<IHB", data[place : place + 7])
        record += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield record
            record = b""


@needs_wandb
def test_wandb_finds_offline_runs_with_our_figures(exam_run, tmp_path):
    from wandb.proto import wandb_internal_pb2

    result = wardround("export", exam_run, "--to", "wandb-offline", "--out", "tracked", cwd=tmp_path)
    assert result.returncode == 0, result.stderr

    summaries, files = {}, sorted((tmp_path / "tracked").glob("wandb/offline-run-*/run-*.wandb"))
    for file in files:
        summary, candidate = {}, ""
        for data in wandb_records(file):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            if record.WhichOneof("record_type") == "run":
                candidate = record.run.display_name
                config = {item.key: json.loads(item.value_json) for item in record.run.config.update}
                assert (config["candidate"], config["provider"]) == (candidate, "simulated")
            summary |= {item.key: json.loads(item.value_json) for item in record.summary.update if item.key}
        summaries[candidate] = summary
        assert is_without_folders((file.parent / "files" / "manifest.json").read_text(), exam_run)
        assert str(tmp_path).encode() not in file.read_bytes()
    expected = expected_figures(exam_run)
    assert {name: {key: summaries[name][key] for key in expected[name]} for name in summaries} == expected
    wanted = [sys.executable, "-m", "wandb", "sync", "--dry-run"]
    listed = subprocess.run(wanted, cwd=tmp_path / "tracked", capture_output=True, text=True, timeout=120)
    assert "Would sync 2 run(s)" in listed.stdout + listed.stderr


@pytest.mark.parametrize(("format", "package"), [("mlflow", "mlflow"), ("wandb-offline", "wandb")])
def test_without_the_package_one_line_says_how_to_install_it(exam_run, tmp_path, monkeypatch, format, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.tracking", None)
    result = wardround("export", exam_run, "--to", format, "--out", "tracked", cwd=tmp_path)
    assert (result.returncode, result.stderr.count("\n"), list(tmp_path.iterdir())) == (1, 1, [])
    assert f"pip install 'wardround[{package}]'" in result.stderr


def test_names_of_figures_stay_apart_and_fit_into_mlflow(exam_run):
    from dataclasses import replace

    import polars as pl

    from wardround.exporting.trackers.figures import figures_of
    from wardround.reporting.run_files import read_run

    run = read_run(exam_run)
    first = run.measures.row(0, named=True)
    values = {"a@b/c": 0.1, "a_b_c": 0.2, "x" * 400: 0.3, "é=1": 0.4}
    rows = [first | {"slice": json.dumps({"skill": text}), "value": value} for text, value in values.items()]
    figures = figures_of(replace(run, measures=pl.DataFrame(rows, schema=run.measures.schema)), first["candidate"])
    names = [name for name in figures if not name.endswith(("_low", "_high", "_n"))]
    assert [figures[name] for name in names] == list(values.values())
    assert names[:2] == ["accuracy/skill:a_b_c", "accuracy/skill:a_b_c 2"]
    assert max(map(len, figures)) <= 250
