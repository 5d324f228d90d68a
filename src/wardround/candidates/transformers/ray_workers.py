"""Workers on the GPUs of a Ray cluster: one actor each."""

from concurrent.futures import Future
from dataclasses import replace
from importlib import import_module
from typing import Any

from wardround.candidates.transformers.job import Job, ModelPlan, ModelProblem
from wardround.candidates.transformers.workers import Outcome, ThreadWorker, Worker, WorkerDied

MAX_JOBS_OF_ACTOR = 512  # that wait in it at once


class ModelActor:
    """What runs on a node: a model in the actor's process."""

    def __init__(self, plan: ModelPlan) -> None:
        self._worker = ThreadWorker(plan)

    def load(self) -> str | None:
        """Loads the model; returns the problem if there is one."""
        try:
            self._worker.load()
        except ModelProblem as problem:
            return str(problem)
        return None

    def answer(self, job: Job) -> Outcome:
        return self._worker.submit(job).result()


class RayWorker(Worker):
    """A model in an actor, with a GPU of its own if the cluster has any."""

    def __init__(self, plan: ModelPlan, gpus: float) -> None:
        self._plan, self._gpus = plan, gpus
        self.actor: Any = None

    def load(self) -> None:
        ray = import_ray()
        # Ray shows an actor only its own GPU
        plan = replace(self._plan, device=None if self._gpus else "cpu")
        options = {"num_gpus": self._gpus, "num_cpus": 1, "max_concurrency": MAX_JOBS_OF_ACTOR}
        self.actor = ray.remote(ModelActor).options(**options).remote(plan)
        try:
            problem = ray.get(self.actor.load.remote())
        except ray.exceptions.RayError as error:
            raise WorkerDied(f"a Ray actor ended while it loaded the model: {str(error).splitlines()[0]}") from None
        if problem is not None:
            raise ModelProblem(problem)

    def submit(self, job: Job) -> "Future[Outcome]":
        ray = import_ray()
        outcome: Future[Outcome] = Future()

        def settle(answered: "Future[Outcome]") -> None:
            if not outcome.set_running_or_notify_cancel():
                return
            try:
                outcome.set_result(answered.result())
            except ray.exceptions.RayError as error:
                outcome.set_exception(WorkerDied(f"a Ray actor ended: {str(error).splitlines()[0]}"))

        self.actor.answer.remote(job).future().add_done_callback(settle)
        return outcome

    def close(self) -> None:
        if self.actor is not None:
            import_ray().kill(self.actor)
            self.actor = None


def connect(address: str) -> float:
    """Joins the cluster at an address (`auto`: the one that runs here), and returns its number of GPUs."""
    ray = import_ray()
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise ModelProblem(f"ray = {address!r}: no cluster can be reached ({reason})") from None
    return float(ray.cluster_resources().get("GPU", 0))


def import_ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise ModelProblem("ray needs Ray: pip install 'wardround[ray]'") from None
