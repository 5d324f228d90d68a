"""The agent: searches in turns by tool calls or lines of text, is recorded, and goes on where it was killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exam_server import ExamServer, text_of
from exam_study import examine, start, stored, wardround, write_cases, write_study
from library_study import case, library

from wardround.asking.agent import parse_text_call, parse_tool_call
from wardround.core.evidence import fence_texts


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


def study(
    folder: Path, url: str, index: Path, cases: int = 3, agent: dict[str, Any] | None = None, **candidate: Any
) -> Path:
    write_cases(folder / "cases", map(case, range(cases)))
    literature = {"index": str(index), "agent": agent or {"turns": 6, "searches": 2, "hits": 3}}
    return write_study(
        folder,
        url,
        top={"questions": ["mcq"]},
        candidate={"concurrency": 1, **candidate},
        conditions={"evidence": "agent"},
        literature=literature,
    )


def call(id: str, name: str, **arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def replies(body: dict[str, Any], *calls: dict[str, Any]) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": None, "tool_calls": list(calls)}, "finish_reason": "tool_calls"}


def searches_twice(body: dict[str, Any], index: int) -> Any:
    """Searches for the sign, searches again, reads the first hit, finishes, answers."""
    messages = body["messages"]
    sign = messages[0]["content"].split("A patient with ")[1].split(".")[0]
    turn = sum(message["role"] == "assistant" for message in messages)
    if turn == 0:
        return replies(body, call("c0", "search", query=sign))
    if turn == 1:
        return replies(body, call("c1", "search", query="imaging helps"))
    if turn == 2:
        first = next(message["content"] for message in messages if message.get("tool_call_id") == "c0").split("PMID ")[
            1
        ]
        return replies(body, call("c2", "read", pmid=first.split(":")[0]))
    if turn == 3:
        return replies(body, call("c3", "finish"))
    assert "tools" not in body
    assert text_of(body).endswith("Reply with its letter only.\n\nAnswer:")
    return "A"


def test_an_agent_that_searches_twice_reads_one_and_answers(tmp_path, index):
    with ExamServer(searches_twice) as server:
        manifest = examine(study(tmp_path, server.url, index))
    assert manifest["status"] == "complete"
    evidence = pl.read_parquet(tmp_path / "runs" / "exam" / "evidence.parquet")
    assert evidence["queries"].list.len().to_list() == [2, 2, 2]
    assert set(evidence["ended"]) == {"finished"}
    assert [hits[0] for hits in evidence["found"]] == ["1000", "1001", "1002"]
    documents = pl.read_parquet(tmp_path / "runs" / "exam" / "documents.parquet")
    whole = documents.filter(pl.col("text").str.len_chars() > 400)["pmid"].to_list()
    assert sorted(whole) == ["1000", "1001", "1002"]  # the read ones; the others as hits showed them
    used = pl.read_parquet(tmp_path / "runs" / "exam" / "used.parquet")
    assert used["scored"].sum() == 3
    assert len(used) == 3 * 5
    first = server.bodies[0]
    assert [tool["function"]["name"] for tool in first["tools"]] == ["search", "read", "finish"]
    assert "up to 2 times" in text_of(first)


@pytest.mark.slow
def test_a_run_that_is_killed_while_searching_repeats_no_search(tmp_path, index):
    """Killed after several turns: every Ask is answered once, every search made once."""
    with ExamServer(searches_twice) as server:
        file = study(tmp_path, server.url, index, cases=2)
        for answers in (2, 5, 8):
            server.hold(answers)
            process = start("run", file, cwd=tmp_path)
            server.wait_for(lambda: server.held > 0, process)
            process.kill()
            process.communicate()
            server.wait_for(lambda: server.held == 0)
        server.release()
        ended = wardround("run", file, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
    rows = stored(tmp_path / "answers.sqlite")
    results = [row for row in rows if b'"result"' in row[3][:12]]
    assert len(rows) - len(results) == 2 * 5  # answers, each once
    # three distinct searches ("imaging helps" is of both cases, but their own articles differ: four) and two reads
    assert len(results) == 6
    assert server.succeeded <= 2 * 5 + 3 + len(stored(tmp_path / "answers.sqlite", "sentinels"))


UNLIMITED = {"turns": "unlimited", "searches": "unlimited", "hits": 1}


def test_an_unlimited_agent_searches_until_it_finishes_or_its_tokens_are_spent(tmp_path, index):
    """By hand: ten results of 18 characters each are the first to exceed 50 tokens of 3.5 characters."""

    def keeps_searching(body: dict[str, Any], number: int) -> Any:
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        if "tools" not in body:
            return "A"
        return replies(body, call("f", "finish") if turn == 12 else call(f"c{turn}", "search", query=f"word{turn}"))

    for folder, tokens, searches, ended in (("whole", 24_000, 12, "finished"), ("spent", 50, 10, "tokens")):
        (tmp_path / folder).mkdir()
        with ExamServer(keeps_searching) as server:
            examine(study(tmp_path / folder, server.url, index, cases=1, agent={**UNLIMITED, "tokens": tokens}))
        evidence = pl.read_parquet(tmp_path / folder / "runs" / "exam" / "evidence.parquet").row(0, named=True)
        assert (len(evidence["queries"]), evidence["ended"]) == (searches, ended)
        assert "up to any number of times" in text_of(server.bodies[0])


def test_mistakes_are_explained_and_no_search_exceeds_the_limit(tmp_path, index):
    """Unknown tools, broken arguments and unknown PMIDs are explained; searches beyond the limit are not made."""

    def clumsy(body: dict[str, Any], index: int) -> Any:
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        if "tools" not in body:
            return "B"
        broken = {"id": "x", "type": "function", "function": {"name": "search", "arguments": "{oops"}}
        by_turn = {
            0: [call("a", "google", query="x"), call("b", "search", query="hilar nodes")],
            1: [call("c", "search", query="beds"), call("d", "search", query="a third")],
            2: [call("e", "read", pmid="424242"), broken],
            3: [broken],
        }
        return replies(body, *by_turn[turn])

    with ExamServer(clumsy) as server:
        examine(study(tmp_path, server.url, index, cases=1))
    last = server.bodies[4]["messages"]
    results = {message["tool_call_id"]: message["content"] for message in last if message["role"] == "tool"}
    assert results["a"].startswith("There is no tool 'google'")
    assert "PMID 1000" in results["b"]
    assert results["d"].startswith("No searches are left")
    assert results["e"].startswith("There is no article with PMID 424242")
    row = pl.read_parquet(tmp_path / "runs" / "exam" / "evidence.parquet").row(0, named=True)
    assert row["queries"] == ["hilar nodes", "beds"]
    assert row["ended"] == "not understood"


def test_a_model_without_tools_searches_by_lines_of_text_and_recovers(tmp_path, index):
    """Misformats once, gets an explanation, then searches, reads and finishes."""
    lines = ["I think we should look it up.", "**SEARCH:** hilar nodes", "READ: PMID 1000", "FINISH", "B"]

    def scripted(body: dict[str, Any], index: int) -> str:
        assert "tools" not in body
        return lines[sum(message["role"] == "assistant" for message in body["messages"])]

    with ExamServer(scripted) as server:
        examine(study(tmp_path, server.url, index, cases=1, tools="text"))
    said = [message["content"] for message in server.bodies[4]["messages"]]
    assert "SEARCH: words to search for" in said[0]
    assert said[2].startswith("That could not be understood")
    assert "PMID 1000" in said[4]
    assert "often have sarcoidosis" in said[6]
    assert said[-1].startswith("Finished.")
    assert said[-1].endswith("Answer:")
    roles = [message["role"] for message in server.bodies[4]["messages"]]
    assert roles == ["user", "assistant"] * 4 + ["user"]  # as many chat formats demand
    row = pl.read_parquet(tmp_path / "runs" / "exam" / "evidence.parquet").row(0, named=True)
    assert (row["queries"], row["ended"]) == (["hilar nodes"], "finished")


def test_an_agent_that_never_ends_is_asked_for_its_answer(tmp_path, index):
    with ExamServer(lambda body, index: "C" if text_of(body).endswith("Answer:") else "READ: 1") as server:
        examine(study(tmp_path, server.url, index, cases=1, tools="text"))
    assert server.calls - len(stored(tmp_path / "answers.sqlite", "sentinels")) == 7  # six turns and the answer
    row = pl.read_parquet(tmp_path / "runs" / "exam" / "evidence.parquet").row(0, named=True)
    assert row["ended"] == "turns"


@pytest.mark.parametrize(
    ("line", "tool", "argument"),
    [
        ("SEARCH: hilar nodes", "search", "hilar nodes"),
        ("Sure!\n> search : `hilar nodes`", "search", "hilar nodes"),
        ('SEARCH: "hilar nodes"', "search", "hilar nodes"),
        ("READ: PMID: 123", "read", "123"),
        ("READ: 123", "read", "123"),
        ("Finish", "finish", ""),
        ("- FINISH.", "finish", ""),
    ],
)
def test_lines_are_parsed_as_models_write_them(line, tool, argument):
    wish = parse_text_call(line)
    assert (wish.tool, wish.argument, wish.mistake) == (tool, argument, None)


@pytest.mark.parametrize("line", ["", "The answer is B.", "SEARCH:", "I will search for nodes", "finished"])
def test_other_lines_are_mistakes(line):
    assert parse_text_call(line).mistake


@pytest.mark.parametrize(
    "call", [{}, {"function": None}, {"function": {"name": 3}}, {"id": 1, "function": {"name": "read"}}]
)
def test_broken_tool_calls_are_mistakes(call):
    assert parse_tool_call(call).mistake


def test_a_fence_cannot_be_forged():
    first = fence_texts(["a text"])
    mark = first.split("\n")[0]
    assert fence_texts([f"a text\n{mark}"]).split("\n")[0] != mark


@pytest.mark.slow
def test_a_real_small_model_works_as_an_agent(tmp_path, index):
    """SmolLM2 seldom keeps to the lines it is asked for; whatever it says, it ends with an answer and a record."""
    pytest.importorskip("xllamacpp")
    file = study(tmp_path, "", index, cases=2)
    lines = (
        file.read_text()
        .replace('provider = "openai"', 'provider = "local"')
        .replace('model = "exam"', 'model = "smollm2"')
    )
    file.write_text("\n".join(line for line in lines.splitlines() if not line.startswith("base_url")))
    manifest = examine(file)
    assert manifest["status"] == "complete"
    evidence = pl.read_parquet(tmp_path / "runs" / "exam" / "evidence.parquet")
    assert len(evidence) == 2
    assert set(evidence["ended"]) <= {"finished", "turns", "tokens", "not understood"}
    used = pl.read_parquet(tmp_path / "runs" / "exam" / "used.parquet")
    assert used["scored"].sum() == 2
    assert len(used) > 2  # it was asked on the way
