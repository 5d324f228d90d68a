"""A case set as tasks of lm-evaluation-harness; the package itself, if it is installed, scores replies as we do."""

from __future__ import annotations

import csv
import json

import polars as pl
import pytest
import yaml
from exam_study import case, wardround, write_cases
from exported_exam import png

STUDY = """name = "letters"
cases = "mixed"
questions = ["mcq"]

[[candidates]]
name = "half"
provider = "simulated"
extra_body = { accuracy = 0.5, unparsed = 0.2 }
"""


class TaskLoader(yaml.SafeLoader):
    """Reads `!function MODULE.NAME` as that text."""


TaskLoader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Ten cases with text alone, six with an image, one open question, one chain, and a case for training."""
    folder = tmp_path_factory.mktemp("lm-eval")
    cases = [case(number) for number in range(10)]
    cases += [case(number, images=[{"path": f"{number}.png", "modality": "CT"}]) for number in range(10, 16)]
    cases[3]["questions"].append({"id": "open", "kind": "open", "prompt": "Name it.", "gold": "gout"})
    cases[4]["questions"].append({**cases[4]["questions"][0], "id": "next", "given": ["mcq"]})
    cases[5]["history"] = "The report has {{ braces }} and <image>."
    cases.append(case(99, split="train"))
    write_cases(folder / "mixed", cases)
    for number in range(10, 16):
        (folder / "mixed" / f"{number}.png").write_bytes(png(number))
    (folder / "mixed" / "manifest.json").write_text("{}")  # as `wardround build` writes one
    result = wardround("export", "mixed", "--to", "lm-eval", "--out", "tasks", cwd=folder)
    assert result.returncode == 0, result.stderr
    (folder / "noted.txt").write_text(result.stderr)
    return folder


def read_rows(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_folder_has_a_task_for_letters_one_for_replies_and_one_for_images(workspace):
    tasks = {file.stem: yaml.load(file.read_text(), TaskLoader) for file in (workspace / "tasks").glob("*.yaml")}
    types = {name: (task["task"], task["output_type"]) for name, task in tasks.items()}
    assert types == {
        "mixed": ("mixed", "multiple_choice"),
        "mixed_replies": ("mixed_replies", "generate_until"),
        "mixed_images": ("mixed_images", "generate_until"),
    }
    columns = read_rows(workspace / "tasks" / "questions.jsonl")[0].keys()
    assert {"prompt", "gold", "letters"} <= columns
    for task in tasks.values():
        assert (task["doc_to_text"], task["doc_to_target"], task["test_split"]) == ("prompt", "gold", "test")
    assert "doc_to_image" in tasks["mixed_images"]
    assert "doc_to_image" not in tasks["mixed_replies"]
    for name in ("questions.py", "replies.py"):
        compile((workspace / "tasks" / name).read_text(), name, "exec")


def test_rows_have_the_prompt_the_options_and_the_right_answer_of_each_choice_question(workspace):
    text, with_images = (read_rows(workspace / "tasks" / f"{name}.jsonl") for name in ("questions", "image_questions"))
    assert [row["case"] for row in text] == [f"case-{number}" for number in range(10)]
    assert [row["gold"] for row in text] == [number % 4 for number in range(10)]
    assert text[2]["options"] == [f"disease 2 {kind}" for kind in ("alpha", "beta", "gamma", "delta")]
    assert text[2]["letters"] == ["A", "B", "C", "D"]
    assert "History of patient 2." in text[2]["prompt"]
    assert "C. disease 2 gamma" in text[2]["prompt"]
    assert text[5]["prompt"].count("<image>") == 0
    assert "{{ braces }}" in text[5]["prompt"]
    assert [row["prompt"].count("<image>") for row in with_images] == [1] * 6
    assert [len(row["images"]) for row in with_images] == [1] * 6
    assert (workspace / "tasks" / with_images[0]["images"][0]).read_bytes()[:4] == b"\x89PNG"


def test_what_is_left_out_is_counted(workspace):
    noted = (workspace / "noted.txt").read_text()
    assert "1 x it is not a choice question but open" in noted
    assert "1 x it belongs to a chain" in noted
    assert "1 x the case is for training" in noted


def test_a_set_without_choice_questions_is_refused(tmp_path):
    question = {"id": "open", "kind": "open", "prompt": "Name it.", "gold": "gout"}
    write_cases(tmp_path / "open", [{**case(0), "questions": [question]}])
    result = wardround("export", "open", "--to", "lm-eval", "--out", "tasks", cwd=tmp_path)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "has no question for lm-eval: 1 x it is not a choice question but open" in result.stderr
    assert not (tmp_path / "tasks").exists()


def test_lm_eval_has_our_accuracy_on_the_same_replies(workspace, monkeypatch):
    lm_eval = pytest.importorskip("lm_eval", reason="the package lm-eval is not installed")
    model_api = pytest.importorskip("lm_eval.api.model")
    tasks_api = pytest.importorskip("lm_eval.tasks")
    (workspace / "study.toml").write_text(STUDY)
    assert wardround("run", "study.toml", cwd=workspace).returncode == 0
    out = ("--out", "answers.parquet")
    assert wardround("export", "runs/letters", "--to", "parquet", *out, cwd=workspace).returncode == 0
    answers = pl.read_parquet(workspace / "answers.parquet")
    replies = {row["case"]: row["reply"] for row in answers.iter_rows(named=True)}
    letters = {row["case"]: row["place"] for row in answers.iter_rows(named=True)}

    class Replies(model_api.LM):
        MULTIMODAL = True

        def generate_until(self, requests, **_):
            for request in requests:
                visuals = request.args[2]["visual"] if len(request.args) > 2 else []
                assert [image.size for image in visuals] == [(24, 24)] * len(request.doc["images"])
                assert "Reply with its letter only." in request.args[0]
            return [replies[request.doc["case"]] for request in requests]

        def loglikelihood(self, requests, **_):
            chosen = [letters[request.doc["case"]] for request in requests]
            return [
                (0.0 if place is not None and request.args[1] == f" {'ABCD'[place]}" else -9.0, False)
                for request, place in zip(requests, chosen, strict=True)
            ]

        def loglikelihood_rolling(self, requests, **_):
            raise AssertionError("no task asks for this")

    manager = tasks_api.TaskManager(include_path=str(workspace / "tasks"), include_defaults=False)
    names = ["mixed", "mixed_replies", "mixed_images"]
    monkeypatch.chdir(workspace.parent)  # the folder is found from anywhere
    results = lm_eval.simple_evaluate(model=Replies(), tasks=names, task_manager=manager, bootstrap_iters=0)["results"]

    is_right = {row["case"]: row["outcome"] == "right" for row in answers.iter_rows(named=True)}
    with_images = {f"case-{number}" for number in range(10, 16)}
    right = {name: [is_right[id] for id in is_right if (id in with_images) == (name == names[2])] for name in names}
    assert len(set(right["mixed"])) == 2  # some are right and some are not
    assert results["mixed_replies"]["acc,none"] == pytest.approx(sum(right["mixed"]) / 10)
    assert results["mixed_images"]["acc,none"] == pytest.approx(sum(right["mixed_images"]) / 6)
    parsed = [id for id in is_right if id not in with_images and letters[id] is not None]
    assert results["mixed_replies"]["unparsed,none"] == pytest.approx(1 - len(parsed) / 10)
    by_chance = sum(letters[f"case-{number}"] is None and number % 4 == 0 for number in range(10))
    assert results["mixed"]["acc,none"] == pytest.approx((sum(right["mixed"]) + by_chance) / 10)  # argmax of ties is A
    with (workspace / "runs/letters/measures.csv").open(newline="") as lines:
        ours = next(row for row in csv.DictReader(lines) if row["measure"] == "accuracy" and row["slice"] == "{}")
    both = (10 * results["mixed_replies"]["acc,none"] + 6 * results["mixed_images"]["acc,none"]) / 16
    assert float(ours["value"]) == pytest.approx(both)
