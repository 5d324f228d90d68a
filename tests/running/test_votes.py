"""Trials: the same Answers from one request or from several, and never more asked than is missing."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exam_server import ExamServer, text_of
from exam_study import case, examine, stored, write_cases, write_study

from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.study import load_study
from wardround.marking.mark_table import mark_answers
from wardround.running.store import AnswerKey, AnswerStore
from wardround.running.used_answers import scan_used


class Dice:
    """Answers that differ from vote to vote: the k-th completion of a prompt is drawn from the prompt and k."""

    def __init__(self) -> None:
        self.given: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any], index: int) -> str:
        prompt = text_of(body)
        number = self.given[prompt]
        self.given[prompt] += 1
        return "ABCD"[hashlib.sha256(f"{prompt}{number}".encode()).digest()[0] % 4]


def run(folder: Path, server: ExamServer, trials: int, **study: Any) -> dict[str, Any]:
    top = {"trials": trials} | study.pop("top", {})
    return examine(write_study(folder, server.url, top=top, **study), amend=True)


def marks_of(folder: Path) -> pl.DataFrame:
    store = AnswerStore(folder / "answers.sqlite")
    try:
        used = scan_used(folder / "runs" / "exam")
        return pl.concat(mark_answers(used, CaseSet.open(folder / "cases"), store, load_study(folder / "study.toml")))
    finally:
        store.close()


def without_images(rows: list[tuple[Any, ...]]) -> dict[tuple[bytes, int, int], str]:
    return {(ask, trial, turn): json.loads(body)["text"] for ask, trial, turn, body in rows}


@pytest.mark.parametrize("several", [False, "refused"])
def test_one_request_with_n_and_several_requests_give_the_same_answers(tmp_path, several):
    """One at a time, so that the order in which a server draws its votes is the order of the trials."""
    rows = {}
    for kind in (True, several):
        folder = tmp_path / str(kind)
        write_cases(folder / "cases", 12)
        with ExamServer(Dice(), several=kind) as server:
            manifest = run(folder, server, 5, candidate={"concurrency": 1})
        rows[kind] = stored(folder / "answers.sqlite")
        again = manifest["sentinel"]["server"]["asked_again"]
        answering = server.succeeded - again
        asked_for_n = [body["n"] for body in server.bodies if "n" in body]
        if kind is True:
            assert answering == 12
            assert asked_for_n == [5] * 12
        else:
            assert answering == 60
            assert asked_for_n == [5]  # detected once, and remembered
            assert server.calls == 60 + again + (several == "refused")
    assert len(rows[True]) == 60
    assert rows[several] == rows[True]
    assert len({body for *_, body in rows[True]}) > 1


def test_a_server_without_n_is_asked_for_n_only_by_the_first_concurrent_calls(tmp_path):
    write_cases(tmp_path / "cases", 40)
    with ExamServer(several="refused") as server:
        server.hold()
        asking = threading.Thread(target=run, args=(tmp_path, server, 3), kwargs={"candidate": {"concurrency": 8}})
        asking.start()
        server.wait_for(lambda: server.held == 4)  # as many as the pace starts with
        server.release()
        asking.join()
    assert 4 <= sum("n" in body for body in server.bodies) <= 8
    assert len(stored(tmp_path / "answers.sqlite")) == 120


@pytest.mark.parametrize("several", [True, False])
def test_three_trials_then_ten_ask_exactly_seven_more(tmp_path, several):
    write_cases(tmp_path / "cases", 6)
    with ExamServer(Dice(), several=several) as server:
        run(tmp_path, server, 3)
        three, calls = stored(tmp_path / "answers.sqlite"), server.calls
        marked = marks_of(tmp_path)
        run(tmp_path, server, 10)
        # a new start finds out again that the server takes no n; the choice that came is kept, so no call is lost
        assert server.calls - calls == (6 if several else 6 * 7)
        ten = stored(tmp_path / "answers.sqlite")
        new = server.bodies[calls:]
        if several:
            assert [body["n"] for body in new] == [7] * 6
        assert marks_of(tmp_path).height == 60

        calls = server.calls
        run(tmp_path, server, 3)
        assert server.calls == calls
    assert (len(three), len(ten)) == (18, 60)
    assert [row for row in ten if row[1] < 3] == three
    assert marks_of(tmp_path).equals(marked)


def test_trials_with_rotated_options_are_separate_asks(tmp_path):
    write_cases(tmp_path / "cases", 2)
    with ExamServer(lambda body, index: "A") as server:
        run(tmp_path, server, 6, conditions={"options": "rotated"})
    # trial 4 shows the order of trial 0 again: the same Ask, so one request for both
    asked = server.bodies[: len(server.bodies) - len(stored(tmp_path / "answers.sqlite", "sentinels"))]
    assert sorted(body.get("n", 1) for body in asked) == [1, 1, 1, 1, 2, 2, 2, 2]
    marks = marks_of(tmp_path).sort("case", "trial")
    assert marks["option"].to_list() == [0, 1, 2, 3, 0, 1] * 2  # letter A is another option in each trial


def knows(body: dict[str, Any], index: int) -> str:
    """The letter of the right option wherever it stands: option number `patient % 4` of the case's own order."""
    lines = [line for line in text_of(body).splitlines() if line[1:3] == ". "]
    number = int(lines[0].split()[2])
    kind = ("alpha", "beta", "gamma", "delta")[number % 4]
    return next(line[0] for line in lines if line.endswith(kind))


