"""Faults are repeated and never stored; every well-formed reply is an answer."""

from __future__ import annotations

import json
import threading

import pytest
from aiohttp import web
from exam_server import FAULTS, ExamServer
from exam_study import bodies, case, examine, stored, write_cases, write_study

SEED = 20_240


def two_questions(number: int) -> dict:
    """A case with two choices, so that one case is asked more than once."""
    record = case(number)
    second = {**record["questions"][0], "id": "next", "prompt": f"What is next for patient {number}?"}
    return {**record, "questions": [*record["questions"], second]}


def run_against(server: ExamServer, folder, asks: int) -> dict:
    write_cases(folder / "cases", map(two_questions, range(asks // 4)))
    study = write_study(
        folder,
        server.url,
        candidate={"concurrency": 64, "timeout": 120},
        conditions={"options": ["as-given", "shuffled"]},
    )
    return examine(study)


@pytest.mark.parametrize("asks", [400, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_run_with_30_percent_faults_of_every_kind_stores_what_a_faultless_run_does(tmp_path, monkeypatch, asks):
    print("seed of the faults:", SEED)
    monkeypatch.setattr("wardround.running.caller.MAX_BACKOFF", 1.0)  # an Ask that often fails need not wait long
    with ExamServer() as calm:
        assert run_against(calm, tmp_path / "calm", asks)["status"] == "complete"
    with ExamServer(fault_rate=0.3, seed=SEED) as hostile:
        manifest = run_against(hostile, tmp_path / "hostile", asks)
    assert set(hostile.faults) == set(FAULTS)
    assert sum(hostile.faults.values()) > 0.25 * hostile.calls
    assert manifest["status"] == "complete"
    (candidate,) = manifest["candidates"]
    assert candidate["failed"] == candidate["duplicates"] == 0

    # a shuffled order may be the options' own: that is the same Ask, asked once
    store, answers = tmp_path / "hostile" / "answers.sqlite", stored(tmp_path / "calm" / "answers.sqlite")
    assert 0.95 * asks < len(answers) <= asks
    assert stored(store) == answers
    again = len(stored(store, "sentinels"))
    assert 1 <= again <= 0.03 * asks
    assert hostile.succeeded == len(answers) + again
    assert len(hostile.answered) == len(answers)
    assert sum(count - 1 for count in hostile.answered.values()) == again
    assert hostile.calls == hostile.succeeded + sum(hostile.faults.values())


def test_a_call_that_is_never_answered_times_out_and_is_repeated(tmp_path):
    write_cases(tmp_path / "cases", 1)
    with ExamServer() as server:
        server.hold()

        def answer_the_second_call() -> None:
            server.wait_for(lambda: server.calls > 1)
            server.release()

        threading.Thread(target=answer_the_second_call, daemon=True).start()
        manifest = examine(write_study(tmp_path, server.url, candidate={"timeout": 0.5}))
    assert manifest["status"] == "complete"
    assert manifest["candidates"][0]["faults"] >= 1
    assert len(stored(tmp_path / "answers.sqlite")) == 1


ANSWERS = {
    "empty": ({"message": {"role": "assistant", "content": ""}}, {"text": "", "finish": "stop"}),
    "no content": ({"message": {"role": "assistant", "content": None}}, {"text": "", "finish": "stop"}),
    "cut": (
        {"message": {"role": "assistant", "content": "The answer"}, "finish_reason": "length"},
        {"text": "The answer", "finish": "length"},
    ),
    "filtered": (
        {"message": {"role": "assistant", "content": ""}, "finish_reason": "content_filter"},
        {"text": "", "finish": "content_filter"},
    ),
    "refusal": ({"message": {"role": "assistant", "content": "I cannot help."}}, {"text": "I cannot help."}),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_well_formed_reply_is_an_answer_whatever_its_text(tmp_path, kind):
    choice, expected = ANSWERS[kind]
    write_cases(tmp_path / "cases", 3)
    with ExamServer(lambda body, index: choice) as server:
        manifest = examine(write_study(tmp_path, server.url))
    assert manifest["status"] == "complete"
    assert manifest["candidates"][0]["faults"] == 0
    answers = bodies(tmp_path / "answers.sqlite")
    assert len(answers) == 3
    for answer in answers:
        assert expected.items() <= answer.items()
    again = manifest["sentinel"].get("server", {}).get("asked_again", 0)  # a refused question is not asked again
    assert server.succeeded == 3 + again


def test_an_empty_answer_is_not_asked_again_by_the_next_run(tmp_path):
    write_cases(tmp_path / "cases", 3)
    with ExamServer(lambda body, index: "") as server:
        study = write_study(tmp_path, server.url)
        examine(study)
        calls = server.calls
        notes: list[str] = []
        manifest = examine(study, notes=notes)
        assert server.calls == calls
    assert notes == ["stored 3 of 3; 0 new"]
    assert manifest["status"] == "complete"


BROKEN_BODIES = {
    "no choices": {"model": "x"},
    "empty choices": {"choices": []},
    "a choice without message": {"choices": [{"index": 0}]},
    "a list": [],
    "a number": 7,
    "null": None,
    "an error": {"error": {"message": "internal"}},
    "an error text": {"error": "internal", "choices": []},
}


@pytest.mark.parametrize("broken", BROKEN_BODIES)
def test_a_broken_body_is_a_fault_and_is_never_stored(tmp_path, broken):
    def first_call_breaks(body, number):
        return web.json_response(text=json.dumps(BROKEN_BODIES[broken])) if number == 1 else None

    write_cases(tmp_path / "cases", 1)
    with ExamServer(lambda body, index: "B", replying=first_call_breaks) as server:
        manifest = examine(write_study(tmp_path, server.url))
    assert manifest["candidates"][0]["faults"] == 1
    assert [answer["text"] for answer in bodies(tmp_path / "answers.sqlite")] == ["B"]


def test_an_ask_that_always_fails_is_given_up_and_the_others_go_on(tmp_path):
    def breaks_for_one(body, number):
        return web.Response(status=500) if "patient 1 " in json.dumps(body) else None

    write_cases(tmp_path / "cases", 5)
    with ExamServer(replying=breaks_for_one) as server:
        study = write_study(tmp_path, server.url, candidate={"attempts": 3})
        manifest = examine(study)
        assert manifest["status"] == "incomplete"
        assert "case-1: no answer after 3 attempts" in manifest["why"]
        assert len(stored(tmp_path / "answers.sqlite")) == 4
        server.replying = None
        assert examine(study)["status"] == "complete"
    assert len(stored(tmp_path / "answers.sqlite")) == 5
