"""WarmPrefixes: of Asks that begin alike, the first is answered before the others are sent.

A server's prompt cache has the beginning of a prompt only when it has read it. Asks of one case come one after the
other; sent at once, each would pay for the images and the history of the case.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from wardround.core.ask import Ask
from wardround.core.canonical import blake
from wardround.running.estimates.ask_size import BYTES_PER_TOKEN

MIN_TOKENS = 1024  # of a beginning that is worth it: the least that OpenAI and Anthropic cache (2026-11-18)
MAX_KNOWN = 10_000  # beginnings that are remembered


class WarmPrefixes:
    def __init__(self) -> None:
        self._under_way: dict[bytes, asyncio.Event] = {}
        self._warm: OrderedDict[bytes, None] = OrderedDict()

    @asynccontextmanager
    async def after_first(self, ask: Ask) -> AsyncIterator[None]:
        """Waits while the first Ask that begins so is under way; if it fails, the others are sent all the same."""
        prefix = beginning(ask)
        if prefix is None or prefix in self._warm:
            yield
        elif (first := self._under_way.get(prefix)) is not None:
            await first.wait()
            yield
        else:
            first = self._under_way[prefix] = asyncio.Event()
            try:
                yield
            finally:
                del self._under_way[prefix]
                self._warm[prefix] = None
                if len(self._warm) > MAX_KNOWN:
                    self._warm.popitem(last=False)
                first.set()


def beginning(ask: Ask) -> bytes | None:
    """A hash of an Ask's first MIN_TOKENS tokens, by our estimate; None if it has fewer. An image counts as so many."""
    parts: list[object] = [ask.tools]
    left = MIN_TOKENS * BYTES_PER_TOKEN
    for message in ask.messages:
        for part in message.parts:
            if not isinstance(part, str):
                return blake([*parts, part.named])
            parts.append([message.role, part[:left]])
            left -= len(part)
            if left <= 0:
                return blake(parts)
    return None
