"""An event loop in which time passes only while everything waits: hours take milliseconds, on any machine the same."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _VirtualSelector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everything waits, and for nothing that will come"
        self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def run_virtually(main: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine that uses no threads, processes or sockets."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
