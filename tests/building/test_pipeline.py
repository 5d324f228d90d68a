"""The building pipeline: every record is accounted for, replies are reused, and a killed build leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer, text_of

from wardround.building.pipeline.export import BuiltSet, export, new_set
from wardround.building.pipeline.models import load_models
from wardround.building.pipeline.pipeline import (
    Build,
    Record,
    RecordFile,
    Reject,
    StepCount,
    all_records_step,
    model_step,
    record_step,
)
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import CandidateSettings
from wardround.reporting.tables.terminal import as_text

DISTRACTORS = "1. gout\n2. lupus\n3. mumps"


def records(count: int = 12) -> list[Record]:
    return [
        {"id": f"r{number}", "history": f"Patient {number}.", "diagnosis": f"disease {number}"}
        for number in range(count)
    ]


def not_third(record: Record, build: Build) -> Record:
    if int(record["id"][1:]) % 3 == 2:
        raise Reject("third", f"of {record['id']}")
    return record


def first_half(remaining: RecordFile, build: Build) -> Any:
    for index, record in enumerate(remaining):
        if index < len(remaining) // 2:
            yield record
        else:
            build.reject(record, "halve", "later half")


def with_options(record: Record, reply: str, build: Build) -> Record:
    options = [record["diagnosis"], *(line.split(". ")[1] for line in reply.splitlines())]
    build.random_stream("options", record["id"]).shuffle(options)
    question = {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": options}
    question["gold"] = options.index(record["diagnosis"])
    return record | {"case": {"id": record["id"], "history": record["history"], "questions": [question]}}


def slots(record: Record, build: Build) -> dict[str, str]:
    return {"history": record["history"], "diagnosis": record["diagnosis"], "count": "3"}


STEPS = [
    record_step("thirds", not_third),
    all_records_step("halve", first_half),
    model_step("distractors", "writer", "distractors", slots, with_options, max_tokens=1024),
]


def built(out: Path, url: str) -> BuiltSet:
    writer = CandidateSettings(name="writer", provider="openai", base_url=url, model="w", attempts=2)
    answers = out.parent / "answers.sqlite"
    with new_set(out, 7, lambda line: None, models={"writer": writer}, answers=answers) as build:
        return export(build, build.run_steps(records(), STEPS), out, {"steps": 3}, {"records": "0"})


def test_the_reasoning_of_a_writer_is_not_in_the_cases(tmp_path):
    with ExamServer(lambda body, index: f"<think>1. Reasoned away</think>\n{DISTRACTORS}") as server:
        assert built(tmp_path / "set", server.url).cases == 4
    assert "Reasoned away" not in (tmp_path / "set" / "cases.jsonl").read_text()


def test_every_record_is_accounted_for(tmp_path):
    with ExamServer(lambda body, index: DISTRACTORS) as server:
        result = built(tmp_path / "set", server.url)
        assert server.calls == 4
        assert "Patient 0." in text_of(server.bodies[0])
        built(tmp_path / "again", server.url)
        assert server.calls == 4  # all answers were stored
    assert result.cases == 4
    assert [(step.step, step.records_in, step.records_out, step.reasons) for step in result.funnel] == [
        ("read", 12, 12, {}),
        ("thirds", 12, 8, {"third": 4}),
        ("halve", 8, 4, {"later half": 4}),
        ("distractors", 4, 4, {}),
    ]
    assert result.funnel[-1].tokens == 4 * 101
    folder = tmp_path / "set"
    rejected = [json.loads(line) for line in (folder / "rejected.jsonl").read_text().splitlines()]
    assert len(rejected) == 8
    assert rejected[0] == {"record": "r2", "step": "thirds", "reason": "third", "detail": "of r2"}
    for name in ("cases.jsonl", "rejected.jsonl"):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert not list(tmp_path.glob(".set*"))


def test_a_record_without_an_answer_is_rejected_and_the_others_go_on(tmp_path):
    def replying(body: dict[str, Any], number: int):
        from aiohttp import web

        return web.json_response({"error": "no"}, status=422) if "Patient 1." in text_of(body) else None

    with ExamServer(lambda body, index: DISTRACTORS, replying=replying) as server:
        result = built(tmp_path / "set", server.url)
    assert result.cases == 3
    assert result.funnel[-1].reasons == {"the model gave no answer": 1}


def test_a_model_that_is_gone_ends_the_build_and_leaves_nothing(tmp_path):
    with pytest.raises(WardroundError, match="cannot be reached"):
        built(tmp_path / "set", "http://127.0.0.1:9/v1")
    assert not (tmp_path / "set").exists()
    assert not list(tmp_path.glob(".set*"))


def test_a_step_that_needs_a_model_says_so(tmp_path):
    with (
        pytest.raises(WardroundError, match=r"name one as \[writer\]"),
        new_set(tmp_path / "s", 0, print) as build,
    ):
        build.run_steps(records(), STEPS)


def test_a_folder_that_holds_something_is_never_overwritten(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="never overwritten"):
        built(tmp_path / "set", "http://127.0.0.1:9/v1")


def test_models_are_read_with_their_roles(tmp_path):
    file = tmp_path / "models.toml"
    file.write_text('[writer]\nprovider = "openai"\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n')
    assert load_models(file)["writer"].name == "writer"
    file.write_text('[writer]\nprovider = "openai"\nspeed = 3\n')
    with pytest.raises(BadInput, match="speed"):
        load_models(file)
    file.write_text('writer = "gpt"\n')
    with pytest.raises(BadInput, match="not a table"):
        load_models(file)


def test_two_iterations_over_a_record_file_do_not_disturb_each_other(tmp_path):
    file = RecordFile(records(3), tmp_path)
    pairs = [(a["id"], b["id"]) for a, b in zip(file, file, strict=True)]
    assert pairs == [("r0", "r0"), ("r1", "r1"), ("r2", "r2")]


def test_killed_and_started_again_it_writes_the_same(tmp_path):
    """Killed while the model is being asked; what was answered is not asked again."""
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); "
        "from test_pipeline import built; built(Path(sys.argv[2]), sys.argv[3])"
    )
    environment = os.environ | {"PYTHONPATH": f"{Path(__file__).parent}:{Path(__file__).parents[1]}"}
    with ExamServer(lambda body, index: DISTRACTORS) as server:
        for answers in (1, 2):
            server.hold(answers)
            process = subprocess.Popen(
                [sys.executable, "-c", script, str(Path(__file__).parent), str(tmp_path / "set"), server.url],
                env=environment,
            )
            server.wait_for(lambda: server.held > 0, process)
            process.send_signal(signal.SIGKILL)
            process.wait()
            server.wait_for(lambda: server.held == 0)
        server.release()
        built(tmp_path / "set", server.url)
        whole_set = built(tmp_path / "other" / "set", server.url)
    assert whole_set.cases == 4
    assert not list(tmp_path.glob(".set*"))  # the drafts of killed builds are gone
    for name in ("cases.jsonl", "rejected.jsonl"):
        assert (tmp_path / "set" / name).read_bytes() == (tmp_path / "other" / "set" / name).read_bytes()


def test_each_reason_of_a_funnel_has_a_line_of_its_own(tmp_path: Path) -> None:
    funnel = [StepCount("read", 9, 4, {"no image": 3, "no history": 2}), StepCount("split", 4, 4, {})]
    lines = as_text(BuiltSet(tmp_path, 4, funnel, {}).table()).splitlines()
    assert [" ".join(line.split()) for line in lines[4:7]] == ["read 3 no image 9 4 0", "2 no history", "split 4 4 0"]
