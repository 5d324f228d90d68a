"""The searches of `rag` conditions are made together before anybody is asked, and stored as single ones would be."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer
from exam_study import examine, write_cases, write_study
from library_study import case, library

from wardround.literature.index.build import build
from wardround.literature.index.index import Index
from wardround.running import study_run
from wardround.running.batching import planned_searches
from wardround.running.literature_tools import LiteratureTools
from wardround.running.tools import Tools, result_key

VALUES = ["none", "reference", "rag", "rag@one", "rag@both", "agent"]
SEARCHES = {"one": {"k": 1}, "both": {"retrievers": ["bm25", "wordllama"], "fusion": "rrf", "depth": 20}}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    place = library(folder)
    build([folder / "articles.jsonl"], place)
    return place


def write(folder: Path, url: str, index: Path, values: Sequence[str] = VALUES, query: str = "case") -> Path:
    write_cases(folder / "cases", map(case, range(6)))
    searches = {name: search | {"query": query} for name, search in SEARCHES.items()}
    literature = {"index": str(index), "k": 3, "query": query, "until": 2020, "searches": searches}
    return write_study(
        folder, url, conditions={"evidence": list(values)}, literature=literature, judge={"provider": "lexical"}
    )


def tool_results(folder: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "answers.sqlite") as connection:
        rows = connection.execute("select * from answers where candidate is null order by ask, trial, turn").fetchall()
    connection.close()
    return rows


class Stopped(Exception):
    """Stands for a process that is killed."""


def test_the_stored_rows_are_those_of_searches_one_by_one(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    single: list[Mapping[str, Any]] = []
    search = LiteratureTools._search

    async def count(self: LiteratureTools, arguments: Mapping[str, Any]) -> Any:
        single.append(arguments)
        return await search(self, arguments)

    monkeypatch.setattr(LiteratureTools, "_search", count)
    with ExamServer() as server:
        examine(write(tmp_path / "together", server.url, index))
        made_alone = len(single)
        monkeypatch.setattr(study_run, "make_planned_searches", _make_none)
        examine(write(tmp_path / "alone", server.url, index))

    together, alone = tool_results(tmp_path / "together"), tool_results(tmp_path / "alone")
    assert together == alone
    assert len(together) >= 6 * 3  # searches of six cases in three ways
    assert len(single) - 2 * made_alone == 6 * 3  # an agent's searches are single ones in both


async def _make_none(*_: object) -> int:
    return 0


def test_a_stopped_run_keeps_the_searches_that_were_made(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planned_searches, "BATCH", 4)
    asked: list[list[str]] = []
    search_all = LiteratureTools._search_all

    async def stop_at_the_third(self: LiteratureTools, uses: Sequence[Mapping[str, Any]]) -> Any:
        asked.append([arguments["query"] for arguments in uses])
        if len(asked) == 3:
            raise Stopped
        return await search_all(self, uses)

    monkeypatch.setattr(LiteratureTools, "_search_all", stop_at_the_third)
    with ExamServer() as server:
        study = write(tmp_path, server.url, index, ["rag", "rag@one"])
        with pytest.raises(Stopped):
            examine(study)
        kept = tool_results(tmp_path)
        manifest = examine(study)

    assert [len(queries) for queries in asked] == [4, 4, 4, 4]  # twelve searches; the third four are made again
    assert len(kept) == 8
    assert set(kept) < set(tool_results(tmp_path))
    assert manifest["status"] == "complete"


def test_queries_of_candidates_are_not_known_before(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiteratureTools, "_search_all", lambda *_: pytest.fail("a search was made before"))
    with ExamServer() as server:
        manifest = examine(write(tmp_path, server.url, index, ["rag"], query="candidate"))

    assert manifest["status"] == "complete"


def test_results_are_stored_under_the_keys_of_single_uses(tmp_path: Path) -> None:
    """`use` finds them without the tool."""
    import asyncio

    from wardround.running.store import AnswerStore

    async def fail(arguments: Mapping[str, Any]) -> Any:
        raise AssertionError(arguments)

    async def double(uses: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [2 * arguments["number"] for arguments in uses]

    async def use() -> tuple[int, int, list[Any]]:
        tools = Tools(store, {"double": ("print", fail)}, {"double": double})
        uses = [{"number": number} for number in (1, 2, 2, 3)]
        first = await tools.store_results("double", uses)
        again = await tools.store_results("double", uses)
        return first, again, [await tools.use("double", arguments) for arguments in uses]

    store = AnswerStore(tmp_path / "answers.sqlite")

    assert asyncio.run(use()) == (3, 0, [2, 4, 4, 6])
    assert store.result(result_key("double", "print", {"number": 3})) == {"result": 6}
    store.close()


def test_the_index_of_the_tests_has_both_retrievers(index: Path) -> None:
    assert Index.open(index).retrievers == ["bm25", "wordllama"]
