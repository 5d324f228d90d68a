"""Worker processes for images: results in the order of the jobs; a decoder that crashes costs only its own job."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from wardround.core.processes import worker_pool
from wardround.degrade.ray_cluster import THREAD_VARIABLES, is_joined, map_on_cluster

Job = TypeVar("Job")
Result = TypeVar("Result")

JOBS_PER_WORKER = 32  # under way, waiting or done ahead of their turn
SUSPECTS_PER_WORKER = 2  # of the jobs that are not done when a process dies


def map_in_order(
    function: Callable[[Job], Result], jobs: Iterable[Job], workers: int
) -> Iterator[tuple[Job, Result | None]]:
    """Each job with its result; None if the process died of it. On a Ray cluster if one is joined.

    No more jobs are taken than `JOBS_PER_WORKER`, and another as each result is used: no worker waits, and what is
    ahead does not grow.
    """
    if is_joined():
        yield from map_on_cluster(function, jobs)
        return
    waiting = iter(jobs)
    ahead = deque(islice(waiting, workers * JOBS_PER_WORKER))
    while ahead:
        futures: deque[Future[Result]] = deque()
        with _pool(workers) as pool:
            try:
                futures.extend(_start_job(pool, function, job) for job in ahead)
                while ahead:
                    yield ahead[0], futures[0].result()
                    ahead.popleft()
                    futures.popleft()
                    for job in islice(waiting, 1):
                        ahead.append(job)
                        futures.append(_start_job(pool, function, job))
            except BrokenProcessPool:
                pass
        yield from _results_after_crash(function, ahead, futures, SUSPECTS_PER_WORKER * workers)


def _results_after_crash(
    function: Callable[[Job], Result], ahead: deque[Job], futures: deque[Future[Result]], suspects: int
) -> Iterator[tuple[Job, Result | None]]:
    """Takes from the jobs ahead those that are done, and runs the first that are not in a process of their own.

    Jobs start in order: the one that crashed is among these.
    """
    while ahead:
        future = futures.popleft() if futures else None
        if future is not None and not future.cancelled() and future.exception() is None:
            yield ahead.popleft(), future.result()
        elif suspects:
            suspects -= 1
            job = ahead.popleft()
            yield job, _run_alone(function, job)
        else:
            return


def _run_alone(function: Callable[[Job], Result], job: Job) -> Result | None:
    with _pool(1) as pool:
        try:
            return _start_job(pool, function, job).result()
        except BrokenProcessPool:
            return None


def _start_job(pool: ProcessPoolExecutor, function: Callable[[Job], Result], job: Job) -> Future[Result]:
    """Starts processes that ignore Ctrl-C: the parent ends them."""
    signals = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(function, job)
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
