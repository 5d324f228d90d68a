"""Progress: what the line shows, and that it never scrolls, whatever the terminal's width."""

from __future__ import annotations

import io
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiohttp import web
from exam_server import ExamServer
from exam_study import wardround, write_cases, write_study

from wardround.running import progress as module
from wardround.running.caller import Tally
from wardround.running.closing import closing_lines
from wardround.running.progress import CandidateProgress, Progress, StepProgress, cut_to_width

MESSAGE = (
    "HTTP 500: 服务器内部错误，请稍后再试 and a long explanation that no terminal of 60 columns can show in one line"
)


class Terminal(io.StringIO):
    """A terminal of 60 columns on stderr."""

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        return [line.removeprefix("\x1b[2K").rstrip("\n") for line in self.getvalue().split("\r") if line]


@pytest.fixture
def terminal(monkeypatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=terminal, modules={}))
    monkeypatch.setattr(module, "columns", lambda: 60)
    return terminal


def lane() -> CandidateProgress:
    tally = Tally(calls=900, tokens_in=123_456, money=1.25, faults=478, failed=3, parsed=400, unparsed=40)
    tally.fault_kinds = Counter({"HTTP 500": 470, "no reply in time": 8})
    tally.last_fault = MESSAGE
    return CandidateProgress(20_000, 100, tally, 400)


def width(text: str) -> int:
    return sum(2 if "\u1100" <= character <= "\uffef" and character not in "…×·" else 1 for character in text)


def test_the_line_starts_with_answers_the_commonest_fault_and_the_time_left() -> None:
    line = Progress([lane()], quiet=True).line(60.0)

    assert line.startswith("500/20,000 answers · 478 faults (470 × HTTP 500) · 48 min 45 s left · ")
    assert line.endswith(f"last fault: {MESSAGE}")


def test_a_library_that_imports_ipykernel_makes_no_notebook(terminal):
    """A plain script has no shell, and IPython in a terminal has one without a kernel."""
    for shell in (None, SimpleNamespace()):
        module.sys.modules = {"ipykernel": object(), "IPython": SimpleNamespace(get_ipython=lambda shell=shell: shell)}
        Progress([lane()]).show(last=True)
    assert [line[:18] for line in terminal.lines] == ["500/20,000 answers"] * 2


def test_a_notebooks_kernel_shows_a_bar(terminal, monkeypatch):
    bars = []
    monkeypatch.setattr(module, "notebook_bar", lambda: lambda done, total, line: bars.append((done, total)))
    shell = SimpleNamespace(kernel=object())
    module.sys.modules = {"IPython": SimpleNamespace(get_ipython=lambda: shell)}
    Progress([lane()]).show(last=True)
    assert (bars, terminal.lines) == ([(500, 20_000)], [])


def test_a_terminal_of_60_columns_never_scrolls(terminal: Terminal) -> None:
    Progress([lane()]).show(last=True)

    (line,) = terminal.lines
    assert width(line) <= 59
    assert line.startswith("500/20,000 answers · 478 faults (470 × HTTP 500)")
    assert line.endswith("…")


def test_wide_characters_count_double_and_control_characters_do_not_pass(terminal: Terminal) -> None:
    assert cut_to_width("服务器内部错误", 8) == "服务器…"
    assert cut_to_width("abc", 3) == "abc"
    own = lane()
    own.tally.last_fault, own.tally.faults, own.tally.fault_kinds = "a\nb\x1b[2J", 1, Counter({"a\nb": 1})

    Progress([own]).show(last=True)

    assert [line.count("\n") + line.count("\x1b") for line in terminal.lines] == [0]


def test_a_log_has_the_whole_line(capsys) -> None:
    Progress([lane()]).show(last=True)

    assert MESSAGE in capsys.readouterr().err


def test_a_short_step_shows_nothing_and_a_long_one_its_bar(terminal: Terminal, monkeypatch) -> None:
    assert list(StepProgress(quiet=False).watch("marking", "abc", 3)) == ["a", "b", "c"]
    assert terminal.getvalue() == ""

    monkeypatch.setattr(module, "SECONDS_OF_A_LONG_STEP", 0.0)
    monkeypatch.setattr(module, "SECONDS_BETWEEN", {True: 0.0, False: 0.0})
    list(StepProgress(quiet=False).watch("marking", ["ab", "cde"], 5, size=len))

    assert terminal.lines[0].startswith("marking 2/5 · ")
    assert terminal.lines[-1] == "marking 5/5"


def test_a_quiet_step_shows_nothing(terminal: Terminal, monkeypatch) -> None:
    monkeypatch.setattr(module, "SECONDS_OF_A_LONG_STEP", 0.0)
    monkeypatch.setattr(module, "SECONDS_BETWEEN", {True: 0.0, False: 0.0})

    list(StepProgress(quiet=True).watch("marking", "abc", 3))

    assert terminal.getvalue() == ""


def test_the_width_is_that_of_the_terminal_now(monkeypatch) -> None:
    terminal = SimpleNamespace(fileno=lambda: 2)
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=terminal))
    monkeypatch.setattr(module.os, "get_terminal_size", lambda *_: os.terminal_size((33, 10)))

    assert module.columns() == 33


def test_a_run_that_ends_by_faults_names_the_commonest_and_what_to_do(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 4)

    def fail(body, number: int) -> web.Response:
        return web.json_response({"error": {"message": "CUDA out of memory"}}, status=500)

    with ExamServer(replying=fail) as server:
        ended = wardround("run", write_study(tmp_path, server.url, candidate={"attempts": 2}), cwd=tmp_path)

    assert ended.returncode == 3
    assert "server: 8 faults, most often (8) HTTP 500: CUDA out of memory; see the server's log" in ended.stdout
    assert ended.stdout.splitlines()[-1].endswith("report.html")


def test_a_complete_run_that_cost_nothing_has_no_closing_lines() -> None:
    entry = {"name": "a", "tokens_in": 0, "tokens_out": 0, "cost": 0, "fault_kinds": [], "calls": 3}

    assert closing_lines({"status": "complete", "candidates": [entry]}) == []
