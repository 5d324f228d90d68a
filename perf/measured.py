"""What a program takes: CPU of its own process and of its children, time, and memory at its peak."""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from perf.null_server import received

KEEPS_NOTHING_COMPILED = "PYTHONDONTWRITEBYTECODE"  # with it every start compiles anew what a user compiles once


@dataclass(frozen=True)
class Clock:
    """CPU and time so far."""

    own: float
    children: float
    wall: float

    @classmethod
    def now(cls) -> Clock:
        own, children = (
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        return cls(own, children, time.perf_counter())


def print_usage(started: Clock, **more: Any) -> None:
    """Prints what was used since, once all children have ended and count."""
    for child in multiprocessing.active_children():
        child.join()
    now = Clock.now()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes on Linux
    usage = {
        "own": now.own - started.own,
        "children": now.children - started.children,
        "seconds": now.wall - started.wall,
        "peak_mb": peak / 1000,
        **more,
    }
    print(orjson.dumps(usage).decode(), flush=True)


def measure(module: str, *arguments: object, url: str | None = None, python: str = sys.executable) -> dict[str, Any]:
    """Runs a program of ours and returns what it used, with what the server at `url` got from it.

    A program that fails, because a peer cannot be imported or for any other reason, fails the whole.
    """
    calls, size = received(url) if url else (0, 0)
    command = [python, "-m", module, *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != KEEPS_NOTHING_COMPILED}
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as program,
        Watch(program.pid) as watch,
    ):
        output, _ = program.communicate()
    if program.returncode:
        raise SystemExit(f"{module} failed with exit code {program.returncode}")
    usage: dict[str, Any] = orjson.loads(output.splitlines()[-1])
    usage["peak_with_children_mb"] = max(watch.peak / 1000, usage["peak_mb"])
    if url:
        calls_now, size_now = received(url)
        usage |= {"calls": calls_now - calls, "bytes": size_now - size}
    return usage


class Watch(threading.Thread):
    """Looks twice a second at how much memory a program and its children hold together; shared pages count once."""

    def __init__(self, program: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0  # kilobytes
        self._program, self._ended = program, threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.5):
            self.peak = max(self.peak, sum(map(_memory_of, _family(self._program))))

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()


def _family(program: int) -> list[int]:
    """A process and all that descend from it."""
    try:
        threads = [file.read_text().split() for file in Path(f"/proc/{program}/task").glob("*/children")]
    except OSError:  # it has ended
        return []
    return [program, *(one for children in threads for child in children for one in _family(int(child)))]


def _memory_of(process: int) -> int:
    """Its memory in kilobytes: of what processes share, its part."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
