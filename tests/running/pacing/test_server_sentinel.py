"""Several servers of one candidate are compared at the start and end of a run; honest ones are not accused."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer, letter_by_hash
from exam_study import examine, write_cases, write_study

from wardround.pipeline import run_study
from wardround.running.run_folder import warnings_of
from wardround.running.server_sentinel import largest_difference

CASES = 12
PER_SERVER = 5  # two questions twice, and one for log-probabilities


def make_study(folder: Path, servers: list[ExamServer], **candidate: Any) -> Path:
    write_cases(folder / "cases", CASES)
    urls = {"base_urls": [server.url for server in servers]}
    return write_study(folder, servers[0].url, candidate=urls | candidate)


def other_letter(body: dict[str, Any], index: int) -> str:
    return "BCDA"["ABCD".index(letter_by_hash(body, index))]


def address(server: ExamServer) -> str:
    return server.url.removeprefix("http://")


def letters(first: float, second: float) -> Callable[[dict[str, Any]], list[tuple[str, float]]]:
    return lambda body: [("A", first), ("B", second)]


def compared(manifest: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = manifest["server_sentinel"]["server"]
    return result


def test_servers_that_answer_alike_raise_no_warning_and_are_billed_apart_from_answers(tmp_path):
    notes: list[str] = []
    with ExamServer(first_token=letters(-0.1, -2.5)) as first, ExamServer(first_token=letters(-0.2, -2.4)) as second:
        manifest = examine(make_study(tmp_path, [first, second], price_in=1.0), notes=notes)
    result = compared(manifest)
    assert (result["answers"], result["first_tokens"]) == (
        "the same for 2 of 2 questions",
        "within 0.25 of each other",
    )
    assert (result["unanswered"], result["warnings"]) == ([], [])
    assert f"server: {2 * PER_SERVER} calls at the start and {2 * PER_SERVER} at the end compare its 2 servers" in notes
    with sqlite3.connect(tmp_path / "answers.sqlite") as connection:
        purposes = dict(connection.execute("select purpose, count(*) from calls group by purpose"))
        [(answers,)] = connection.execute("select count(*) from answers")
    assert answers == purposes["answer"] == CASES
    assert purposes["sentinel"] == 4 * PER_SERVER + manifest["sentinel"]["server"]["asked_again"]
    [entry] = manifest["candidates"]
    assert entry["calls"] == first.calls + second.calls == sum(purposes.values())
    assert entry["tokens_in"] == 100 * entry["calls"]


def test_servers_that_differ_at_temperature_0_are_named_in_terminal_manifest_and_report(tmp_path):
    notes: list[str] = []
    with ExamServer() as first, ExamServer(other_letter) as second:
        study = make_study(tmp_path, [first, second])
        ended = run_study(study, runs=tmp_path / "runs", quiet=True, note=notes.append)
    [warning] = compared(ended.manifest)["warnings"]
    assert f"the servers {address(first)} and {address(second)} in `base_urls` differ: at temperature 0" in warning
    assert [line for line in notes if warning in line] == [f"warning: server: {warning}"]
    assert f"{address(first)} and {address(second)}" in (tmp_path / "runs/exam/report.html").read_text()


def test_servers_that_sample_in_spite_of_temperature_0_are_not_accused(tmp_path):
    calls = count()
    with ExamServer(lambda body, index: "ABCD"[next(calls) % 4]) as first, ExamServer() as second:
        manifest = examine(make_study(tmp_path, [first, second]))
    assert compared(manifest)["answers"] == "not compared"
    assert compared(manifest)["warnings"] == []


def test_log_probabilities_that_differ_by_more_than_the_tolerance_are_told(tmp_path):
    with ExamServer(first_token=letters(-0.1, -2.5)) as first, ExamServer(first_token=letters(-0.1, -1.5)) as second:
        manifest = examine(make_study(tmp_path, [first, second]))
    [warning] = compared(manifest)["warnings"]
    assert warning == (
        f"the servers {address(first)} and {address(second)} in `base_urls` differ: "
        "log-probabilities of the first token differ by 1.00 (tolerance 0.25)"
    )


def test_a_server_of_another_model_name_is_told_even_if_it_answers_alike(tmp_path):
    with ExamServer() as first, ExamServer(model="exam-model-2") as second:
        manifest = examine(make_study(tmp_path, [first, second]))
    assert compared(manifest)["models"] == {address(first): ["exam-model"], address(second): ["exam-model-2"]}
    named = f"({address(first)}: exam-model; {address(second)}: exam-model-2)"
    assert [named in warning for warning in warnings_of(manifest) if "base_urls" in warning] == [True]


@pytest.mark.parametrize("answering", [letter_by_hash, other_letter])
def test_a_server_that_is_dead_at_the_end_is_told_and_not_accused(tmp_path, answering):
    def die_after_the_start(body: dict[str, Any], index: int) -> str:
        if second.calls == PER_SERVER + 2:
            second._loop.call_soon(second._stop.set)
        return answering(body, index)

    with ExamServer() as first, ExamServer(die_after_the_start) as second:
        manifest = examine(make_study(tmp_path, [first, second]))
    result = compared(manifest)
    assert manifest["status"] == "complete"
    assert manifest["candidates"][0]["faults"] == 0
    assert result["unanswered"] == [address(second)]
    assert (result["answers"], result["warnings"]) == ("not compared", [])


def test_a_run_without_new_asks_compares_nothing_and_keeps_the_warning(tmp_path):
    with ExamServer() as first, ExamServer(other_letter) as second:
        study = make_study(tmp_path, [first, second])
        before = examine(study)
        calls = first.calls + second.calls
        after = examine(study)
        assert first.calls + second.calls == calls
    assert compared(after) == compared(before)
    assert compared(after)["warnings"]


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ({"A": -0.1, "B": -2.5}, {"A": -0.2, "B": -2.0}, 0.5),
        ({"A": -0.1, "B": -9.0}, {"A": -0.1, "B": -7.0}, 0.0),  # both below 1%
        ({"A": -0.5, "B": -2.0}, {"A": -0.5, "C": -3.0}, 1.0),  # B has at most -3.0 there
        ({}, {}, 0.0),
    ],
)
def test_the_largest_difference_of_log_probabilities(first, second, difference):
    assert largest_difference(first, second) == pytest.approx(difference)
    assert largest_difference(second, first) == pytest.approx(difference)
