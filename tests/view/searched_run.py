"""A run of an agent on a tiny index, for tests of what the explorer shows of searches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from exam_server import ExamServer
from exam_study import write_cases, write_study
from library_study import case, library

from wardround.pipeline import run_study


def call(id: str, name: str, **arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


CALLS = (
    call("c0", "search", query="hilar nodes"),
    call("c1", "search", query="beds of ward 7"),
    call("c2", "read", pmid="1000"),
    call("c3", "search", query="one too many"),
    call("c4", "finish"),
)


def search_then_answer(body: dict[str, Any], index: int) -> Any:
    """One call a turn, each with its number as words; then the answer."""
    if "tools" not in body:
        return "1. Sarcoidosis"
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    message = {"role": "assistant", "content": f"Turn {turn}.", "tool_calls": [CALLS[turn]]}
    return {"message": message, "finish_reason": "tool_calls"}


def write_searched_run(folder: Path) -> Path:
    """The run folder: one open question about sarcoidosis, answered by an agent that may search twice."""
    folder.mkdir(parents=True, exist_ok=True)
    index = library(folder / "library")
    write_cases(folder / "cases", [case(0)])
    with ExamServer(search_then_answer) as server:
        study = write_study(
            folder,
            server.url,
            top={"questions": ["open"]},
            conditions={"evidence": "agent"},
            literature={"index": str(index), "agent": {"turns": 6, "searches": 2, "hits": 2}},
            judge={"provider": "lexical"},
        )
        return run_study(study, runs=folder / "runs", quiet=True, note=lambda line: None).folder
