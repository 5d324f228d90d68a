"""What a program takes: CPU of its own process and of its children, time, and memory at its peak."""

from __future__ import annotations

import multiprocessing
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import orjson

from perf.null_server import received


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


def tell(started: Clock, **more: Any) -> None:
    """Prints what was taken since, once all children have ended and count."""
    for child in multiprocessing.active_children():
        child.join()
    now = Clock.now()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes on Linux
    told = {
        "own": now.own - started.own,
        "children": now.children - started.children,
        "seconds": now.wall - started.wall,
        "peak_mb": peak / 1000,
        **more,
    }
    print(orjson.dumps(told).decode(), flush=True)


def measure(module: str, *arguments: object, url: str | None = None) -> dict[str, Any]:
    """Runs a program of ours and returns what it told, with what the server at `url` got from it.

    A program that fails, because a peer cannot be imported or for any other reason, fails the whole.
    """
    calls, size = received(url) if url else (0, 0)
    command = [sys.executable, "-m", module, *map(str, arguments)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{module} failed with exit code {ended.returncode}")
    told: dict[str, Any] = orjson.loads(ended.stdout.splitlines()[-1])
    if url:
        calls_now, size_now = received(url)
        told |= {"calls": calls_now - calls, "bytes": size_now - size}
    return told
