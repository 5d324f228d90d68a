"""Worker processes for images: results in the order of the jobs, and a decoder that crashes takes nobody with it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import TypeVar

J = TypeVar("J")
R = TypeVar("R")

JOBS_A_WORKER = 32  # between two points at which a crashed pool can be made anew
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


def in_order(function: Callable[[J], R], jobs: Iterable[J], workers: int) -> Iterator[tuple[J, R | None]]:
    """Each job with its result; None where the process died over it."""
    waiting = iter(jobs)
    while chunk := list(islice(waiting, workers * JOBS_A_WORKER)):
        done = 0
        with _pool(workers) as pool:
            try:
                while chunk:
                    for result in _begun(pool, function, chunk):
                        yield chunk[done], result
                        done += 1
                    chunk, done = list(islice(waiting, workers * JOBS_A_WORKER)), 0
            except BrokenProcessPool:  # one process each tells whose fault it was
                yield from ((job, _alone(function, job)) for job in chunk[done:])


def _alone(function: Callable[[J], R], job: J) -> R | None:
    with _pool(1) as pool:
        try:
            return next(_begun(pool, function, [job]))
        except BrokenProcessPool:
            return None


def _begun(pool: ProcessPoolExecutor, function: Callable[[J], R], jobs: list[J]) -> Iterator[R]:
    """Processes are started here, and never hear of Ctrl-C: whoever started them says when they end."""
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.map(function, jobs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Spawned processes of one thread each; when it is left early they end what is under way, and no more."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=end_with_the_parent)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def end_with_the_parent() -> None:
    """A worker whose parent was killed would wait for work for ever: it watches for the parent's end instead."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
