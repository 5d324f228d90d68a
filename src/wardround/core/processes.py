"""Worker processes: spawned, independent of the script that started them, and ended with it."""

import os
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any


class WorkerProcess(SpawnProcess):
    """A process that does not run the user's script again.

    Python's own spawned processes import the main script, so a script without `if __name__ == "__main__"` would start
    its study again in every worker. Workers run functions of wardround only and need nothing of the script.
    """

    @staticmethod
    def _Popen(process: BaseProcess) -> Any:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return SpawnProcess._Popen(process)
        finally:
            sys.modules["__main__"] = main


class WorkerContext(SpawnContext):
    Process = WorkerProcess


def worker_pool(workers: int) -> ProcessPoolExecutor:
    """A pool whose processes end when this one is killed."""
    return ProcessPoolExecutor(workers, WorkerContext(), initializer=exit_with_parent)


def exit_with_parent() -> None:
    """Ends this worker when its parent was killed; otherwise it would wait for work for ever."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
