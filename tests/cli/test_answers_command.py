"""`wardround answers`: the store is counted, checked, exported, copied and merged; drop and prune lose nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from exam_server import ExamServer, text_of
from exam_study import case, start, stored, write_cases, write_study
from library_study import case as library_case
from library_study import library

from wardround.cli.main import main


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


Command = Callable[..., Ended]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs `wardround` in this process, in the test's folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr("sys.argv", ["wardround", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(int(ended.value.code or 0), *capfd.readouterr())

    return run


def patient(body: dict[str, Any]) -> int:
    return int(text_of(body).split("History of patient ")[1].split(".")[0])


def several_outcomes(body: dict[str, Any], index: int) -> Any:
    """Patient 1 is cut, 2 is empty, 3 is filtered, the others are answered."""
    fields: dict[int, dict[str, Any]] = {
        1: {"message": {"role": "assistant", "content": "because"}, "finish_reason": "length"},
        2: {"message": {"role": "assistant", "content": ""}},
        3: {"message": {"role": "assistant", "content": ""}, "finish_reason": "content_filter"},
    }
    return fields.get(patient(body), "A")


def run_exam(command: Command, folder: Path, server: ExamServer, cases: int = 6, **tables: Any) -> Path:
    """Runs a study of plain cases; the store and runs/ are in the test's folder."""
    write_cases(folder / "cases", cases)
    study = write_study(folder, server.url, **tables)
    ended = command("run", study)
    assert ended.code == 0, ended.err
    return study


def test_every_command_refuses_a_missing_store_in_one_line_and_makes_none(command: Command, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    calls = {
        "list": [],
        "verify": [],
        "export": ["x.csv"],
        "merge": ["other.sqlite"],
        "drop": ["--study", "exam"],
        "prune": ["--bin"],
    }
    for name, arguments in calls.items():
        ended = command("answers", name, *arguments)

        assert (ended.code, ended.out) == (1, ""), name
        assert ended.err == "wardround: answers.sqlite: there is no such answer store\n"

    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_answers_are_counted_by_origin_and_outcome(command: Command, tmp_path: Path) -> None:
    with ExamServer(several_outcomes) as server:
        run_exam(command, tmp_path, server)
        address = f"127.0.0.1:{server.port}/v1"

    listed = command("answers", "list", "--json").document
    text = command("answers", "list").out

    (group,) = listed["groups"]
    assert group["outcomes"] == {"content filter": 1, "cut": 1, "empty": 1, "answered": 3}
    assert (group["run"], group["candidate"], group["model"]) == ("exam", "server", "exam-model")
    assert address in group["address"]
    assert (group["tokens_in"], group["tokens_out"]) == (600, 6)
    assert group["first"] <= group["last"]
    assert "1 content filter, 1 cut, 1 empty, 3 answered; 600 + 6 tokens" in text
    assert command("answers", "list", "--candidate", "nobody", "--json").document["rows"] == 0
    assert command("answers", "list", "--finish", "length", "--json").document["rows"] == 1


def test_a_single_row_is_found_by_the_beginning_of_its_key(command: Command, tmp_path: Path) -> None:
    with ExamServer(several_outcomes) as server:
        run_exam(command, tmp_path, server)
    ask = stored(tmp_path / "answers.sqlite")[0][0].hex()

    rows = command("answers", "list", "--asks", "--ask", ask[:12].upper(), "--json").document["rows"]

    assert [row["ask"] for row in rows] == [ask]
    assert ask in command("answers", "list", "--asks").out
    assert command("answers", "list", "--ask", "%").code == 2


def test_control_characters_of_a_server_do_not_reach_the_terminal(command: Command, tmp_path: Path) -> None:
    with ExamServer(lambda body, index: "A\x1b[2J\nB", model="m\x1b]0;x") as server:
        run_exam(command, tmp_path, server, cases=1)

    assert "\x1b" not in command("answers", "list").out + command("answers", "list", "--asks").out


def test_dropped_answers_are_asked_again_and_no_others(command: Command, tmp_path: Path) -> None:
    with ExamServer(several_outcomes) as server:
        study = run_exam(command, tmp_path, server)
        before = stored(tmp_path / "answers.sqlite")
        ended = command("answers", "drop", "--outcome", "content-filter", "--reason", "the filter was wrong", "--yes")
        measures = Path("runs/exam/measures.csv").read_bytes()
        marked = command("mark", "runs/exam")
        assert (marked.code, Path("runs/exam/measures.csv").read_bytes()) == (3, measures)
        server.answering = lambda body, index: "B"
        server.bodies.clear()
        again = command("run", study)

    assert (ended.code, again.code) == (0, 0)
    assert "dropped 1 row, asked for by exam" in ended.out
    assert [patient(body) for body in server.bodies] == [3]
    after = stored(tmp_path / "answers.sqlite")
    assert [row[:3] for row in after] == [row[:3] for row in before]
    assert len(set(after) & set(before)) == 5
    with closing(sqlite3.connect(tmp_path / "answers.sqlite")) as connection:
        assert connection.execute("select candidate, reason from dropped").fetchall() == [
            ("server", "the filter was wrong")
        ]
    assert command("answers", "verify", "--runs", "runs").code == 0, "both calls were paid for"


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["--outcome", "refused"], 1),
        (["--outcome", "cut"], 1),
        (["--outcome", "empty"], 1),
        (["--outcome", "too-long"], 0),
        (["--candidate", "server"], 6),
        (["--study", "exam", "--outcome", "answered"], 3),
        (["--study", "other"], 0),
    ],
)
def test_a_filter_chooses_what_is_dropped(command: Command, tmp_path: Path, filters: list[str], count: int) -> None:
    with ExamServer(several_outcomes) as server:
        run_exam(command, tmp_path, server)

    ended = command("answers", "drop", *filters, "--yes", "--json")

    assert ended.document["dropped"] == count
    assert len(stored(tmp_path / "answers.sqlite")) == 6 - count


