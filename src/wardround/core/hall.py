"""Hall: what a protocol can do. Protocols are written against this and nothing else."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Protocol

from wardround.core.ask import Answer
from wardround.core.case import Question


class Hall(Protocol):
    """One sitting of one candidate over one case under one condition, in one trial.

    A protocol is a plain async function over a hall. It is run again from the start after a stop, so it
    must be pure: no clock, no `random` (use `hall.random`), no iteration over sets.
    """

    trial: int

    async def ask(self, question: Question, *, given: Mapping[str, Answer] | None = None) -> Answer:
        """Renders the Ask, and calls the candidate only where there is no stored answer."""
        ...

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Uses a tool; its result is stored like an answer."""
        ...

    def random(self, name: str) -> random.Random:
        """A stream of random numbers that is the same on every restart."""
        ...
