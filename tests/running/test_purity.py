"""Protocols are pure: whatever the schedule and however often it is started, the same Asks are made."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from exam_server import ExamServer, text_of
from exam_study import case, examine, stored, write_cases, write_study

from wardround.asking import protocols
from wardround.running.plan import Plan


def chained(number: int) -> dict[str, Any]:
    """Three questions that build on each other, and one that stands alone."""
    question = case(number)["questions"][0]
    chain = [
        question | {"id": "iqa", "stage": "IQA", "chain": "c"},
        question | {"id": "al", "stage": "AL", "chain": "c", "given": ["iqa"], "prompt": f"Where, {number}?"},
        question | {"id": "dx", "stage": "DX", "chain": "c", "given": ["al", "iqa"], "prompt": f"What, {number}?"},
    ]
    return case(number, questions=[*chain, question])


def by_prompt(body: dict[str, Any], index: int) -> str:
    """Depends on all that was asked, so that a changed answer early in a chain changes every later Ask."""
    return "ABCD"[sum(text_of(body).encode()) % 4]


STUDY: dict[str, Any] = {"top": {"trials": 3}, "conditions": {"options": ["as-given", "shuffled", "rotated"]}}


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> list[tuple[Any, ...]]:
    """The store of a run in which nothing special happened."""
    folder = tmp_path_factory.mktemp("plain")
    write_cases(folder / "cases", map(chained, range(12)))
    with ExamServer(by_prompt) as server:
        assert examine(write_study(folder, server.url, **STUDY))["status"] == "complete"
    rows = stored(folder / "answers.sqlite")
    # three trials of four questions, in three orders of options of which some are the same Ask
    assert 12 * 4 * 3 * 2 < len(rows) <= 12 * 4 * 3 * 3
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_a_shuffled_schedule_makes_the_same_asks(tmp_path, monkeypatch, asked, seed):
    """Units in another order, and every protocol interrupted at random around each of its asks."""
    rng = random.Random(seed)
    incomplete_units, protocol = Plan.incomplete_units, protocols.PROTOCOLS[protocols.DEFAULT]

    def shuffled(plan, context, cases):
        units = list(incomplete_units(plan, context, cases))
        return iter(rng.sample(units, len(units)))

    async def let_others_run():
        for _ in range(rng.randrange(50)):
            await asyncio.sleep(0)

    async def interrupted(chain, examiner):
        ask = examiner.ask

        async def ask_interrupted(*arguments, **options):
            await let_others_run()
            answer = await ask(*arguments, **options)
            await let_others_run()
            return answer

        examiner.ask = ask_interrupted
        await protocol(chain, examiner)

    monkeypatch.setattr(Plan, "incomplete_units", shuffled)
    monkeypatch.setitem(protocols.PROTOCOLS, protocols.DEFAULT, interrupted)
    write_cases(tmp_path / "cases", map(chained, range(12)))
    with ExamServer(by_prompt, several=False) as server:
        examine(write_study(tmp_path, server.url, candidate={"concurrency": 3}, **STUDY))
    assert stored(tmp_path / "answers.sqlite") == asked


def test_a_run_that_is_stopped_inside_chains_continues_with_the_same_asks(tmp_path, asked):
    write_cases(tmp_path / "cases", map(chained, range(12)))
    with ExamServer(by_prompt) as server:
        starts, is_incomplete = 0, True
        while is_incomplete:
            starts += 1
            study = write_study(tmp_path, server.url, budget={"requests": 17 * starts}, **STUDY)
            is_incomplete = examine(study)["status"] == "incomplete"
            assert server.calls <= 17 * starts
    assert starts > 3
    assert stored(tmp_path / "answers.sqlite") == asked


def test_each_question_of_a_chain_shows_the_earlier_answers(tmp_path):
    write_cases(tmp_path / "cases", [chained(0)])
    with ExamServer(lambda body, index: "C") as server:
        examine(write_study(tmp_path, server.url, top={"questions": ["DX"]}))
    iqa, al, dx = (text_of(body) for body in server.bodies[:3])
    assert "Established" not in iqa
    assert "Established so far:\nImage quality: disease 0 gamma\n\n" in al
    assert "Established so far:\nAnatomical location: disease 0 gamma\nImage quality: disease 0 gamma\n\n" in dx


def test_an_answer_that_cannot_be_parsed_is_carried_as_not_determined(tmp_path):
    write_cases(tmp_path / "cases", [chained(0)])
    with ExamServer(lambda body, index: "I do not know") as server:
        examine(write_study(tmp_path, server.url, top={"questions": ["AL"]}))
    assert "Image quality: not determined" in text_of(server.bodies[1])