def test_nothing_is_dropped_without_a_filter_or_without_yes(command: Command, tmp_path: Path) -> None:
    with ExamServer() as server:
        run_exam(command, tmp_path, server, cases=2)

    unfiltered = command("answers", "drop", "--yes")
    unconfirmed = command("answers", "drop", "--study", "exam")
    unknown = command("answers", "drop", "--outcome", "bad", "--yes")

    assert (unfiltered.code, unconfirmed.code, unknown.code) == (2, 2, 2)
    assert "would drop 2 rows, asked for by exam; repeat with --yes" in unconfirmed.err
    assert "content filter" in unknown.err
    assert len(stored(tmp_path / "answers.sqlite")) == 2


def test_what_was_dropped_is_put_back_unless_it_was_asked_again(command: Command, tmp_path: Path) -> None:
    with ExamServer(several_outcomes) as server:
        study = run_exam(command, tmp_path, server)
        before = stored(tmp_path / "answers.sqlite")
        command("answers", "drop", "--outcome", "cut", "--yes")
        command("run", study)
        command("answers", "drop", "--outcome", "answered", "--yes")

        ended = command("answers", "drop", "--restore", "--json")

    assert ended.document["restored"] == 3
    assert [row[:3] for row in stored(tmp_path / "answers.sqlite")] == [row[:3] for row in before]
    assert command("answers", "drop", "--restore", "--json").document["restored"] == 0
    assert len(stored(tmp_path / "answers.sqlite", "dropped")) == 1, "the one that was asked again"


def test_nothing_is_dropped_while_a_run_is_asking(command: Command, tmp_path: Path) -> None:
    with ExamServer() as server:
        study = run_exam(command, tmp_path, server, cases=2)
        write_cases(tmp_path / "cases", 4)
        server.hold()
        process = start("run", study, "--amend", cwd=tmp_path)
        server.wait_for(lambda: server.held > 0, process)

        during = command("answers", "drop", "--study", "exam", "--yes")
        pruned = command("answers", "prune", "--runs", "runs", "--yes")
        server.release()
        process.communicate()
        after = command("answers", "drop", "--study", "exam", "--yes")

    assert (during.code, pruned.code, after.code) == (1, 1, 0)
    assert during.err == "wardround: answers.sqlite: a run is asking now; wait for it or stop it\n"
    assert "another run is writing to this folder" in pruned.err


def test_a_sound_store_has_no_problems(command: Command, tmp_path: Path) -> None:
    with ExamServer(several_outcomes) as server:
        run_exam(command, tmp_path, server, top={"trials": 3})

    ended = command("answers", "verify", "--runs", "runs")

    assert (ended.code, ended.out) == (0, "answers.sqlite: no problems\n")


@pytest.mark.parametrize(
    ("change", "kind", "line"),
    [
        ("update answers set body = cast('{\"text\"' as blob) where trial = 1", "bodies", "2 bodies are not an answer"),
        ("update answers set model = 'other'", "columns", "6 rows have other columns than bodies"),
        ("update answers set tokens_out = 9 where trial = 0", "calls", "2 calls have more answers or tokens"),
        ("delete from answers where trial = 2", "missing", "runs/exam: 2 of 6 used rows are not in it"),
    ],
)
def test_each_kind_of_problem_gets_one_line(
    command: Command, tmp_path: Path, change: str, kind: str, line: str
) -> None:
    with ExamServer() as server:
        run_exam(command, tmp_path, server, cases=2, top={"trials": 3})
    with closing(sqlite3.connect(tmp_path / "answers.sqlite")) as connection, connection:
        connection.execute(change)

    ended = command("answers", "verify", "--runs", "runs")
    document = command("answers", "verify", "--runs", "runs", "--json").document

    assert ended.code == 3
    assert ended.out.startswith(line)
    assert ended.out.count("\n") == 1
    assert [problem["kind"] for problem in document["problems"]] == [kind]


