"""The adapters of examples/agents: an agent that speaks MCP, and one that is a command; what they searched is said."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exam_server import ExamServer
from exam_study import write_cases
from library_study import case, library

from wardround.benchmarks.engine.drawing import draw
from wardround.benchmarks.engine.literature import name_agents
from wardround.benchmarks.engine.named_study import find_study
from wardround.core.study import Study, load_study
from wardround.pipeline import run_study
from wardround.reporting.run_files import RunFiles, read_run
from wardround.reporting.tables.table import Table

EXAMPLES = Path(__file__).parents[2] / "examples" / "agents"
MY_AGENT = """
import sys
prompt, images = sys.stdin.read(), sys.argv[1:]
assert "Choose the one best option" in prompt
print(f"I read PMID: 1000, PMID 9000 and https://example.org/nodes ({len(images)} images).\\nAnswer: A")
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


def study(folder: Path, index: Path, command: list[str], corpus: str) -> Path:
    write_cases(folder / "cases", [case(0)])
    fields = {"name": "agent", "provider": "external", "model": "agent-1", "command": command, "corpus": corpus}
    lines = [f"{key} = {json.dumps(value)}" for key, value in {**fields, "attempts": 1}.items()]
    file = folder / "study.toml"
    file.write_text(
        f'name = "exam"\ncases = "cases"\nquestions = "mcq"\n[[candidates]]\n{chr(10).join(lines)}\n'
        f'[conditions]\nevidence = "agent"\n[literature]\nindex = "{index}"\n[judge]\nprovider = "lexical"\n'
    )
    return file


def examine(file: Path) -> RunFiles:
    ended = run_study(file, runs=file.parent / "runs", quiet=True, note=lambda text: None)
    assert ended.exit_code == 0, ended
    return read_run(ended.folder)


def table1_of(run: RunFiles) -> Table:
    return draw(find_study("cure/table1"), run).with_published()


def evidence_of(run: RunFiles) -> dict[str, Any]:
    return pl.read_parquet(run.folder / "evidence.parquet").row(0, named=True)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    tool_calls = [{"id": f"{name}-1", "type": "function", "function": function}]
    return {"message": {"role": "assistant", "content": None, "tool_calls": tool_calls}, "finish_reason": "tool_calls"}


def searches_and_reads(body: dict[str, Any], number: int) -> Any:
    turn = sum(message["role"] == "tool" for message in body["messages"])
    if turn == 0:
        return call("search", query="hilar nodes", k=2)
    if turn == 1:
        assert "1000" in body["messages"][-1]["content"]
        return call("read", pmid="1000")
    return "A"


def test_an_agent_searches_the_index_through_mcp(tmp_path, index, monkeypatch):
    start = [sys.executable, "-c", "from wardround.cli.main import main; main()"]
    (tmp_path / "own.txt").write_text("9000 9001")  # the articles that cases come from
    without = ["--without", str(tmp_path / "own.txt")]
    server_command = shlex.join([*start, "literature", "serve", "--index", str(index), "--mcp", *without])
    with ExamServer(searches_and_reads) as server:
        for name, value in (("MODEL_URL", server.url), ("MODEL_NAME", "m"), ("SEARCH_SERVER", server_command)):
            monkeypatch.setenv(name, value)
        file = study(tmp_path, index, [sys.executable, str(EXAMPLES / "mcp_agent.py")], "PubMed, by MCP")
        run = examine(file)
    assert {tool["function"]["name"] for tool in server.bodies[0]["tools"]} == {"search", "read"}
    assert evidence_of(run)["found"][0] == "1000"
    documents = pl.read_parquet(run.folder / "documents.parquet")
    (text,) = documents.filter(pl.col("pmid") == "1000")["text"]
    assert text.startswith("Patients with hilar nodes often have sarcoidosis.")
    assert text.endswith("Imaging helps.")  # read whole, not as the search showed it


def test_an_agent_that_is_a_command_gets_prompt_and_images_and_its_sources_are_found(tmp_path, index):
    (tmp_path / "agent.py").write_text(MY_AGENT)
    command = [sys.executable, str(EXAMPLES / "command_agent.py"), sys.executable, str(tmp_path / "agent.py")]
    file = study(tmp_path, index, [*command, "{images}"], "the live web")
    run = examine(file)
    assert "1000" in evidence_of(run)["found"]
    table = table1_of(run)
    assert {column.over for column in table.columns if column.over.startswith("With agent")} == {
        "With agent retrieval (the live web)"
    }
    notes = " ".join(table.notes)
    assert "Agent retrieval: agent searches the live web." in notes
    assert "Warning: agent found the article that the case was made of; answers: 1." in notes  # 9000
    assert not any(row.published for row in table.rows for cell in row.cells[9:12] if cell.value is not None)


def test_headings_name_what_each_agent_searched(tmp_path, index):
    """A candidate of ours beside an outside agent: the heading says what either searched."""
    file = study(tmp_path, index, ["true"], "the live web")
    file.write_text(file.read_text() + '[[candidates]]\nname = "guess"\nprovider = "random"\n')
    settings = load_study(file)
    run = replace_settings(settings)
    named = name_agents(find_study("cure/table1"), run)
    overs = [column.over for column in named.definition.columns]
    assert overs[-1] == "With agent retrieval (closed corpus; agent: the live web)"
    assert "limited to 8 replies, 5 searches and a transcript of 24,000 tokens" in " ".join(named.definition.choices)


def replace_settings(settings: Study) -> RunFiles:
    """A run of which only the study is known."""
    tables, marks = (pl.DataFrame(), pl.DataFrame()), (pl.LazyFrame(), pl.LazyFrame())
    return RunFiles(Path(), "", settings.model_dump(exclude_none=True), {}, *tables, *marks)
