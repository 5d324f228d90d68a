"""The `wardround` of shell scripts in tests: a small program that has the test's own process run the command.

A process of wardround with the literature index costs up to two seconds of CPU; scripts start many.
"""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from exam_study import wardround

ASKING = """
import json, os, socket, sys
with socket.create_connection(("127.0.0.1", int(os.environ["WARDROUND_PORT"]))) as connection:
    lines = connection.makefile("rw", encoding="utf-8")
    print(json.dumps([os.getcwd(), *sys.argv[1:]]), file=lines, flush=True)
    status, printed, noted = json.loads(lines.readline())
sys.stdout.write(printed)
sys.stderr.write(noted)
sys.exit(status)
"""


def write_program(file: Path) -> None:
    """Imports nothing of wardround, nor site: it starts within a few milliseconds."""
    file.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S -c {shlex.quote(ASKING)} "$@"\n')
    file.chmod(0o755)


def run_script(script: str, folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a script of bash, whose commands of wardround run in this thread, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as thread:
        port = server.getsockname()[1]
        environment = {**variables, "WARDROUND_PORT": str(port)}
        options = {"cwd": folder, "env": environment, "capture_output": True, "text": True}
        script_end: Future[subprocess.CompletedProcess[str]]
        script_end = thread.submit(subprocess.run, ["bash", "-c", script], **options)
        script_end.add_done_callback(lambda _: socket.create_connection(("127.0.0.1", port)).close())
        while _answer(server):
            pass
        return script_end.result()


def _answer(server: socket.socket) -> bool:
    """Runs the command that the next connection asks for; False if it asks for none, because the script has ended."""
    connection, _ = server.accept()
    with connection, connection.makefile("rw", encoding="utf-8") as lines:
        request = lines.readline()
        if request:
            folder, *arguments = json.loads(request)
            done = wardround(*arguments, cwd=Path(folder))
            print(json.dumps([done.returncode, done.stdout, done.stderr]), file=lines, flush=True)
        return bool(request)