def test_a_damaged_file_is_a_problem_too(command: Command, tmp_path: Path) -> None:
    with ExamServer() as server:
        run_exam(command, tmp_path, server, cases=200)
    with closing(sqlite3.connect(tmp_path / "answers.sqlite")) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
        page = connection.execute("select rootpage from sqlite_master where name = 'answers'").fetchone()[0]
    with (tmp_path / "answers.sqlite").open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)

    ended = command("answers", "verify", "--json")

    assert ended.code == 3
    assert [problem["kind"] for problem in ended.document["problems"]] == ["integrity"]


def test_rows_are_exported_as_tables(command: Command, tmp_path: Path) -> None:
    with ExamServer(lambda body, index: "=1+1" if patient(body) else "-B") as server:
        run_exam(command, tmp_path, server, cases=2)

    codes = [command("answers", "export", f"rows{suffix}").code for suffix in (".parquet", ".csv", ".jsonl", ".xlsx")]

    assert codes == [0, 0, 0, 2]
    table = pl.read_parquet("rows.parquet")
    assert set(table["text"]) == {"=1+1", "-B"}
    assert table["candidate"].to_list() == ["server"] * 2
    assert [json.loads(line)["text"] for line in Path("rows.jsonl").read_text().splitlines()] == table["text"].to_list()
    in_csv = pl.read_csv("rows.csv")
    assert in_csv["text"].to_list() == [f" {text}" for text in table["text"]]
    assert in_csv.columns == table.columns
    assert command("answers", "export", "none.csv", "--study", "other", "--json").document["rows"] == 0
    assert pl.read_csv("none.csv").columns == table.columns


def write_open_study(folder: Path, server: ExamServer, judge: ExamServer, name: str) -> Path:
    question = {"id": "open", "kind": "open", "prompt": "What is it?", "gold": "gout"}
    write_cases(folder / "open", [case(number, questions=[question]) for number in range(3)])
    settings = {"provider": "openai", "base_url": judge.url, "model": "judge"}
    return write_study(folder, server.url, top={"name": name, "cases": "open"}, judge=settings)


def test_a_copied_run_can_be_marked_without_its_judge(command: Command, tmp_path: Path) -> None:
    """The second study uses verdicts that the first one bought: they are copied, too."""
    with ExamServer(lambda body, index: "1. podagra") as server, ExamServer(lambda body, index: "Yes") as judge:
        for name in ("first", "second"):
            assert command("run", write_open_study(tmp_path, server, judge, name)).code == 0
        assert judge.calls == 1
    measures = Path("runs/second/measures.csv").read_bytes()

    copied = command("answers", "copy", "elsewhere/a.sqlite", "--run", "runs/second", "--json")
    marked = command("mark", "runs/second", "--answers", "elsewhere/a.sqlite")

    assert copied.document == {"to": "elsewhere/a.sqlite", "copied": 4, "there_before": 0, "missing": 0}
    assert marked.code == 0, marked.err
    assert Path("runs/second/measures.csv").read_bytes() == measures
    assert command("answers", "verify", "--answers", "elsewhere/a.sqlite", "--runs", "runs").code == 0
    again = command("answers", "copy", "elsewhere/a.sqlite", "--run", "runs/second", "--json").document
    assert (again["copied"], again["there_before"]) == (0, 4)
    assert command("answers", "copy", "new.sqlite", "--run", "runs/second", "--answers", "typo.sqlite").code == 1
    assert not Path("new.sqlite").exists()
    assert command("answers", "merge", "elsewhere/a.sqlite", "--json").document["merged"][0]["calls"] == 0


def test_prune_drops_only_what_no_run_used(command: Command, tmp_path: Path) -> None:
    with ExamServer(lambda body, index: "1. podagra") as server, ExamServer(lambda body, index: "Yes") as judge:
        study = write_open_study(tmp_path, server, judge, "kept")
        assert command("run", study).code == 0
        run_exam(command, tmp_path, server, cases=5)
        (tmp_path / "attic").mkdir()
        Path("runs/exam").rename("attic/exam")

        unconfirmed = command("answers", "prune", "--runs", "runs")
        pruned = command("answers", "prune", "--runs", "runs", "--yes", "--json")
        write_open_study(tmp_path, server, judge, "kept")
        calls = server.calls + judge.calls
        again = command("run", study)

        assert server.calls + judge.calls == calls, "all that the other run used is still there"
    assert (unconfirmed.code, pruned.code, again.code) == (2, 0, 0)
    assert "would drop 5 rows that no run in runs used" in unconfirmed.err
    assert [(group["run"], group["rows"]) for group in pruned.document["groups"]] == [("exam", 5)]
    assert command("answers", "drop", "--restore", "--study", "exam", "--json").document["restored"] == 5


