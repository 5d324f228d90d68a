"""Batches by OpenAI's files and batches endpoints, which other servers offer, too."""

from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

import orjson

from wardround.candidates.batches.batch_api import JSON_LINES, BatchApi, BatchFailed, BatchResult
from wardround.candidates.batches.batch_lines import encode_line, parse_line
from wardround.candidates.candidate import Fault
from wardround.candidates.http.server import ServerCandidate, as_objects, as_text

ENDED = {"completed", "expired", "cancelled"}


QUEUE_FULL = {"token_limit_exceeded"}  # codes of errors that say so: too many tokens are enqueued


class OpenAIBatches(BatchApi):
    """`endpoint` is the one that each request of a batch goes to."""

    max_items = 50_000
    max_bytes = 200_000_000
    frame = JSON_LINES

    def __init__(self, server: ServerCandidate, endpoint: str = "/v1/chat/completions") -> None:
        self._server, self._endpoint = server, endpoint

    def encode_item(self, custom_id: str, payload: bytes) -> bytes:
        return encode_line(custom_id, self._endpoint, payload)

    async def submit(self, file: Path, token: str) -> str:
        import aiohttp  # takes long to load
        from multidict import CIMultiDict

        with file.open("rb") as content, aiohttp.MultipartWriter("form-data") as form:
            form.append("batch").set_content_disposition("form-data", name="purpose")
            part = form.append(content, CIMultiDict({"Content-Type": "application/jsonl"}))
            part.set_content_disposition("form-data", name="file", filename=f"{token}.jsonl")
            uploaded = await self._server.exchange("POST", "/files", form)
        order = {
            "input_file_id": uploaded.get("id"),
            "endpoint": self._endpoint,
            "completion_window": "24h",
            "metadata": {"wardround": token},
        }
        batch = await self._server.exchange("POST", "/batches", orjson.dumps(order))
        return _id(batch)

    async def find(self, token: str, items: int, since: str, known: Collection[str]) -> str | None:
        listed = await self._server.exchange("GET", "/batches?limit=100")
        for batch in as_objects(listed.get("data")):
            metadata = batch.get("metadata")
            if isinstance(metadata, dict) and metadata.get("wardround") == token:
                return _id(batch)
        return None

    async def has_ended(self, id: str) -> bool:
        batch = await self._batch(id)
        if batch.get("status") == "failed":
            listed = batch.get("errors")
            errors = as_objects(listed and listed.get("data"))
            reason = "; ".join(as_text(error.get("message")) for error in errors[:3]) or "no reason is given"
            raise BatchFailed(reason, is_queue_full=any(error.get("code") in QUEUE_FULL for error in errors))
        return batch.get("status") in ENDED

    async def results(self, id: str) -> AsyncIterator[BatchResult]:
        batch = await self._batch(id)
        for name in ("output_file_id", "error_file_id"):
            if file := as_text(batch.get(name)):
                async for line in self._server.read_lines(f"/files/{file}/content"):
                    yield parse_line(line)

    async def cancel(self, id: str) -> None:
        await self._server.exchange("POST", f"/batches/{id}/cancel")

    async def _batch(self, id: str) -> dict[str, Any]:
        return await self._server.exchange("GET", f"/batches/{id}")


def _id(batch: dict[str, Any]) -> str:
    if not (id := as_text(batch.get("id"))):
        raise Fault("the server named no id of the batch", kind="no batch id")
    return id
