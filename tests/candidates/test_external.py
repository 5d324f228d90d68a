"""An outside agent, behind a command or an address: what it is told, what is made of its sources, how it may fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web
from exam_server import ExamServer
from exam_study import bodies, examine, wardround, write_cases
from library_study import case, library

AGENT = """
import json, sys
told = json.load(sys.stdin)
with open("told.jsonl", "a") as file:
    file.write(json.dumps(told) + "\\n")
sources = ["1000", {"pmid": "31", "title": "On nodes", "text": "Nodes mean sarcoidosis."}, 424242, None, True]
print(json.dumps({"text": "A" if told["options"] else "1. sarcoidosis", "sources": sources}))
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


def study(folder: Path, index: Path, **candidate: Any) -> Path:
    write_cases(folder / "cases", [case(0), case(1)])
    told = {"name": "agent", "provider": "external", "model": "agent-1", "attempts": 2, **candidate}
    lines = [f"{key} = {json.dumps(value)}" for key, value in told.items()]
    file = folder / "study.toml"
    file.write_text(
        f'name = "exam"\ncases = "cases"\n[[candidates]]\n{chr(10).join(lines)}\n'
        f'[conditions]\nevidence = "agent"\n[literature]\nindex = "{index}"\n[judge]\nprovider = "lexical"\n'
    )
    return file


def test_a_command_is_told_the_case_and_its_sources_are_evidence(tmp_path, index, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    ended = wardround("run", study(tmp_path, index, command=[sys.executable, "agent.py"]), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    told = [json.loads(line) for line in (tmp_path / "told.jsonl").read_text().splitlines()]
    assert len(told) == 4
    first = next(each for each in told if each["kind"] == "choice" and "hilar" in each["history"])
    assert first["options"][0] == "sarcoidosis"
    assert first["evidence"] == "agent"
    assert "Choose the one best option" in first["prompt"]
    assert "gold" not in json.dumps(told)
    assert "9000" not in json.dumps(told)  # where the case comes from
    evidence = pl.read_parquet(tmp_path / "runs" / "exam" / "evidence.parquet").row(0, named=True)
    assert evidence["found"] == ["1000", "31", "424242"]
    assert evidence["missing"] == ["424242"]
    documents = pl.read_parquet(tmp_path / "runs" / "exam" / "documents.parquet")
    assert sorted(documents["pmid"]) == ["1000", "31"]  # the one that it told, and the one that the index holds
    marks = pl.read_parquet(tmp_path / "runs" / "exam" / "marks.parquet").filter(pl.col("case") == "case-0")
    assert marks["grounded"].to_list() == [True, True]
    assert marks["relevant_ranks"].to_list() == [[1], [1]]


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("import sys; sys.exit('no licence')", "the command ended with 1: no licence"),
        ("print('B')", "the answer is not JSON"),
        ("print('[]')", 'the answer is not an object with a "text"'),
        ("import time; time.sleep(60)", "no answer in 1 s"),
    ],
)
def test_an_agent_that_fails_is_tried_again_and_then_told(tmp_path, index, monkeypatch, agent, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(agent)
    manifest = examine(study(tmp_path, index, command=[sys.executable, "agent.py"], timeout=1, attempts=1))
    assert manifest["status"] == "incomplete"
    assert said in manifest["why"]
    assert not bodies(tmp_path / "answers.sqlite")


def test_behind_an_address(tmp_path, index):
    def replying(body: dict[str, Any], number: int) -> web.Response:
        if number == 1:
            return web.json_response({"error": "busy"}, status=503)
        return web.json_response({"text": "A", "sources": [{"pmid": "1000"}]})

    with ExamServer(replying=replying) as server:
        file = study(tmp_path, index, base_url=f"{server.url}/chat/completions")
        assert examine(file)["status"] == "complete"
    assert {body["evidence"] for body in server.bodies} == {"agent"}
    assert all(body["sources"] == [{"pmid": "1000"}] for body in bodies(tmp_path / "answers.sqlite") if "text" in body)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"model": ""}, "model is required"),
        ({}, "give either base_url or command"),
        ({"command": ["no-such-agent"]}, "there is no command 'no-such-agent'"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, index, told, said):
    ended = wardround("run", study(tmp_path, index, **told), cwd=tmp_path)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_an_offline_study_starts_no_command(tmp_path, index):
    file = study(tmp_path, index, command=[sys.executable])
    file.write_text("offline = true\n" + file.read_text())
    ended = wardround("run", file, cwd=tmp_path)
    assert ended.returncode == 1
    assert "the study is offline" in ended.stderr
