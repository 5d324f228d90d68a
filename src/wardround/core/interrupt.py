"""Ctrl-C and SIGTERM while calls are under way."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

SIGNALS = (signal.SIGINT, signal.SIGTERM)
UNAVAILABLE = (NotImplementedError, RuntimeError, ValueError)  # not in the main thread, or not on this system


_listeners: list[Callable[[], object]] = []  # of the runs under way, whatever thread they are in


def interrupt_runs() -> None:
    """Interrupts every run of this process as Ctrl-C would; for runs in threads, which hear no signals."""
    for listener in list(_listeners):
        listener()


@contextmanager
def on_interrupt(interrupted: Callable[[], None]) -> Iterator[None]:
    """Calls `interrupted` at every interrupt, as long as the block lasts."""
    loop = asyncio.get_running_loop()
    listener = partial(loop.call_soon_threadsafe, interrupted)
    _listeners.append(listener)
    for number in SIGNALS:
        with suppress(*UNAVAILABLE):
            loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        _listeners.remove(listener)
        for number in SIGNALS:
            with suppress(*UNAVAILABLE):
                loop.remove_signal_handler(number)
