"""Batches of the Gemini API: a file of requests is uploaded, and batchGenerateContent takes it.

Written from ai.google.dev/api/batch-api, gemini-api/docs/batch-api and gemini-api/docs/files as of 2026-11-18.
"""

from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

import orjson

from wardround.candidates.batches.batch_api import JSON_LINES, BatchApi, BatchFailed, BatchResult
from wardround.candidates.candidate import Fault
from wardround.candidates.http.server import ServerCandidate, as_count, as_objects, as_text

FILE_TYPE = "application/jsonl"
ENDED = {"SUCCEEDED", "CANCELLED", "EXPIRED"}
# of google.rpc, for an item whose error has no HTTP status
STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}
RESOURCE_EXHAUSTED = 8


class GeminiBatches(BatchApi):
    max_items = 50_000
    max_bytes = 2_000_000_000
    frame = JSON_LINES

    def __init__(self, server: ServerCandidate, model: str) -> None:
        self._server, self._model = server, model

    def encode_item(self, custom_id: str, payload: bytes) -> bytes:
        return b'{"key":' + orjson.dumps(custom_id) + b',"request":' + payload + b"}"

    async def submit(self, file: Path, token: str) -> str:
        with file.open("rb") as content:
            uploaded = await self._server.upload(content, file.stat().st_size, FILE_TYPE, _display_name(token))
        described = uploaded.get("file")
        order = {
            "batch": {
                "displayName": _display_name(token),
                "inputConfig": {"fileName": as_text(described.get("name")) if isinstance(described, dict) else ""},
            }
        }
        endpoint = f"/models/{self._model}:batchGenerateContent"
        return _name(await self._server.exchange("POST", endpoint, orjson.dumps(order)))

    async def find(self, token: str, items: int, since: str, known: Collection[str]) -> str | None:
        listed = await self._server.exchange("GET", "/batches?pageSize=100")
        for operation in as_objects(listed.get("operations")):
            if _metadata(operation).get("displayName") == _display_name(token):
                return _name(operation)
        return None

    async def has_ended(self, id: str) -> bool:
        operation = await self._operation(id)
        state = _state(operation)
        if state == "FAILED":
            error = operation.get("error")
            error = error if isinstance(error, dict) else {}
            is_full = error.get("code") in (RESOURCE_EXHAUSTED, 429)
            raise BatchFailed(as_text(error.get("message")) or "no reason is given", is_queue_full=is_full)
        return state in ENDED

    async def results(self, id: str) -> AsyncIterator[BatchResult]:
        """One that was cancelled or has expired has none."""
        response = (await self._operation(id)).get("response")
        if isinstance(response, dict) and (file := as_text(response.get("responsesFile"))):
            async for line in self._server.read_lines(f"/{file}:download?alt=media", prefix="/download"):
                yield _parse(line)

    async def cancel(self, id: str) -> None:
        await self._server.exchange("POST", f"/{id}:cancel")

    async def _operation(self, id: str) -> dict[str, Any]:
        # an operation has the error of a failed batch in its body: that is no error of this request
        return await self._server.exchange("GET", f"/{id}", has_own_error=True)


def _display_name(token: str) -> str:
    return f"wardround-{token}"


def _name(operation: dict[str, Any]) -> str:
    if not (name := as_text(operation.get("name"))):
        raise Fault("the server named no id of the batch", kind="no batch id")
    return name


def _metadata(operation: dict[str, Any]) -> dict[str, Any]:
    metadata = operation.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _state(operation: dict[str, Any]) -> str:
    """`SUCCEEDED` of BATCH_STATE_SUCCEEDED, which the guide calls JOB_STATE_SUCCEEDED."""
    return as_text(_metadata(operation).get("state")).rpartition("_STATE_")[2]


def _parse(line: dict[str, Any]) -> BatchResult:
    key, response, error = as_text(line.get("key")), line.get("response"), line.get("error")
    if isinstance(response, dict):
        return BatchResult(key, 200, orjson.dumps(response))
    if not isinstance(error, dict):
        return BatchResult(key, 0, b"{}")
    code = as_count(error.get("code"))
    return BatchResult(key, STATUSES.get(code, code if 400 <= code < 600 else 500), orjson.dumps({"error": error}))
