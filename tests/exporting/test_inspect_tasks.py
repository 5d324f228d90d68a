"""Named studies as tasks of Inspect: `inspect eval wardround/medq_deg_table6` has the figures of `wardround bench`."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import orjson
import polars as pl
import pytest
from exam_server import ExamServer
from exam_study import case, wardround, write_cases
from medq_deg_cases import medq_deg_cases

from wardround.benchmarks.engine.named_study import find_study, named_studies
from wardround.benchmarks.engine.study_file import study_settings
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.core.study import parse_study
from wardround.exporting.inspect_tasks.marks_scorer import Figure, mark_single, measured_figures
from wardround.exporting.inspect_tasks.study_task import named_study_task, refusal_reason
from wardround.exporting.single_asks import SingleAsks

STUDY = "medq-deg/table6"
BY_SEVERITY = {f"accuracy/severity:{level}": {"severity": level} for level in ("L0", "L1", "L2")}


def read_accuracies(run: Path) -> dict[str, float]:
    """The accuracy of a run and its accuracies by severity, as metrics name them."""
    with (run / "measures.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["measure"] == "accuracy"]
    values = {row["slice"]: float(row["value"]) for row in rows}
    overall = next(row for row in rows if row["slice"] == "{}")
    ends = {f"accuracy_{end}": float(overall[end]) for end in ("low", "high")}
    sliced = {name: values[json.dumps(slice, separators=(",", ":"))] for name, slice in BY_SEVERITY.items()}
    return {"accuracy": values["{}"], **ends, **sliced}


def choose_by_content(body, index):
    """The answer depends on the text and the bytes of the images alone."""
    parts = [part.get("text") or part["image_url"]["url"] for part in body["messages"][-1]["content"]]
    return "ABCD"[hashlib.sha256(orjson.dumps(parts)).digest()[0] % 4]


@pytest.fixture(scope="module")
def server():
    with ExamServer(choose_by_content) as server:
        yield server


@pytest.fixture(scope="module")
def bench_run(server, tmp_path_factory) -> Path:
    """A run of Table 6 on twelve cases with degraded twins, two trials."""
    folder = tmp_path_factory.mktemp("bench")
    medq_deg_cases(folder / "cases", 12)
    candidate = f"model={server.url},model=exam-model"
    options = ("--cases", "cases", "--candidate", candidate, "--trials", "2")
    result = wardround("bench", STUDY, *options, cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder / "runs" / "medq-deg-table6"


def test_the_marks_of_single_asks_have_the_figures_of_bench(bench_run, tmp_path):
    """Without Inspect: the questions that a task lists, marked by its scorer, give the measures of the run."""
    out = str(tmp_path / "answers.parquet")
    assert wardround("export", str(bench_run), "--to", "parquet", "--out", out, cwd=tmp_path).returncode == 0
    table = pl.read_parquet(out)
    replies = {(row["case"], row["question"], row["trial"]): (row["prompt"], row["reply"]) for row in table.to_dicts()}
    study, cases = find_study(STUDY), CaseSet.open(bench_run.parent.parent / "cases")
    settings = study_settings(STUDY, study.template, cases.folder, [{"name": "model", "provider": "random"}], trials=2)
    asks = SingleAsks(parse_study(settings, cases.file), cases)

    marks = []
    for asked in asks:
        for trial in range(2):
            rendered = asks.render(asked, trial)
            prompt, reply = replies[asked.case.id, asked.question.id, trial]
            assert "".join(part for part in rendered.ask.messages[0].parts if isinstance(part, str)) in prompt
            marks.append(mark_single(asked, Answer(reply), rendered.order, trial, asks.study, None))

    assert len(marks) == len(table) == 12 * 5 * 2
    expected = read_accuracies(bench_run)
    figures = [Figure("accuracy"), *(Figure("accuracy", slice) for slice in BY_SEVERITY.values())]
    measured = measured_figures(marks, asks.study, figures)
    assert {name: measured[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert 0 < expected["accuracy"] < 1


def test_every_named_study_is_a_task_or_says_why_not():
    reasons = {name: refusal_reason(study) for name, study in named_studies().items()}
    assert [name for name, reason in reasons.items() if reason is None and name.startswith("cure/")] == [
        "cure/base",
        "cure/table2",
    ]
    assert reasons["cure/table1"] == "searches literature or shows it"
    assert reasons["clinbench/table9"] == "needs a judge that is a model"
    assert reasons["clinbench/table8"] == "asks for log-likelihoods of texts"
    assert reasons["clinbench/fig1"] == "is over several case sets"
    assert reasons["medq-deg/composition"] == "describes a case set and asks nothing"
    assert {name for name, reason in reasons.items() if reason is None} >= {
        *(f"medq-deg/{key}" for key in ("table2", "table3", "table6", "fig3", "fig4", "fig7", "fig8", "dose-response")),
        *(f"clinbench/{key}" for key in ("table3", "table4", "telling", "table5", "fig5", "table10-11")),
        *(f"xpcr/{key}" for key in ("calibration", "cross", "ablation")),
    }
    with pytest.raises(WardroundError, match=r"cure/table1 searches literature .* run wardround bench cure/table1"):
        named_study_task(find_study("cure/table1"), None)
    with pytest.raises(WardroundError, match="needs a case set: -T cases=DIR"):
        named_study_task(find_study(STUDY), None)


def test_the_entry_point_names_a_module_that_is_there():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module = project["entry-points"]["inspect_ai"]["wardround"]
    assert (Path(__file__).parents[2] / "src" / Path(*module.split("."))).with_suffix(".py").is_file()


def evaluate(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `inspect eval` in a process of its own, as users do."""
    command = [sys.executable, "-m", "inspect_ai", "eval", *arguments, "--display", "plain", "--log-dir", "logs"]
    settings = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment}
    return subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, check=False)


