"""Jobs on a Ray cluster instead of worker processes. Its machines need the files at the same paths as this one."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from itertools import islice
from typing import Any, TypeVar

from wardround.core.errors import WardroundError

Job = TypeVar("Job")
Result = TypeVar("Result")

JOBS_PER_CORE = 4  # that are under way or wait, so that no core is idle
MAX_DEATHS = 3  # of the worker of one job; then the job itself is held responsible
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
_is_joined: ContextVar[bool] = ContextVar("is_joined", default=False)


@contextmanager
def join_cluster(address: str | None) -> Iterator[None]:
    """While the block lasts, `map_in_order` works on this cluster: `auto` or an address; None means worker processes.

    `auto` joins the cluster of this machine, or starts one if there is none.
    """
    if address is None:
        yield
        return
    if find_spec("ray") is None:
        raise WardroundError("--ray needs Ray: pip install 'wardround[ray]'")
    import ray

    try:
        ray.init(
            address=None if address == "auto" else address,
            include_dashboard=None if address != "auto" else False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise WardroundError(f"--ray {address}: {' '.join(str(error).split())}") from None
    token = _is_joined.set(True)
    try:
        yield
    finally:
        _is_joined.reset(token)
        ray.shutdown()


def is_joined() -> bool:
    return _is_joined.get()


def map_on_cluster(function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[Job, Result | None]]:
    """Each job with its result, in the order of the jobs. A job whose worker died is repeated; None if all died."""
    import ray

    threads = {"env_vars": dict.fromkeys(THREAD_VARIABLES, "1")}
    remote = ray.remote(max_retries=MAX_DEATHS, num_cpus=1, runtime_env=threads)(function)
    waiting = iter(jobs)
    window = JOBS_PER_CORE * max(1, int(ray.cluster_resources().get("CPU", 1)))
    started: deque[tuple[Job, Any]] = deque((job, remote.remote(job)) for job in islice(waiting, window))
    while started:
        job, reference = started.popleft()
        try:
            result = ray.get(reference)
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
            result = None
        started.extend((following, remote.remote(following)) for following in islice(waiting, 1))
        yield job, result
