"""Single questions are asked without their protocol: what is asked, stored and used is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
from aiohttp import web
from exam_server import ExamServer, letter_by_hash, text_of
from exam_study import case, examine, stored, write_cases, write_study
from PIL import Image

from wardround.running.replaying.plain_asking import PlainAsking
from wardround.running.trials import PlannedUnit

CASES = 6
CONDITIONS = {"options": ["as-given", "shuffled", "rotated"], "inputs": ["history", "history+images"]}


def mixed(number: int) -> dict[str, Any]:
    """Two single choice questions, an open one and a chain of two."""
    question = case(number)["questions"][0]
    choices = [question | {"id": f"q{place}", "prompt": f"Which is {place}, {number}?"} for place in range(2)]
    chain = [
        question | {"id": "iqa", "chain": "c"},
        question | {"id": "dx", "chain": "c", "given": ["iqa"], "prompt": f"What then, {number}?"},
    ]
    opened = {"id": "open", "kind": "open", "prompt": f"What is it, {number}?", "gold": "it"}
    return case(number, questions=[*choices, opened, *chain], images=[{"path": "1.png", "modality": "CT"}])


def refuse_some(body: dict[str, Any], call: int) -> web.Response | None:
    """One question is refused for good, in whatever order; a call of another fails once in a while."""
    if "Which is 1, 3?" in text_of(body):
        return web.Response(status=400, text=orjson.dumps({"error": {"message": "flagged by moderation"}}).decode())
    return web.Response(status=500) if call % 7 == 3 else None


def outcome(folder: Path, replying: Any, **study: Any) -> dict[str, Any]:
    """All that a run leaves of its asks."""
    write_cases(folder / "cases", map(mixed, range(CASES)))
    Image.new("L", (4, 4)).save(folder / "cases" / "1.png")
    with ExamServer(letter_by_hash, replying=replying) as server:
        candidate = {"concurrency": 1, **study.pop("candidate", {})}
        manifest = examine(write_study(folder, server.url, top={"trials": 3}, candidate=candidate, **study))
    entry = manifest["candidates"][0]
    used = pl.read_parquet(folder / "runs" / "exam" / "used.parquet")
    return {
        "status": manifest["status"],
        "counts": {name: entry[name] for name in ("asks", "stored", "new", "bought", "refused", "failed", "missing")},
        "models": entry["reported_models"],
        "used": sorted(used.drop("digest", strict=False).rows(), key=repr),
        "answers": sorted(row[:4] for row in stored(folder / "answers.sqlite")),
        "calls": server.succeeded if replying is None else None,  # which calls fail depends on their order
    }


@pytest.mark.parametrize("replying", [None, refuse_some], ids=["answers", "faults and refusals"])
@pytest.mark.parametrize("several", [True, False], ids=["n", "seeds"])
def test_the_protocol_and_the_short_way_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replying: Any, several: bool
) -> None:
    candidate = {} if several else {"send_seed": True}
    short = outcome(tmp_path / "short", replying, conditions=CONDITIONS, candidate=candidate)

    async def never(self: PlainAsking, planned: PlannedUnit) -> bool:
        return False

    monkeypatch.setattr(PlainAsking, "ask", never)

    assert outcome(tmp_path / "protocol", replying, conditions=CONDITIONS, candidate=candidate) == short
    assert short["status"] == "complete"
    assert (short["counts"]["refused"] > 0) == (replying is not None)


def test_all_but_chains_are_asked_without_their_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []
    ask = PlainAsking.ask

    async def noted(self: PlainAsking, planned: PlannedUnit) -> bool:
        was_asked = await ask(self, planned)
        asked.append((planned.unit[-1].id, was_asked))
        return was_asked

    monkeypatch.setattr(PlainAsking, "ask", noted)
    outcome(tmp_path, None)

    assert sorted(set(asked)) == [("dx", False), ("open", True), ("q0", True), ("q1", True)]
    assert len(asked) == 4 * CASES


def test_equal_asks_of_two_questions_are_bought_once(tmp_path: Path) -> None:
    """The second waits for the answer to the first, or finds it."""
    question = case(0)["questions"][0]
    twins = [question | {"id": "a"}, question | {"id": "b"}]
    write_cases(tmp_path / "cases", [case(0, questions=twins)])

    with ExamServer(letter_by_hash) as server:
        manifest = examine(write_study(tmp_path, server.url))

    assert manifest["status"] == "complete"
    assert len(stored(tmp_path / "answers.sqlite")) == 1
    assert len(pl.read_parquet(tmp_path / "runs" / "exam" / "used.parquet")) == 2
