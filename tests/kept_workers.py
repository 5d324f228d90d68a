"""Worker processes that tests share: each costs up to a second of CPU to start, and most tests only need some.

`KeptPool` stands in for the pools of `core/processes.py`, from tests/conftest.py. Tests of what happens when workers
start, die or load plug-ins ask for the fixture `own_workers`.
"""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from wardround.core.processes import WorkerContext, exit_with_parent

_pools: dict[int, ProcessPoolExecutor] = {}  # by their number of workers


class KeptPool(Executor):
    """A pool whose processes stay when it is shut down, and work for the next pool of as many."""

    def __init__(self, workers: int, *_: object, **__: object) -> None:
        self._workers = workers
        self._futures: list[Future[Any]] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        job = (run_in, os.getcwd(), function, *arguments)
        try:
            future = _pool(self._workers).submit(*job, **options)
        except BrokenProcessPool:
            _pools.pop(self._workers)
            if self._futures:
                raise
            future = _pool(self._workers).submit(*job, **options)  # it broke while it worked for an earlier test
        self._futures.append(future)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures:
            for future in self._futures:
                future.cancel()
        if wait:
            concurrent.futures.wait(self._futures)


def run_in(folder: str, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
    """Runs a job where its parent is now; a new process would have started there."""
    os.chdir(folder)
    return function(*arguments, **options)


def end_workers() -> None:
    while _pools:
        _pools.popitem()[1].shutdown()


def _pool(workers: int) -> ProcessPoolExecutor:
    if workers not in _pools:
        _pools[workers] = ProcessPoolExecutor(workers, WorkerContext(), initializer=exit_with_parent)
    return _pools[workers]
