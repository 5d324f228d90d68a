"""Inspect's own reader opens the logs of a run and finds the run's accuracy."""

from __future__ import annotations

import csv

import pytest
from exam_study import wardround


def accuracies(run):
    """The accuracies at the reference condition, with their intervals, from measures.csv."""
    with (run / "measures.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["measure"] == "accuracy" and row["slice"] == "{}"]
    return {row["candidate"]: tuple(float(row[name]) for name in ("value", "low", "high")) for row in rows}


def test_inspect_reads_the_logs_and_its_scores_equal_ours(exam_run, tmp_path):
    log_api = pytest.importorskip("inspect_ai.log", reason="the package inspect-ai is not installed")
    scorer = pytest.importorskip("inspect_ai.scorer")
    result = wardround("export", str(exam_run), "--to", "inspect", "--out", "logs", cwd=tmp_path)
    assert result.returncode == 0, result.stderr

    expected = accuracies(exam_run)
    assert len(list((tmp_path / "logs").iterdir())) == 4
    for candidate, figures in expected.items():
        log = log_api.read_eval_log(str(tmp_path / "logs" / f"exam_{candidate}_options-rotated.eval"))
        metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
        names = ("accuracy", "accuracy_low", "accuracy_high")
        assert tuple(metrics[name] for name in names) == pytest.approx(figures)
        to_float = scorer.value_to_float()
        values = [to_float(sample.scores["wardround"].value) for sample in log.samples]
        assert sum(values) / len(values) == pytest.approx(figures[0])
        for sample in log.samples:
            is_right = sample.scores["wardround"].answer == sample.target
            assert is_right == (sample.scores["wardround"].value == "C")
    assert len(expected) == 2


def test_without_the_package_one_line_says_how_to_install_it(exam_run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    result = wardround("export", str(exam_run), "--to", "inspect", "--out", "logs", cwd=tmp_path)
    assert (result.returncode, list(tmp_path.iterdir())) == (1, [])
    assert "pip install 'wardround[inspect]'" in result.stderr
