"""`external`: the request that an agent gets, its sources as evidence, and its failures."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web
from direct_questions import LOOP, candidate, choice, prepared, query
from exam_server import ExamServer
from exam_study import bodies, examine, wardround, write_cases
from library_study import case, library

from wardround.candidates.candidate import Fault
from wardround.cases.encoded_image import EncodedImage

AGENT = """
import json, sys
request = json.load(sys.stdin)
with open("requests.jsonl", "a") as file:
    file.write(json.dumps(request) + "\\n")
sources = ["1000", {"pmid": "31", "title": "On nodes", "text": "Nodes mean sarcoidosis."}, 424242, None, True]
print(json.dumps({"text": "A" if request["options"] else "1. sarcoidosis", "sources": sources}))
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


def study(folder: Path, index: Path, **candidate: Any) -> Path:
    write_cases(folder / "cases", [case(0), case(1)])
    fields = {"name": "agent", "provider": "external", "model": "agent-1", "attempts": 2, **candidate}
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    file = folder / "study.toml"
    file.write_text(
        f'name = "exam"\ncases = "cases"\n[[candidates]]\n{chr(10).join(lines)}\n'
        f'[conditions]\nevidence = "agent"\n[literature]\nindex = "{index}"\n[judge]\nprovider = "lexical"\n'
    )
    return file


def test_a_command_gets_the_case_and_its_sources_are_evidence(tmp_path, index, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    ended = wardround("run", study(tmp_path, index, command=[sys.executable, "agent.py"]), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    requests = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    assert len(requests) == 4
    first = next(request for request in requests if request["kind"] == "choice" and "hilar" in request["history"])
    assert first["options"][0] == "sarcoidosis"
    assert first["evidence"] == "agent"
    assert "Choose the one best option" in first["prompt"]
    assert "gold" not in json.dumps(requests)
    assert "9000" not in json.dumps(requests)  # where the case comes from
    evidence = pl.read_parquet(tmp_path / "runs" / "exam" / "evidence.parquet").row(0, named=True)
    assert evidence["found"] == ["1000", "31", "424242"]
    assert evidence["missing"] == ["424242"]
    documents = pl.read_parquet(tmp_path / "runs" / "exam" / "documents.parquet")
    assert sorted(documents["pmid"]) == ["1000", "31"]  # one with a text of its own, one from the index
    marks = pl.read_parquet(tmp_path / "runs" / "exam" / "marks.parquet").filter(pl.col("case") == "case-0")
    assert marks["grounded"].to_list() == [True, True]
    assert marks["relevant_ranks"].to_list() == [[1], [1]]


@pytest.mark.parametrize(
    ("agent", "timeout", "message"),
    [
        ("import sys; sys.exit('no licence')", 600, "the command ended with 1: no licence"),
        ("print('B')", 600, "the answer is not JSON"),
        ("print('[]')", 600, 'the answer is not an object with a "text"'),
        ("import signal; signal.pause()", 1, "no answer in 1 s"),
    ],
)
def test_the_failure_of_an_agent_is_named_in_the_manifest(tmp_path, index, monkeypatch, agent, timeout, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(agent)
    manifest = examine(study(tmp_path, index, command=[sys.executable, "agent.py"], timeout=timeout, attempts=1))
    assert manifest["status"] == "incomplete"
    assert message in manifest["why"]
    assert not bodies(tmp_path / "answers.sqlite")


def test_an_agent_behind_an_address_is_asked_again_after_a_fault(tmp_path, index):
    def replying(body: dict[str, Any], number: int) -> web.Response:
        if number == 1:
            return web.json_response({"error": "busy"}, status=503)
        return web.json_response({"text": "A", "sources": [{"pmid": "1000"}]})

    with ExamServer(replying=replying) as server:
        file = study(tmp_path, index, base_url=f"{server.url}/chat/completions")
        assert examine(file)["status"] == "complete"
    assert {body["evidence"] for body in server.bodies} == {"agent"}
    assert all(body["sources"] == [{"pmid": "1000"}] for body in bodies(tmp_path / "answers.sqlite") if "text" in body)


ECHO = """
import json, sys
request = json.load(sys.stdin)
images = [image["base64"] for image in request["images"]]
reply = json.dumps({"text": json.dumps([images, request["source"]])})
print(reply, file=sys.stderr if request["fails"] else sys.stdout)
sys.exit(request["fails"])
"""
IMAGES = tuple(EncodedImage(data, "image/png", data.decode(), 1, 1) for data in (b"AAAA", b"BBBB"))
SECRET = "pass-word-77"


def test_a_command_gets_images_and_the_values_of_variables_which_its_errors_do_not_show(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", SECRET)
    for fails in (0, 1):
        extra_body, command = {"source": {"key": "$EXAM_KEY"}, "fails": fails}, [sys.executable, "-c", ECHO]
        agent = candidate("external", extra_body, model="agent-1", command=command)
        if fails:
            with pytest.raises(Fault, match=r"ended with 1: .*\[secret\]") as raised:
                query(agent, choice(0), images=IMAGES)
            assert SECRET not in str(raised.value)
        else:
            (answer,) = query(agent, choice(0), images=IMAGES)
            assert json.loads(answer.text) == [["AAAA", "BBBB"], {"key": SECRET}]
        assert agent.identity.extra_body["source"] == {"key": "$EXAM_KEY"}


def test_an_agent_behind_an_address_gets_images_and_the_values_of_variables(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", SECRET)
    with ExamServer(replying=lambda *_: web.json_response({"text": "A"})) as server:
        url = f"{server.url}/chat/completions?key=$EXAM_KEY"
        agent = candidate("external", {"key": "$EXAM_KEY"}, model="agent-1", base_url=url)
        prepared(agent, None)  # type: ignore[arg-type]
        query(agent, choice(0), images=IMAGES)
        LOOP.run_until_complete(agent.close())
    assert [image["base64"] for image in server.bodies[0]["images"]] == ["AAAA", "BBBB"]
    assert server.bodies[0]["key"] == SECRET


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": ""}, "model is required"),
        ({}, "give either base_url or command"),
        ({"command": ["no-such-agent"]}, "command 'no-such-agent' does not exist"),
    ],
)
def test_wrong_settings_raise_one_line(tmp_path, index, fields, message):
    ended = wardround("run", study(tmp_path, index, **fields), cwd=tmp_path)
    assert ended.returncode == 1
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_an_offline_study_starts_no_command(tmp_path, index):
    file = study(tmp_path, index, command=[sys.executable])
    file.write_text("offline = true\n" + file.read_text())
    ended = wardround("run", file, cwd=tmp_path)
    assert ended.returncode == 1
    assert "the study is offline" in ended.stderr
