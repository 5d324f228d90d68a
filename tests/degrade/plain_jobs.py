"""What worker processes do to show how they work. It imports nothing, so that many can be started."""

from __future__ import annotations

import os


def doubled(number: int) -> int:
    if number == 3:
        os._exit(9)
    return 2 * number


def die_often(number: int) -> int:
    if number % 7 == 5:
        os._exit(9)
    return number


def threads(_: int) -> str | None:
    return os.environ.get("OMP_NUM_THREADS")
