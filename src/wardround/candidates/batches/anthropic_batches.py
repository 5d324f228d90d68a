"""Batches by Anthropic's Message Batches."""

from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

import orjson

from wardround.candidates.batches.batch_api import BatchApi, BatchFrame, BatchResult, BatchUncertain
from wardround.candidates.candidate import Fault
from wardround.candidates.http.server import ServerCandidate, as_count, as_objects, as_text

# statuses of the errors that a result names by their type
STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}


class AnthropicBatches(BatchApi):
    max_items = 100_000
    max_bytes = 256_000_000
    frame = BatchFrame(b'{"requests":[', b",", b"]}")

    def __init__(self, server: ServerCandidate) -> None:
        self._server = server

    def encode_item(self, custom_id: str, payload: bytes) -> bytes:
        return b'{"custom_id":' + orjson.dumps(custom_id) + b',"params":' + payload + b"}"

    async def submit(self, file: Path, token: str) -> str:
        with file.open("rb") as content:
            batch = await self._server.exchange("POST", "/v1/messages/batches", content)
        if not (id := as_text(batch.get("id"))):
            raise Fault("the server named no id of the batch", kind="no batch id")
        return id

    async def find(self, token: str, items: int, since: str, known: Collection[str]) -> str | None:
        """By its items. Those of a batch under way are not shown: one with as many is uncertain until it has ended."""
        is_uncertain = False
        listed = await self._server.exchange("GET", "/v1/messages/batches?limit=100")
        for batch in as_objects(listed.get("data")):
            id, counts = as_text(batch.get("id")), batch.get("request_counts")
            if id in known or as_text(batch.get("created_at"))[:19] < since[:19]:
                continue
            if batch.get("processing_status") == "ended":
                async for result in self.results(id):
                    if result.custom_id.startswith(token):
                        return id
                    break
            elif isinstance(counts, dict) and sum(map(as_count, counts.values())) == items:
                is_uncertain = True
        if is_uncertain:
            raise BatchUncertain
        return None

    async def has_ended(self, id: str) -> bool:
        batch = await self._server.exchange("GET", f"/v1/messages/batches/{id}")
        return batch.get("processing_status") == "ended"

    async def results(self, id: str) -> AsyncIterator[BatchResult]:
        async for line in self._server.read_lines(f"/v1/messages/batches/{id}/results"):
            yield _parse(line)

    async def cancel(self, id: str) -> None:
        await self._server.exchange("POST", f"/v1/messages/batches/{id}/cancel")


def _parse(line: dict[str, Any]) -> BatchResult:
    result = line.get("result") if isinstance(line.get("result"), dict) else {}
    assert isinstance(result, dict)
    custom_id = as_text(line.get("custom_id"))
    if result.get("type") == "succeeded":
        return BatchResult(custom_id, 200, orjson.dumps(result.get("message")))
    if result.get("type") != "errored":  # expired or cancelled: it was never processed
        return BatchResult(custom_id, 0, b"{}")
    response = result.get("error")
    error = response.get("error", response) if isinstance(response, dict) else {}
    kind = as_text(error.get("type")) if isinstance(error, dict) else ""
    return BatchResult(custom_id, STATUSES.get(kind, 500), orjson.dumps({"error": error}))
