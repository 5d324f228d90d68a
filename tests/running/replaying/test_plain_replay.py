"""Stored answers to single questions are replayed without their protocol: what a run uses and counts is the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exam_server import ExamServer, letter_by_hash
from exam_study import case, examine, write_cases, write_study
from PIL import Image

from wardround.core.study import load_study
from wardround.marking.reader import AnswerReader
from wardround.running.inputs.run_paths import RunPaths
from wardround.running.replaying import plain_replay
from wardround.running.replaying.plain_replay import PlainReplay
from wardround.running.store import AnswerStore
from wardround.running.stored_run import hash_answers
from wardround.running.study_run import StudyRun

CASES = 6
CONDITIONS = {"options": ["as-given", "shuffled", "rotated"], "inputs": ["history", "history+images"]}


def mixed(number: int) -> dict[str, Any]:
    """Three single choice questions, an open one and a chain of two."""
    question = case(number)["questions"][0]
    choices = [question | {"id": f"q{place}", "prompt": f"Which is {place}, {number}?"} for place in range(3)]
    chain = [
        question | {"id": "iqa", "chain": "c"},
        question | {"id": "dx", "chain": "c", "given": ["iqa"], "prompt": f"What then, {number}?"},
    ]
    opened = {"id": "open", "kind": "open", "prompt": f"What is it, {number}?", "gold": "it"}
    return case(number, questions=[*choices, opened, *chain], images=[{"path": "1.png", "modality": "CT"}])


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of a complete run."""
    folder = tmp_path_factory.mktemp("mixed")
    write_cases(folder / "cases", map(mixed, range(CASES)))
    Image.new("L", (4, 4)).save(folder / "cases" / "1.png")
    with ExamServer(letter_by_hash) as server:
        study = write_study(folder, server.url, top={"trials": 2}, conditions=CONDITIONS)
        assert examine(study)["status"] == "complete"
    return study


def planned(study: Path) -> dict[str, Any]:
    """What the plan of a new start found."""
    run = StudyRun(load_study(study), RunPaths.from_options(study, study.parent / "runs", None), AnswerReader())

    async def plan() -> dict[str, Any]:
        try:
            (candidate,) = await run.plan()
            context = candidate.context
            return {
                "used": pl.concat(run._used.tables(["server"], run.cases.ids, ["c"] * 6)).rows(),
                "count": (candidate.plan.count.stored, candidate.plan.count.missing),
                "inapplicable": candidate.plan.inapplicable,
                "incomplete": [
                    (unit.case.id, unit.unit[0].id, unit.condition)
                    for unit in candidate.plan.incomplete_units(context, run.cases)
                ],
                "hardest": candidate.plan.hardest.choose(24),
                "estimate": candidate.plan.count.estimator.estimate,
                "models": context.models,
                "addresses": context.addresses,
                "answered": context.caller.breaker.has_answered,
                "known": {flag: context.caller.has_known_answer(with_images=flag) for flag in (True, False)},
            }
        finally:
            await run.close()

    return asyncio.run(plan())


def drop(study: Path, where: str) -> None:
    store = AnswerStore(study.parent / "answers.sqlite")
    store.connection.execute(f"delete from answers where {where}")
    store.close()


def copy_of(study: Path, folder: Path) -> Path:
    """The study and its answers elsewhere."""
    source = AnswerStore(study.parent / "answers.sqlite")
    source.connection.execute("vacuum into ?", (str(folder / "answers.sqlite"),))
    source.close()
    text = study.read_text().replace('cases = "cases"', f'cases = "{study.parent / "cases"}"')
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


@pytest.mark.parametrize("where", [None, "trial = 1 and hex(ask) like '%0'", "hex(ask) like '%4'"])
def test_the_protocol_and_the_short_way_agree(
    exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str | None
) -> None:
    study = copy_of(exam, tmp_path)
    if where is not None:
        drop(study, where)
    short = planned(study)
    monkeypatch.setattr(plain_replay, "PLAIN_PROTOCOL", None)
    assert planned(study) == short
    assert (short["count"][1] > 0) == (where is not None)


@pytest.mark.parametrize("are_hashed", [True, False])
def test_all_but_chains_are_replayed_without_their_protocol(
    exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, are_hashed: bool
) -> None:
    """Also if the images are new, and are hashed meanwhile."""
    study = copy_of(exam, tmp_path)
    if not are_hashed:
        store = AnswerStore(tmp_path / "answers.sqlite")
        store.connection.execute("delete from files")
        store.close()
    results: list[Any] = []
    replay = PlainReplay.replay
    monkeypatch.setattr(PlainReplay, "replay", lambda *arguments: results.append(replay(*arguments)) or results[-1])
    planned(study)
    # three choice questions under six conditions; an open one under those that do not reorder options
    assert results == [[]] * CASES * (3 * 6 + 2)


def test_the_hash_of_a_replay_is_that_of_the_stored_answers(exam: Path, tmp_path: Path) -> None:
    study = copy_of(exam, tmp_path)
    text = study.read_text().replace("[[candidates]]", 'questions = ["q0", "open"]\n[[candidates]]', 1)
    study.write_text(text)
    manifest = examine(study)
    assert manifest["status"] == "complete"
    store = AnswerStore(tmp_path / "answers.sqlite")
    assert manifest["answers_hash"] == hash_answers(tmp_path / "runs" / "exam", store)
    store.close()


def test_an_answer_with_sources_of_its_own_is_left_to_the_protocol(exam: Path, tmp_path: Path) -> None:
    study = copy_of(exam, tmp_path)
    store = AnswerStore(tmp_path / "answers.sqlite")
    body = b'{"text":"A","finish":"stop","sources":[{"title":"Own","text":"Found by itself."}]}'
    store.connection.execute("update answers set body = ?", (body,))
    store.close()
    text = study.read_text().replace("[[candidates]]", 'questions = ["q0"]\n[[candidates]]', 1)
    study.write_text(text)
    assert examine(study)["status"] == "complete"
    documents = pl.read_parquet(tmp_path / "runs" / "exam" / "documents.parquet")
    assert documents["title"].to_list() == ["Own"]
