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


def test_inspect_scores_the_same_replies_as_our_parser(exam_cases, tmp_path, monkeypatch):
    """Of eight replies in several wordings, five name the gold, two another option, one none: 5/8."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="the package inspect-ai is not installed")
    model_api = pytest.importorskip("inspect_ai.model")
    result = wardround("export", str(exam_cases), "--to", "inspect", "--out", "exam_task.py", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    golds = ["ABCDE"[number % (2 + number % 4)] for number in range(8)]
    wrong = ["B" if gold == "A" else "A" for gold in golds]
    replies = [golds[0], f"({golds[1]})", f"The answer is {golds[2]}.", f"**{golds[3]}**", f"Answer: {golds[4]}"]
    replies += [wrong[5], f"The answer is {wrong[6]}.", "I cannot say."]
    outputs = [model_api.ModelOutput.from_content("mockllm/model", reply) for reply in replies]
    for output in outputs:  # otherwise Inspect fetches a tokenizer to count them
        output.usage = model_api.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)

    monkeypatch.chdir(tmp_path)
    model = model_api.get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_ai.eval("exam_task.py", model=model, max_samples=1, log_dir=str(tmp_path / "logs"), display="none")

    assert log.status == "success", log.error
    assert log.results.scores[0].metrics["accuracy"].value == 5 / 8
    assert [sample.output.completion for sample in log.samples] == replies
    assert [part.type for part in log.samples[1].messages[0].content] == ["image", "image", "text"]
