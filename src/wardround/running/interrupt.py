"""Ctrl-C and a polite kill, heard while calls are under way."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

SIGNALS = (signal.SIGINT, signal.SIGTERM)
NOT_HERE = (NotImplementedError, RuntimeError, ValueError)  # not in the main thread, or not on this system


@contextmanager
def heard_by(interrupted: Callable[[], None]) -> Iterator[None]:
    """Calls `interrupted` at every interrupt, as long as the block lasts."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        with suppress(*NOT_HERE):
            loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        for number in SIGNALS:
            with suppress(*NOT_HERE):
                loop.remove_signal_handler(number)
