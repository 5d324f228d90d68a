"""Refusals that concern one question only do not change how the others are asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web
from exam_server import ExamServer
from exam_study import case, examine, wardround, write_cases, write_study
from PIL import Image


def too_long_for_case_0(body: dict[str, Any], number: int) -> web.Response | None:
    if b"patient 0 " in orjson.dumps(body["messages"]):
        return web.json_response({"error": {"message": "maximum context length exceeded"}}, status=400)
    return None


def test_a_refused_prompt_does_not_stop_later_requests_from_using_n(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 40)
    with ExamServer(replying=too_long_for_case_0) as server:
        study = write_study(tmp_path, server.url, top={"trials": 3}, candidate={"concurrency": 1})
        manifest = examine(study)
    assert manifest["status"] == "complete"
    assert (manifest["candidates"][0]["new"], manifest["candidates"][0]["refused"]) == (120, 3)
    later = [body.get("n", 1) for body in server.bodies[1:]]
    assert later.count(3) >= 10, "later questions are asked for all their trials at once again"


def test_strict_refuses_an_image_that_cannot_be_decoded_before_any_ask(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", [case(n, images=[{"path": f"{n}.png"}]) for n in range(2)])
    Image.new("L", (8, 8)).save(tmp_path / "cases" / "0.png")
    (tmp_path / "cases" / "1.png").write_text("no picture")
    with ExamServer() as server:
        study = write_study(tmp_path, server.url)
        strict = wardround("run", study, "--strict", cwd=tmp_path)
        assert (strict.returncode, server.calls) == (1, 0)
        assert "1.png" in strict.stderr
        lenient = wardround("run", study, cwd=tmp_path)
        assert lenient.returncode == 0
        assert "skipped:" in lenient.stderr
        assert "1.png" in lenient.stderr


def patient(body: dict[str, Any]) -> int:
    """The number of the case that is asked about."""
    match = re.search(rb"patient (\d+) ", orjson.dumps(body["messages"]))
    assert match
    return int(match[1])


def test_questions_that_alone_are_left_and_are_declined_get_that_outcome(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 20)
    status = 500

    def no_answer_below_8(body: dict[str, Any], number: int) -> web.Response | None:
        return web.json_response({"error": {"message": "no"}}, status=status) if patient(body) < 8 else None

    with ExamServer(replying=no_answer_below_8) as server:
        study = write_study(tmp_path, server.url, candidate={"attempts": 1})
        assert examine(study)["candidates"][0]["failed"] == 8
        status = 400
        manifest = examine(study)
    assert (manifest["status"], manifest["candidates"][0]["refused"]) == ("complete", 8)


def filtered() -> web.Response:
    return web.json_response({"error": {"code": "content_filter", "message": "filtered"}}, status=400)


def test_a_server_that_begins_to_filter_everything_is_stopped(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 80)
    with ExamServer(replying=lambda body, number: filtered() if number >= 20 else None) as server:
        manifest = examine(write_study(tmp_path, server.url))
    assert manifest["status"] == "incomplete"
    (why,) = [candidate["why"] for candidate in manifest["candidates"]]
    assert "in a row were refused, and one that it had answered before: " in why
    assert server.calls < 60


def test_many_questions_in_a_row_may_be_filtered_by_a_server_that_answers_others(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 80)
    with ExamServer(replying=lambda body, number: filtered() if patient(body) >= 30 else None) as server:
        manifest = examine(write_study(tmp_path, server.url))
    assert (manifest["status"], manifest["candidates"][0]["refused"]) == ("complete", 50)
