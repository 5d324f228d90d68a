"""Small case sets and studies for tests, and the ways to run them."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from wardround import plugins
from wardround.cli.main import main
from wardround.core.study import load_study
from wardround.marking.reader import AnswerReader
from wardround.running.inputs.run_paths import RunPaths
from wardround.running.study_run import StudyRun

WARDROUND = [sys.executable, "-c", "from wardround.cli.main import main; main()"]


def case(number: int, **fields: Any) -> dict[str, Any]:
    """A case with one choice question of four options; golds go round."""
    question = {
        "id": "mcq",
        "kind": "choice",
        "prompt": f"What does patient {number} have?",
        "options": [f"disease {number} {kind}" for kind in ("alpha", "beta", "gamma", "delta")],
        "gold": number % 4,
    }
    return {"id": f"case-{number}", "history": f"History of patient {number}.", "questions": [question], **fields}


def write_cases(folder: Path, cases: int | Iterable[dict[str, Any]]) -> Path:
    """A case set of these cases, or of a number of plain ones."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [case(number) for number in range(cases)] if isinstance(cases, int) else cases
    (folder / "cases.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def write_study(
    folder: Path,
    url: str = "http://127.0.0.1:9/v1",
    *,
    top: dict[str, Any] | None = None,
    candidate: dict[str, Any] | None = None,
    more: str = "",
    **tables: dict[str, Any],
) -> Path:
    """`study.toml` with one candidate at `url`; the arguments add to its defaults or replace them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = _pairs({"name": "exam", "cases": "cases", **(top or {})})
    server = {"name": "server", "provider": "openai", "base_url": url, "model": "exam", "timeout": 20}
    lines += ["[[candidates]]", *_pairs(server | (candidate or {}))]
    for name, table in tables.items():
        lines += [f"[{name}]", *_pairs(table)]
    file = folder / "study.toml"
    file.write_text("\n".join([*lines, more, ""]))
    return file


def _pairs(table: dict[str, Any]) -> list[str]:
    return [f"{key} = {_toml(value)}" for key, value in table.items()]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def examine(study: Path, *, amend: bool = False, notes: list[str] | None = None) -> dict[str, Any]:
    """Runs a study in this process up to its manifest, with runs/ and answers.sqlite beside the study."""
    paths = RunPaths.from_options(study, study.parent / "runs", None)
    note = (notes if notes is not None else []).append
    study_run = StudyRun(load_study(study), paths, AnswerReader(), note=note)

    async def run() -> dict[str, Any]:
        try:
            return await study_run.run(amend=amend, quiet=True)
        finally:
            await study_run.close()

    return asyncio.run(run())


def stored(answers: Path, table: str = "answers") -> list[tuple[Any, ...]]:
    """All rows of a table of an answer store, in order."""
    connection = sqlite3.connect(answers)
    try:
        return sorted(connection.execute(f"select ask, trial, turn, body from {table}").fetchall())
    finally:
        connection.close()


def bodies(answers: Path) -> list[dict[str, Any]]:
    return [json.loads(row[3]) for row in stored(answers)]


def environment(**variables: str) -> dict[str, str]:
    """The environment of a child: no keys of ours, and nothing that would colour or wrap what it prints."""
    kept = {name: value for name, value in os.environ.items() if "KEY" not in name and name != "COLUMNS"}
    return kept | {"NO_COLOR": "1", "TERM": "dumb"} | variables


def wardround(*arguments: object, cwd: Path, command: Sequence[str] | None = None, **variables: str):
    """Runs the command as a shell would, but in this process, which takes a tenth of the time.

    It leaves no plug-ins behind. With `command`, such as WARDROUND, in a process of its own.
    """
    if command is None:
        return _in_this_process([str(argument) for argument in arguments], cwd, environment(**variables))
    return subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def _in_this_process(arguments: list[str], cwd: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    outer_folder, outer_variables, outer_arguments = Path.cwd(), dict(os.environ), sys.argv
    outer_plugins = [(registered, registered.copy()) for registered in (plugins._from_files, plugins._loaded_files)]
    printed, noted = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    try:
        os.chdir(cwd)
        _set_environment(variables)
        sys.argv = ["wardround", *arguments]
        with redirect_stdout(printed), redirect_stderr(noted):
            status = _exit_code()
    finally:
        for registered, before in outer_plugins:
            registered.clear()
            registered.update(before)
        sys.argv = outer_arguments
        _set_environment(outer_variables)
        os.chdir(outer_folder)
    return subprocess.CompletedProcess(
        arguments, status, *(stream.buffer.getvalue().decode() for stream in (printed, noted))
    )


def _exit_code() -> int:
    try:
        main()
    except SystemExit as exit:
        return exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def _set_environment(variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


def start(*arguments: object, cwd: Path, command: Sequence[str] = WARDROUND, **variables: str) -> subprocess.Popen[str]:
    """Starts the command in a process group of its own, so that a test can send it signals."""
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
