"""Tools of protocols. Results are stored, so that a resumed protocol gets the same ones."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from wardround.core.canonical import blake
from wardround.running.store import AnswerKey, AnswerStore

Tool = Callable[[Mapping[str, Any]], Awaitable[Any]]
BatchTool = Callable[[Sequence[Mapping[str, Any]]], Awaitable[list[Any]]]  # the results of many uses
CACHED_RESULTS = 4096


class Tools:
    """Tools by name, each with a fingerprint of what its results depend on.

    A tool returns the same result for the same arguments, so one stored result serves all trials and candidates.
    """

    def __init__(
        self,
        store: AnswerStore,
        tools: Mapping[str, tuple[str, Tool]],
        batch_tools: Mapping[str, BatchTool] | None = None,
    ) -> None:
        self._store, self._tools, self._batch_tools = store, tools, batch_tools or {}
        self._cache: OrderedDict[bytes, Any] = OrderedDict()
        self._in_flight: dict[bytes, asyncio.Future[Any]] = {}
        self.used: set[AnswerKey] = set()  # the keys of all results, stored ones included
        self.uses = 0  # without those that were stored or in flight

    def __bool__(self) -> bool:
        return bool(self._tools)

    async def use(self, name: str, arguments: Mapping[str, Any]) -> Any:
        fingerprint, tool = self._tools[name]
        stored_key = result_key(name, fingerprint, arguments)
        key = stored_key.ask
        self.used.add(stored_key)
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        if key not in self._in_flight:
            self._in_flight[key] = asyncio.ensure_future(self._fetch_result(stored_key, tool, arguments))
            self._in_flight[key].add_done_callback(lambda _: self._in_flight.pop(key))
        result = await asyncio.shield(self._in_flight[key])
        self._cache[key] = result
        if len(self._cache) > CACHED_RESULTS:
            self._cache.popitem(last=False)
        return result

    async def store_results(self, name: str, uses: Sequence[Mapping[str, Any]]) -> int:
        """Stores the results that are missing, as `use` would one by one. Returns how many were missing."""
        fingerprint, _ = self._tools[name]
        arguments_by_key = {result_key(name, fingerprint, arguments): arguments for arguments in uses}
        keys = list(arguments_by_key)
        missing = [key for key, body in zip(keys, self._store.bodies(keys), strict=True) if body is None]
        if missing:
            self.uses += len(missing)
            results = await self._batch_tools[name]([arguments_by_key[key] for key in missing])
            writes = (
                self._store.put_result(key, {"result": result}) for key, result in zip(missing, results, strict=True)
            )
            await asyncio.gather(*writes)
        return len(missing)

    async def _fetch_result(self, key: AnswerKey, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        stored = self._store.result(key)
        if stored is None:
            self.uses += 1
            stored = await self._store.put_result(key, {"result": await tool(arguments)})
        return stored["result"]


def result_key(tool: str, fingerprint: str, arguments: Mapping[str, Any]) -> AnswerKey:
    """The key of a tool's result in the store."""
    return AnswerKey(blake({"v": 1, "tool": tool, "fingerprint": fingerprint, "arguments": dict(arguments)}), 0, 0)
