"""Where a model computes: in a thread of this process, in a process of its own, or in an actor of Ray."""

import os
import threading
from concurrent.futures import Future
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from typing import Any, Protocol

from wardround.candidates.transformers.job import Job, JobFailure, JobResult, ModelPlan, ModelProblem
from wardround.candidates.transformers.loading import load_model
from wardround.core.processes import WorkerContext, exit_with_parent

Outcome = JobResult | JobFailure


class WorkerDied(Exception):
    """The worker ended before it answered."""


class Worker(Protocol):
    def load(self) -> None:
        """Loads the model; raises ModelProblem, or WorkerDied."""

    def submit(self, job: Job) -> "Future[Outcome]":
        """The job's result, or WorkerDied."""
        ...

    def close(self) -> None: ...


class ThreadWorker(Worker):
    """A model in this process."""

    def __init__(self, plan: ModelPlan) -> None:
        self._plan = plan
        self._engine: Any = None

    def load(self) -> None:
        model = load_model(self._plan)
        from wardround.candidates.transformers.engine import Engine

        self._engine = Engine(model, self._plan.max_rows)

    def submit(self, job: Job) -> "Future[Outcome]":
        outcome: Future[Outcome] = self._engine.submit(job)
        return outcome

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


class ProcessWorker(Worker):
    """A model in a process of its own, which ends with this one."""

    def __init__(self, plan: ModelPlan) -> None:
        self._plan = plan

    def load(self) -> None:
        context = WorkerContext()
        self._connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self._plan), daemon=True)
        self.process.start()
        theirs.close()
        self._outcomes: dict[int, Future[Outcome]] = {}
        self._numbers, self._lock, self._is_dead = count(), threading.Lock(), False
        try:
            problem = self._connection.recv()
        except (EOFError, OSError):
            raise WorkerDied("a worker process ended while it loaded the model") from None
        if problem is not None:
            self.close()
            raise ModelProblem(problem)
        threading.Thread(target=self._receive, daemon=True).start()

    def submit(self, job: Job) -> "Future[Outcome]":
        outcome: Future[Outcome] = Future()
        with self._lock:
            if not self._is_dead:
                number = next(self._numbers)
                self._outcomes[number] = outcome
                try:
                    self._connection.send((number, job))
                except OSError:
                    self._is_dead = True
            if self._is_dead:
                _end(outcome)
        return outcome

    def close(self) -> None:
        self._connection.close()
        self.process.terminate()
        self.process.join()

    def _receive(self) -> None:
        """Reads results until the process ends."""
        while True:
            try:
                number, result = self._connection.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                outcome = self._outcomes.pop(number)
            if outcome.set_running_or_notify_cancel():
                outcome.set_result(result)
        with self._lock:
            self._is_dead = True
            outcomes = list(self._outcomes.values())
        for outcome in outcomes:
            _end(outcome)


def _end(outcome: "Future[Outcome]") -> None:
    if not outcome.done() and outcome.set_running_or_notify_cancel():
        outcome.set_exception(WorkerDied("a worker process ended"))


def _serve(connection: Connection, plan: ModelPlan) -> None:
    """The life of a worker process: the model, then one job after another."""
    exit_with_parent()
    worker = ThreadWorker(plan)
    try:
        worker.load()
    except ModelProblem as problem:
        connection.send(str(problem))
        return
    connection.send(None)
    sending = threading.Lock()

    def reply(number: int, outcome: "Future[Outcome]") -> None:
        result = outcome.result()
        if isinstance(result, JobFailure) and "CUDA error" in result.message:
            os._exit(1)  # the GPU answers nothing more to this process; a new one is started
        with sending:
            connection.send((number, result))

    while True:
        try:
            number, job = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        worker.submit(job).add_done_callback(partial(reply, number))
