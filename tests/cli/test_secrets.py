"""Keys reach the server and nothing else; an offline study opens no connection."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from exam_server import ExamServer
from exam_study import wardround, write_cases, write_study

KEY = "sk-exam-7f3c9b1e5a2d4c6f8e0b"
TENANT = "tenant-secret-41d8cd98f00b"


def everything(folder: Path) -> dict[Path, bytes]:
    """All files below a folder, hidden ones and the store's journal included."""
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def nowhere(folder: Path, *said: str) -> None:
    files = everything(folder)
    assert any(file.name == "answers.sqlite" for file in files)
    for secret in (KEY, TENANT):
        for part in (secret, secret[:12], secret[-12:]):
            assert [str(file) for file, data in files.items() if part.encode() in data] == []
            assert not any(part in text for text in said)


STATUSES = (500, 400, 200)


@pytest.mark.parametrize("hostile", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_key_is_nowhere_after_a_run_also_if_the_server_echoes_it(tmp_path, hostile):
    """The hostile server repeats the key in error bodies of every kind and length, and at last refuses it."""
    write_cases(tmp_path / "cases", 60)

    def echo(body: Any, number: int) -> web.Response | None:
        if not hostile or (not number % 4 and number < 70):
            return None
        message = f"{'x' * (number * 5 % 250)} invalid key {KEY} of {TENANT}"
        return web.json_response(
            {"error": {"message": message}}, status=STATUSES[number % 4 - 1] if number < 70 else 401
        )

    with ExamServer(replying=echo) as server:
        candidate = {"api_key_env": "EXAM_API_KEY", "headers": {"X-Tenant-Key": "$EXAM_TENANT_KEY"}, "attempts": 2}
        study = write_study(tmp_path, server.url, candidate=candidate)
        keys = {"EXAM_API_KEY": KEY, "EXAM_TENANT_KEY": TENANT}
        ended = [wardround("run", study, "--pack", cwd=tmp_path, **keys)]
        if hostile:
            ended.append(wardround("check", study, cwd=tmp_path, **keys))
        else:
            ended.append(wardround("report", "runs/exam", "--with-cases", "--json", cwd=tmp_path))
    assert all(each["Authorization"] == f"Bearer {KEY}" for each in server.headers)
    assert all(each["X-Tenant-Key"] == TENANT for each in server.headers)
    assert [each.returncode for each in ended] == ([3, 3] if hostile else [0, 0]), [each.stderr for each in ended]
    assert ("[secret]" in (tmp_path / "runs" / "exam" / "manifest.json").read_text()) == hostile
    assert (tmp_path / "runs" / "exam" / "report.html").exists()
    assert (tmp_path / "runs" / "exam" / "answers.sqlite").exists()
    nowhere(tmp_path, *(text for each in ended for text in (each.stdout, each.stderr)))
    assert not any("Traceback" in each.stderr for each in ended)


def test_without_a_key_none_is_sent(tmp_path):
    write_cases(tmp_path / "cases", 2)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url)
        ended = wardround("run", study, cwd=tmp_path, OPENAI_API_KEY=KEY, EXAM_API_KEY=KEY)
    assert ended.returncode == 0
    assert all("Authorization" not in each and KEY not in str(each) for each in server.headers)


NO_SOCKET = """
import os, sys
def hear(event, arguments):
    if event.startswith("socket."):
        os.write(2, b"a socket was opened")
        os._exit(99)
sys.addaudithook(hear)
from wardround.cli.main import main
main()
"""


@pytest.mark.parametrize(("command", "url"), [("run", "http://10.1.2.3:8000/v1"), ("check", "http://api.example.org")])
def test_an_offline_study_is_refused_before_a_socket_is_opened(tmp_path, command, url):
    write_cases(tmp_path / "cases", 2)
    write_study(tmp_path, url, top={"offline": True})
    ended = _without_sockets(tmp_path, command, "study.toml")
    assert ended.returncode == 1
    expected = f"wardround: candidate 'server': the study is offline, and {url} is not on this machine\n"
    assert (ended.stdout, ended.stderr) == ("", expected)


def test_the_planted_refusal_works(tmp_path):
    """Were a socket opened, the test above would see it: a study that is not offline opens one."""
    write_cases(tmp_path / "cases", 2)
    write_study(tmp_path, "http://127.0.0.1:9/v1")
    ended = _without_sockets(tmp_path, "run", "study.toml")
    assert "a socket was opened" in ended.stderr


def _without_sockets(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return wardround(*arguments, cwd=folder, command=[sys.executable, "-c", NO_SOCKET])


def test_an_offline_study_with_a_remote_judge_is_refused(tmp_path):
    write_cases(tmp_path / "cases", 2)
    judge = {"provider": "openai", "base_url": "https://judge.example.org/v1"}
    write_study(tmp_path, "http://127.0.0.1:9/v1", top={"offline": True}, judge=judge)
    ended = _without_sockets(tmp_path, "run", "study.toml")
    assert ended.returncode == 1
    assert "https://judge.example.org/v1 is not on this machine" in ended.stderr


@pytest.mark.slow
def test_an_offline_study_on_loopback_runs(tmp_path):
    write_cases(tmp_path / "cases", 2)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url, top={"offline": True})
        assert wardround("run", study, cwd=tmp_path).returncode == 0
    assert server.succeeded >= 2
