"""`wardround check` asks what is most likely to fail, and says how the replies read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from exam_server import ExamServer, text_of
from exam_study import bodies, case, write_cases, write_study
from PIL import Image

from wardround.preflight import check_study
from wardround.preflight.candidate_check import MAX_UNITS


def check(study: Path) -> tuple[bool, dict[str, Any]]:
    """Whether the study is ready, and what is said of its first candidate."""
    result = check_study(study, runs=study.parent / "runs", note=lambda line: None)
    return result.ready, result.summary["candidates"][0]


def images_of(body: dict[str, Any]) -> int:
    content = body["messages"][-1]["content"]
    return 0 if isinstance(content, str) else sum(part["type"] == "image_url" for part in content)


def write_hard_cases(folder: Path) -> None:
    """60 plain cases; among them one with four images, one with a large image, one with a long history."""
    folder.mkdir()
    for name, size in (("small", 40), ("usual", 64), ("large", 900)):
        Image.new("L", (size, size), 50).save(folder / f"{name}.png")
    images = {11: ["usual"] * 4, 31: ["large"], 41: ["small"]}
    records = [
        case(number, images=[{"path": f"{name}.png"} for name in images.get(number, ["usual"])]) for number in range(60)
    ]
    records[53]["history"] = "A very long history. " * 400
    write_cases(folder, records)


def test_the_hardest_asks_are_sent_and_kept(tmp_path: Path) -> None:
    write_hard_cases(tmp_path / "cases")
    with ExamServer() as server:
        study = write_study(
            tmp_path, server.url, conditions={"inputs": ["all", "history"], "images": ["as-is", "none"]}
        )
        ready, candidate = check(study)

    asked = [body for body in server.bodies if "patient" in text_of(body)]
    texts = "\n".join(text_of(body) for body in asked)
    assert ready
    assert candidate["replies"]["units"] == len(asked) <= MAX_UNITS
    assert [number for number in (11, 31, 41, 53) if f"What does patient {number} have?" not in texts] == []
    assert max(map(images_of, asked)) == 4
    assert {images_of(body) > 0 for body in asked} == {True, False}
    assert len(bodies(tmp_path / "answers.sqlite")) == len(asked)  # the probe of sight is not among them
    assert candidate["stored"] == len(asked)


def test_one_ask_is_sent_in_all_its_trials_so_that_n_is_tried(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 20)
    with ExamServer(several="refused") as server:
        ready, candidate = check(write_study(tmp_path, server.url, top={"trials": 3}))

    assert ready
    assert candidate["adaptations"] == ["may take only one completion a request"]
    assert candidate["replies"]["answers"] == MAX_UNITS + 2


@pytest.mark.parametrize(
    ("reply", "count", "words"),
    [
        ("", "empty", "the commonest shape: empty (12); give a larger `max_tokens`"),
        ({"message": {"content": "Let me think"}, "finish_reason": "length"}, "cut", "cut by length (12, such as"),
        ("I'm sorry, but I can't help with that.", None, "a refusal in words (12"),
    ],
)
def test_replies_that_cannot_be_read_are_described(tmp_path: Path, reply: Any, count: str | None, words: str) -> None:
    write_cases(tmp_path / "cases", 20)
    with ExamServer(lambda body, index: reply) as server:
        _, candidate = check(write_study(tmp_path, server.url))

    assert candidate["replies"]["read"] == 0
    assert count is None or candidate["replies"][count] == 12
    assert words in " ".join(candidate["warnings"])


def test_a_question_that_is_too_long_is_told_and_the_others_are_answered(tmp_path: Path) -> None:
    write_hard_cases(tmp_path / "cases")

    def refuse_long(body: dict[str, Any], number: int) -> web.Response | None:
        if len(text_of(body)) < 4000:
            return None
        message = "This model's maximum context length is 1000 tokens"
        return web.json_response({"error": {"message": message, "code": "context_length_exceeded"}}, status=400)

    with ExamServer(replying=refuse_long) as server:
        ready, candidate = check(write_study(tmp_path, server.url))

    assert ready
    assert candidate["replies"]["refused"] == {"too long": 1}
    assert any("refused: too long" in warning for warning in candidate["warnings"])


def test_rate_limits_that_were_met_are_told(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 20)

    def limit(body: dict[str, Any], number: int) -> web.Response | None:
        limited = {"error": {"message": "slow down"}}
        return web.json_response(limited, status=429, headers={"Retry-After": "0.01"}) if number == 2 else None

    with ExamServer(replying=limit) as server:
        ready, candidate = check(write_study(tmp_path, server.url))

    assert ready
    assert "its rate limit was met 1 times (HTTP 429)" in candidate["warnings"]


def test_a_budget_that_ends_the_check_is_a_warning_if_something_was_answered(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 20)
    with ExamServer() as server:
        ready, candidate = check(write_study(tmp_path, server.url, budget={"requests": 4}))
        assert ready
        assert candidate["replies"]["answers"] == server.calls == 4
        assert "the budget of 4 requests is spent" in " ".join(candidate["warnings"])
        ready, candidate = check(write_study(tmp_path, server.url, budget={"requests": 4}))

    assert not ready
    assert "the budget of 4 requests is spent" in candidate["why"]


@pytest.mark.parametrize("provider", ["random", "simulated", "longest"])
def test_candidates_without_a_server_are_checked_as_before(tmp_path: Path, provider: str) -> None:
    write_hard_cases(tmp_path / "cases")
    study = write_study(tmp_path)
    study.write_text(f'name = "exam"\ncases = "cases"\n[[candidates]]\nname = "own"\nprovider = "{provider}"\n')

    ready, candidate = check(study)

    assert (ready, candidate["sees"], candidate["cost"]) == (True, None, 0)


PROBE = "Which number is shown in the image?"


def write_seen_cases(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    Image.new("L", (64, 64), 50).save(tmp_path / "cases" / "a.png")
    write_cases(tmp_path / "cases", [case(number, images=[{"path": "a.png"}]) for number in range(10)])


def test_a_server_that_refuses_images_is_found_at_once(tmp_path: Path) -> None:
    write_seen_cases(tmp_path)

    def refuse(body: dict[str, Any], number: int) -> web.Response | None:
        message = "This model does not support image input"
        return web.json_response({"error": {"message": message}}, status=400) if images_of(body) else None

    with ExamServer(replying=refuse) as server:
        ready, candidate = check(write_study(tmp_path, server.url))
        assert not ready
        assert "sees = false" in candidate["why"]
        assert server.calls < 40
        ready, _ = check(write_study(tmp_path, server.url, candidate={"sees": False}))

    assert ready


def test_a_server_that_says_that_there_is_no_image_is_not_ready(tmp_path: Path) -> None:
    write_seen_cases(tmp_path)

    def ignore(body: dict[str, Any], index: int) -> str:
        return "I'm sorry, I cannot view images." if PROBE in text_of(body) else "A"

    with ExamServer(ignore) as server:
        ready, candidate = check(write_study(tmp_path, server.url))

    assert not ready
    assert (candidate["sees"], "sees = false" in candidate["why"]) == ("ignored", True)


def test_a_wrong_number_is_a_warning_and_the_right_one_is_sight(tmp_path: Path, monkeypatch) -> None:
    write_seen_cases(tmp_path)
    monkeypatch.setattr("wardround.preflight.sight.random_number", lambda: "47")

    def read(body: dict[str, Any], index: int) -> str:
        return f"It is {number}." if PROBE in text_of(body) else "A"

    with ExamServer(read) as server:
        number = "74"
        ready, candidate = check(write_study(tmp_path, server.url))
        assert (ready, candidate["sees"]) == (True, "unclear")
        assert "shown the number 47 in an image, it answers 'It is 74.'" in " ".join(candidate["warnings"])
        number = "47"
        (tmp_path / "answers.sqlite").unlink()
        ready, candidate = check(write_study(tmp_path, server.url))

    assert (ready, candidate["sees"], candidate["warnings"]) == (True, "seen", [])