def read_log(folder: Path):
    log_api = pytest.importorskip("inspect_ai.log")
    (file,) = (folder / "logs").glob("*.eval")
    return log_api.read_eval_log(str(file))


def test_inspect_eval_has_the_figures_of_bench_through_an_openai_server(server, bench_run, tmp_path):
    """Both ask the same server, whose answer depends on the text and the degraded image that it is sent."""
    pytest.importorskip("inspect_ai", reason="the package inspect-ai is not installed")
    cases = bench_run.parent.parent / "cases"
    arguments = ["wardround/medq_deg_table6", "-T", f"cases={cases}", "-T", "trials=2"]
    environment = {"EXAM_API_KEY": "none", "EXAM_BASE_URL": server.url}

    result = evaluate(*arguments, "--model", "openai-api/exam/exam-model", cwd=tmp_path, **environment)

    assert result.returncode == 0, result.stderr + result.stdout
    log = read_log(tmp_path)
    assert (log.status, len(log.samples)) == ("success", 120)
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    expected = read_accuracies(bench_run)
    assert {name: metrics[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert log.plan.config.temperature == 1.0


def test_inspect_scores_choices_and_diagnoses_of_a_study_with_a_mock_model(tmp_path, monkeypatch):
    """Of CURE's base study, three choices of four and one diagnosis of two are right."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="the package inspect-ai is not installed")
    model_api = pytest.importorskip("inspect_ai.model")
    cases = [case(number, images=[{"path": "0.png", "modality": "CT"}]) for number in range(4)]
    for number in (0, 1):
        cases[number]["questions"].append({"id": "open", "kind": "open", "prompt": "Name it.", "gold": "gout"})
    write_cases(tmp_path / "cases", cases)
    medq_deg_cases(tmp_path / "images", 1)
    (tmp_path / "images" / "0.png").rename(tmp_path / "cases" / "0.png")
    replies = {"case-0/mcq": "A", "case-1/mcq": "(B)", "case-2/mcq": "The answer is C.", "case-3/mcq": "A"}
    replies |= {"case-0/open": "1. Gout\n2. Pseudogout", "case-1/open": "1. Sepsis\n2. Gout"}
    outputs = [model_api.ModelOutput.from_content("mockllm/model", replies[id]) for id in sorted(replies)]
    for output in outputs:  # otherwise Inspect fetches a tokenizer to count them
        output.usage = model_api.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = model_api.get_model("mockllm/model", custom_outputs=outputs)
    monkeypatch.chdir(tmp_path)

    arguments = {"task_args": {"cases": "cases"}, "max_samples": 1, "log_dir": "logs", "display": "none"}
    (log,) = inspect_ai.eval("wardround/cure_base", model=model, **arguments)

    assert log.status == "success", log.error
    scores = {sample.id: sample.scores["wardround"].value for sample in log.samples}
    assert scores == {
        **dict.fromkeys(("case-0/mcq", "case-1/mcq", "case-2/mcq", "case-0/open"), "C"),
        **dict.fromkeys(("case-3/mcq", "case-1/open"), "I"),
    }
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert (metrics["accuracy"], metrics["hit@1"]) == (3 / 4, 1 / 2)


def test_chains_and_studies_that_search_are_refused_in_one_line(tmp_path):
    pytest.importorskip("inspect_ai", reason="the package inspect-ai is not installed")
    first = case(0)
    first["questions"].append({**first["questions"][0], "id": "next", "given": ["mcq"]})
    write_cases(tmp_path / "cases", [first])
    for task, problem in (
        ("cure_table1", "cure/table1 searches literature or shows it: Inspect cannot ask it"),
        ("xpcr_calibration", "1 questions belong to chains: Inspect cannot ask them"),
    ):
        model = ("--model", "mockllm/model")
        result = evaluate(f"wardround/{task}", "-T", "cases=cases", *model, cwd=tmp_path)
        printed = (result.stdout + result.stderr).strip()
        assert result.returncode == 1
        assert problem in " ".join(printed.split())
        assert "Traceback" not in printed