def test_marks_name_the_option_in_the_cases_own_order(tmp_path):
    write_cases(tmp_path / "cases", 20)
    with ExamServer(knows) as server:
        run(tmp_path, server, 3, conditions={"options": ["as-given", "shuffled", "rotated"]})
    marks = marks_of(tmp_path)
    assert marks.height == 20 * 3 * 3
    assert set(marks["outcome"]) == {"right"}
    assert (marks["option"] == marks["case"].str.strip_prefix("case-").cast(pl.Int16) % 4).all()
    shown = {json.loads(row[3])["text"] for row in stored(tmp_path / "answers.sqlite")}
    assert shown == set("ABCD")


def test_seeds_are_sent_only_with_send_seed_and_differ_by_trial(tmp_path):
    write_cases(tmp_path / "cases", 3)
    with ExamServer(Dice()) as server:
        run(tmp_path, server, 2)
        assert not any("seed" in body for body in server.bodies)
    seeds = []
    for again in range(2):
        folder = tmp_path / f"seeded-{again}"
        write_cases(folder / "cases", 3)
        with ExamServer(Dice()) as server:
            run(folder, server, 4, candidate={"send_seed": True})
        assert not any("n" in body for body in server.bodies)
        seeds.append({(text_of(body), body["seed"]) for body in server.bodies})
    assert len(seeds[0]) == 12  # a sentinel is sent with the seed of its first asking
    assert seeds[0] == seeds[1]


TOKENS = [("B", math.log(0.6)), (" B", math.log(0.1)), ("A", math.log(0.25)), ("The", math.log(0.04))]


def answers_of(folder: Path) -> list[Answer]:
    store = AnswerStore(folder / "answers.sqlite")
    answers = [store.get(AnswerKey(ask, trial, turn)) for ask, trial, turn, _ in stored(folder / "answers.sqlite")]
    store.close()
    return [answer for answer in answers if answer is not None]


def test_log_probabilities_take_one_request_and_are_stored_with_the_answer(tmp_path):
    write_cases(tmp_path / "cases", 4)
    with ExamServer(lambda body, index: "B", first_token=lambda body: TOKENS) as server:
        run(tmp_path, server, 10, conditions={"confidence": "logprobs"})
    answers = answers_of(tmp_path)
    assert len(answers) == 4  # 1/10 of the cost of ten votes
    assert all(answer.first_token == tuple(TOKENS) for answer in answers)
    sampling = {name: server.bodies[0][name] for name in ("temperature", "top_p", "max_tokens", "logprobs")}
    assert sampling == {"temperature": 1.0, "top_p": 1.0, "max_tokens": 1, "logprobs": True}
    marks = marks_of(tmp_path)
    assert marks.height == 4
    for shares in marks["shares"].to_list():
        assert shares == pytest.approx([0.25, 0.7, 0.0, 0.0])
    assert marks["option"].to_list() == [1] * 4
    assert marks["confidence"].to_list() == pytest.approx([0.7] * 4)


def test_log_probabilities_of_shuffled_options_belong_to_the_cases_own_order(tmp_path):
    def first_token(body: dict[str, Any]) -> list[tuple[str, float]]:
        letter = knows(body, 0)
        return [(letter, math.log(0.9)), ("ABCD"[("ABCD".index(letter) + 1) % 4], math.log(0.1))]

    write_cases(tmp_path / "cases", 10)
    with ExamServer(first_token=first_token) as server:
        run(tmp_path, server, 10, conditions={"confidence": "logprobs", "options": "shuffled"})
    marks = marks_of(tmp_path)
    golds = [int(name.removeprefix("case-")) % 4 for name in marks["case"]]
    assert marks["option"].to_list() == golds
    assert [shares[gold] for shares, gold in zip(marks["shares"], golds, strict=True)] == pytest.approx([0.9] * 10)


@pytest.mark.parametrize(("outside", "asked"), [(0.015, 1), (0.03, 1 + 4)])
def test_all_trials_vote_if_the_returned_tokens_cover_too_little(tmp_path, outside, asked):
    tokens = [("A", math.log(0.7)), ("B", math.log(0.3 - outside))]
    write_cases(tmp_path / "cases", 3)
    with ExamServer(Dice(), first_token=lambda body: tokens) as server:
        study = {"conditions": {"confidence": "logprobs"}}
        run(tmp_path, server, 4, **study)
        assert len(stored(tmp_path / "answers.sqlite")) == 3 * asked
        marks = marks_of(tmp_path)
        calls = server.calls
        run(tmp_path, server, 4, **study)
        assert server.calls == calls
    assert marks.height == 3 * max(1, asked - 1)
    assert (marks["rule"] == "log-probabilities").all() == (asked == 1)
    votes = [body for body in server.bodies if "logprobs" not in body]
    assert [body["n"] for body in votes if "n" in body] == ([4] * 3 if asked > 1 else [])


def test_a_server_without_log_probabilities_is_voted_on_and_only_votes_are_marked(tmp_path):
    write_cases(tmp_path / "cases", 3)
    with ExamServer(Dice()) as server:
        run(tmp_path, server, 4, conditions={"confidence": "logprobs"})
    assert len(stored(tmp_path / "answers.sqlite")) == 3 * 5
    marks = marks_of(tmp_path)
    assert marks.height == 3 * 4
    assert sorted(marks["trial"].to_list()) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_equal_asks_of_two_cases_are_asked_once(tmp_path):
    twin = case(0) | {"id": "twin"}
    write_cases(tmp_path / "cases", [case(0), twin, case(1)])
    with ExamServer(Dice()) as server:
        manifest = run(tmp_path, server, 2)
    assert len(stored(tmp_path / "answers.sqlite")) == 4
    assert server.succeeded - manifest["sentinel"]["server"]["asked_again"] == 2
    marks = marks_of(tmp_path)
    assert marks.height == 6
    by_case = {name: rows["option"].to_list() for (name,), rows in marks.sort("trial").group_by("case")}
    assert by_case["twin"] == by_case["case-0"]
