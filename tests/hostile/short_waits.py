"""Waits between calls in milliseconds: a hostile server is to be tried often, not patiently."""

from collections.abc import Callable

WAITS = {
    "wardround.running.caller.FIRST_WAIT": 0.001,
    "wardround.running.caller.MAX_BACKOFF": 0.01,
    "wardround.running.pacing.rate.FIRST_PAUSE": 0.001,
    "wardround.running.pacing.rate.MAX_PAUSE": 0.05,
    "wardround.running.pacing.concurrency.MAX_PAUSE": 0.01,
}


def shorten(set_attribute: Callable[[str, float], None]) -> None:
    for name, seconds in WAITS.items():
        set_attribute(name, seconds)