def test_prune_keeps_the_turns_and_tool_results_of_agents(command: Command, tmp_path: Path) -> None:
    def searches_once(body: dict[str, Any], index: int) -> Any:
        if any(message["role"] == "assistant" for message in body["messages"]):
            return "A"
        function = {"name": "search", "arguments": json.dumps({"query": "nodes"})}
        return {"message": {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": function}]}}

    index = library(tmp_path / "library")
    write_cases(tmp_path / "cases", map(library_case, range(2)))
    literature = {"index": str(index), "agent": {"turns": 4, "searches": 1, "hits": 3}}
    with ExamServer(searches_once) as server:
        for name in ("kept", "gone"):
            number = {"hits": 3 if name == "kept" else 2}
            literature["agent"] = {"turns": 4, "searches": 1, **number}
            study = write_study(
                tmp_path,
                server.url,
                top={"name": name, "questions": ["mcq"]},
                conditions={"evidence": "agent"},
                literature=literature,
            )
            assert command("run", study).code == 0
    groups = command("answers", "list", "--json").document["groups"]
    results = sum(group["outcomes"].get("tool result", 0) for group in groups)
    Path("runs/gone").rename(tmp_path / "gone")

    command("answers", "prune", "--runs", "runs", "--yes")

    verified = command("answers", "verify", "--runs", "runs")
    assert verified.code == 0, verified.out
    after = command("answers", "list", "--outcome", "tool result", "--json").document["rows"]
    assert 0 < after < results
    assert command("answers", "copy", "copy.sqlite", "--run", "runs/kept").code == 0
    copied = command("answers", "list", "--answers", "copy.sqlite", "--outcome", "tool result", "--json")
    assert copied.document["rows"] == after


def test_prune_refuses_runs_whose_uses_are_not_known(command: Command, tmp_path: Path) -> None:
    with ExamServer() as server:
        study = run_exam(command, tmp_path, server, cases=3)
        (tmp_path / "empty").mkdir()
        nowhere = command("answers", "prune", "--runs", "empty", "--yes")
        Path("runs/exam/used.parquet").unlink()  # as of a run that was killed
        killed = command("answers", "prune", "--runs", "runs", "--yes")
        assert command("run", study).code == 0
        completed = command("answers", "prune", "--runs", "runs", "--yes")

    assert (nowhere.code, killed.code, completed.code) == (1, 1, 0)
    assert "there is no run in it" in nowhere.err
    assert "was stopped before its end" in killed.err
    assert len(stored(tmp_path / "answers.sqlite")) == 3


def test_the_bin_is_emptied_for_good(command: Command, tmp_path: Path) -> None:
    with ExamServer() as server:
        run_exam(command, tmp_path, server, cases=3)
    command("answers", "drop", "--study", "exam", "--yes")

    unconfirmed = command("answers", "prune", "--bin")
    emptied = command("answers", "prune", "--bin", "--yes", "--json")

    assert (unconfirmed.code, emptied.document["removed"]) == (2, 3)
    assert stored(tmp_path / "answers.sqlite", "dropped") == []
    assert command("answers", "drop", "--restore", "--json").document["restored"] == 0
    assert command("answers", "prune").code == 2


def test_stores_are_merged_and_conflicts_are_listed(command: Command, tmp_path: Path) -> None:
    with ExamServer(lambda body, index: "A" if patient(body) else "B") as server:
        run_exam(command, tmp_path, server, cases=2)
        other = ["--runs", "other/runs", "--answers", "other.sqlite"]
        server.answering = lambda body, index: "A"
        write_cases(tmp_path / "cases", 3)
        assert command("run", tmp_path / "study.toml", *other).code == 0

    first = command("answers", "merge", "other.sqlite")
    document = command("answers", "merge", "other.sqlite", "--json").document["merged"][0]

    assert "1 row new, 1 the same, 1 conflict;" in first.out
    assert "kept here, theirs is in the bin:" in first.out
    assert (document["answers"], document["same"], len(document["conflicts"]), document["calls"]) == (0, 2, 1, 0)
    assert command("answers", "verify").code == 0
    assert command("answers", "list", "--json").document["dropped"] == 1
