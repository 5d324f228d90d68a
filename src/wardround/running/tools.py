"""Tools: what protocols can use beside asking. Results are stored, so a resumed protocol sees what it saw before."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from wardround.core.canonical import blake
from wardround.running.store import Row, Store

Tool = Callable[[Mapping[str, Any]], Awaitable[Any]]
RECENT = 4096  # results that are kept at hand


class Tools:
    """Tools by name, each with a fingerprint of what its results depend on.

    A tool gives the same result for the same arguments, so one row of the store serves all trials and candidates.
    """

    def __init__(self, store: Store, tools: Mapping[str, tuple[str, Tool]]) -> None:
        self._store, self._tools = store, tools
        self._recent: OrderedDict[bytes, Any] = OrderedDict()
        self._under_way: dict[bytes, asyncio.Future[Any]] = {}
        self.uses = 0  # that were neither stored nor under way

    def __bool__(self) -> bool:
        return bool(self._tools)

    async def use(self, name: str, arguments: Mapping[str, Any]) -> Any:
        fingerprint, tool = self._tools[name]
        key = blake({"v": 1, "tool": name, "fingerprint": fingerprint, "arguments": dict(arguments)})
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        if key not in self._under_way:
            self._under_way[key] = asyncio.ensure_future(self._result(Row(key, 0, 0), tool, arguments))
            self._under_way[key].add_done_callback(lambda _: self._under_way.pop(key))
        result = await asyncio.shield(self._under_way[key])
        self._recent[key] = result
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        return result

    async def _result(self, row: Row, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        stored = self._store.result(row)
        if stored is None:
            self.uses += 1
            stored = await self._store.put_result(row, {"result": await tool(arguments)})
        return stored["result"]
