"""Sentinels: a server whose model changes during a run is noticed; one that does not change is not accused."""

from __future__ import annotations

from typing import Any

import pytest
from exam_server import ExamServer, letter_by_hash
from exam_study import examine, stored, write_cases, write_study
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wardround.running.run_folder import warnings_of
from wardround.running.sentinel import MIN_TO_DECIDE, fisher_exact

ASKS = 1500


def other_letter(body: dict[str, Any], index: int) -> str:
    """Another deterministic model, which never agrees with the first."""
    return "BCDA"["ABCD".index(letter_by_hash(body, index))]


class Changing:
    """A server whose behaviour, or whose name, changes after so many answers."""

    def __init__(self, after: int, *, behaviour: bool, name: bool) -> None:
        self.after, self.behaviour, self.name = after, behaviour, name
        self.answers = 0
        self.server = ExamServer(self.answer)

    def answer(self, body: dict[str, Any], index: int) -> str:
        self.answers += 1
        changed = self.answers > self.after
        if self.name and changed:
            self.server.model = "exam-model-2"
        return (other_letter if self.behaviour and changed else letter_by_hash)(body, index)


def run(folder, server: ExamServer, asks: int) -> dict[str, Any]:
    write_cases(folder / "cases", asks)
    study = write_study(folder, server.url, candidate={"concurrency": 32})
    return examine(study)


def test_a_model_whose_answers_change_during_the_run_is_noticed(tmp_path):
    changing = Changing(ASKS // 2, behaviour=True, name=False)
    with changing.server as server:
        sentinel = run(tmp_path, server, ASKS)["sentinel"]["server"]
    assert "the server's model may have changed during the run" in sentinel["warning"]
    assert sentinel["agree_late"] > sentinel["agree_early"]
    again = stored(tmp_path / "answers.sqlite", "sentinels")
    assert 0.01 * ASKS <= len(again) == sentinel["asked_again"] <= 0.03 * ASKS
    answers = {row[:3] for row in stored(tmp_path / "answers.sqlite")}
    assert len(answers) == ASKS  # re-asked replies stand in a table of their own
    assert {row[:3] for row in again} <= answers


@pytest.mark.parametrize("concurrency", [1, 32])
def test_a_change_at_half_time_of_a_small_run_is_noticed(tmp_path, concurrency):
    changing = Changing(150, behaviour=True, name=False)
    with changing.server as server:
        write_cases(tmp_path / "cases", 300)
        manifest = examine(write_study(tmp_path, server.url, candidate={"concurrency": concurrency}))
    sentinel = manifest["sentinel"]["server"]
    assert "the server's model may have changed during the run" in sentinel["warning"]
    assert MIN_TO_DECIDE <= sentinel["asked_again"] <= MIN_TO_DECIDE + 3
    assert any("may have changed" in warning for warning in warnings_of(manifest))


def test_one_percent_of_the_requests_are_repeated_whatever_the_number_of_trials(tmp_path):
    with ExamServer() as server:
        write_cases(tmp_path / "cases", 500)
        study = write_study(tmp_path, server.url, top={"trials": 10}, candidate={"price_in": 1.0})
        manifest = examine(study)
    (candidate,) = manifest["candidates"]
    assert manifest["sentinel"]["server"]["asked_again"] == 5
    assert candidate["calls"] == server.calls == 505
    assert candidate["tokens_in"] == 50_500  # what they cost is counted
    assert all(body.get("n", 1) == 1 for body in server.bodies[500:])


def test_a_sentinel_that_fails_in_an_unforeseen_way_loses_no_report(tmp_path, monkeypatch):
    async def break_down(*_: Any) -> None:
        raise ZeroDivisionError("unforeseen")

    monkeypatch.setattr("wardround.running.sentinel._ask", break_down)
    with ExamServer() as server:
        manifest = run(tmp_path, server, 20)
    assert manifest["status"] == "complete"
    assert manifest["sentinel"]["server"]["failed"] == "ZeroDivisionError: unforeseen"


def test_a_server_that_changes_its_model_name_is_noticed(tmp_path):
    changing = Changing(20, behaviour=False, name=True)
    with changing.server as server:
        manifest = run(tmp_path, server, 40)
    names = "exam-model, exam-model-2"
    assert manifest["sentinel"]["server"]["warning"] == f"the server named different models during the run: {names}"
    assert manifest["candidates"][0]["reported_models"] == ["exam-model", "exam-model-2"]
    assert any(names in warning for warning in manifest["warnings"])


@pytest.mark.parametrize("noise", [0, 3])
def test_an_unchanged_model_raises_no_warning_even_if_its_answers_vary(tmp_path, noise):
    calls = 0

    def answer(body: dict[str, Any], index: int) -> str:
        nonlocal calls
        calls += 1
        return letter_by_hash(body, calls % noise if noise else 0)

    with ExamServer(answer) as server:
        sentinel = run(tmp_path, server, 400)["sentinel"]["server"]
    assert "warning" not in sentinel
    assert sentinel["asked_again"] > 0
    if not noise:
        assert sentinel["agree"] == sentinel["asked_again"]


def test_a_run_without_new_asks_repeats_no_sentinels(tmp_path):
    with ExamServer() as server:
        first = run(tmp_path, server, 50)
        calls = server.calls
        second = run(tmp_path, server, 50)
        assert server.calls == calls
    assert second["sentinel"] == first["sentinel"]


def test_an_answer_stored_from_another_model_is_used_with_a_warning(tmp_path):
    with ExamServer() as server:
        run(tmp_path, server, 20)
        first = server.url
    with ExamServer(model="exam-model-2") as server:
        write_cases(tmp_path / "cases", 30)
        same = {"same_as": [first]}
        manifest = examine(write_study(tmp_path, server.url, top={"name": "later"}, candidate=same))
        asked_again = manifest["sentinel"]["server"]["asked_again"]
    assert server.succeeded == 10 + asked_again
    assert any("exam-model, exam-model-2" in warning for warning in manifest["warnings"])


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_the_p_value_is_that_of_fishers_exact_test(early, no_longer, late, neither):
    expected = stats.fisher_exact([[early, no_longer], [late, neither]]).pvalue
    assert fisher_exact(early, early + no_longer, late, late + neither) == pytest.approx(expected)
