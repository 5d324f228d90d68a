"""Worker processes for images: results in the order of the jobs; a decoder that crashes costs only its own job."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from wardround.core.processes import worker_pool
from wardround.degrade.ray_cluster import THREAD_VARIABLES, is_joined, map_on_cluster

Job = TypeVar("Job")
Result = TypeVar("Result")

JOBS_PER_WORKER = 32  # between two points at which a crashed pool can be made anew


def map_in_order(
    function: Callable[[Job], Result], jobs: Iterable[Job], workers: int
) -> Iterator[tuple[Job, Result | None]]:
    """Each job with its result; None if the process died of it. On a Ray cluster if one is joined."""
    if is_joined():
        yield from map_on_cluster(function, jobs)
        return
    waiting = iter(jobs)
    while chunk := list(islice(waiting, workers * JOBS_PER_WORKER)):
        finished = 0
        with _pool(workers) as pool:
            try:
                while chunk:
                    for result in _start_jobs(pool, function, chunk):
                        yield chunk[finished], result
                        finished += 1
                    chunk, finished = list(islice(waiting, workers * JOBS_PER_WORKER)), 0
            except BrokenProcessPool:  # one process for each job shows which of them crashes
                yield from ((job, _run_alone(function, job)) for job in chunk[finished:])


def _run_alone(function: Callable[[Job], Result], job: Job) -> Result | None:
    with _pool(1) as pool:
        try:
            return next(_start_jobs(pool, function, [job]))
        except BrokenProcessPool:
            return None


def _start_jobs(pool: ProcessPoolExecutor, function: Callable[[Job], Result], jobs: list[Job]) -> Iterator[Result]:
    """Starts processes that ignore Ctrl-C: the parent ends them."""
    signals = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.map(function, jobs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Spawned processes of one thread each; if it is left early, they finish only the jobs under way."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    pool = worker_pool(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
