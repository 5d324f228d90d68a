"""Imitations of batch APIs: files and batches of OpenAI, Message Batches of Anthropic.

A batch ends after it was looked at a few times. Items that the test names fail in it, and batches that it names
expire half done. Every answered item is counted, so that a test sees what was bought twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from email import message_from_bytes
from email.policy import HTTP
from typing import Any

import orjson
from aiohttp import web
from anthropic_api import AnthropicApi
from imitation import Imitation, Refusal
from openai_api import OpenAIApi

CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
Fails = Callable[[str, int], bool]  # the item without its token, how often it was asked before


class BatchServer(Imitation):
    """What the imitations of both APIs share."""

    looks_until_ended = 2
    max_items = 100_000

    def __init__(self, *, fails: Fails = lambda item, times: False, expiring: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.fails, self.expiring = fails, expiring
        self.batches: dict[str, dict[str, Any]] = {}
        self.asked: Counter[str] = Counter()  # by item: in how many batches it was
        self.answered: Counter[str] = Counter()  # by item: how often it was answered, and billed
        self.lose_confirmation = False  # of the next batch: it is taken, and the connection breaks

    def take(self, items: list[tuple[str, dict[str, Any]]], **fields: Any) -> str:
        """Takes a batch; its items are answered at once, and shown later."""
        ids = [custom_id for custom_id, _ in items]
        assert 0 < len(items) <= self.max_items
        assert len(set(ids)) == len(ids)
        assert all(CUSTOM_ID.fullmatch(id) for id in ids)
        id = f"batch_{len(self.batches) + 1}"
        is_expiring = len(self.batches) in self.expiring
        results = {}
        for number, (custom_id, body) in enumerate(items):
            item = custom_id.partition("-")[2]
            if is_expiring and number >= len(items) // 2:
                results[custom_id] = None
            elif self.fails(item, self.asked[item]):
                results[custom_id] = (500, {"type": "api_error", "message": "Internal server error"})
            else:
                try:
                    self.check(body)
                    results[custom_id] = (200, self.reply(body))
                    self.answered[item] += 1
                except Refusal as refusal:
                    results[custom_id] = (refusal.status, refusal.body["error"])
            self.asked[item] += 1
        self.batches[id] = {"results": results, "looks": 0, "is_expiring": is_expiring, **fields}
        return id

    def look(self, id: str) -> bool:
        """Whether a batch has ended."""
        batch = self.batches[id]
        batch["looks"] += 1
        return bool(batch["looks"] > self.looks_until_ended)

    def confirm(self, request: web.Request, body: dict[str, Any]) -> web.Response:
        if self.lose_confirmation:
            self.lose_confirmation = False
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(body)


class OpenAIBatchServer(BatchServer, OpenAIApi):
    """Chat completions with files and batches."""

    def __init__(self, **arguments: Any) -> None:
        BatchServer.__init__(self, **arguments)
        self.takes_sampling = True
        self.files: dict[str, bytes] = {}

    async def other(self, request: web.Request, raw: bytes) -> web.Response | None:
        path = request.path
        if path == "/v1/chat/completions":
            return None
        if request.headers.get("Authorization") != f"Bearer {self.key}":
            return web.json_response({"error": {"message": "Incorrect API key provided."}}, status=401)
        match request.method, path.split("/")[2:]:
            case "POST", ["files"]:
                return self._upload(request, raw)
            case "GET", ["files", id, "content"]:
                return web.Response(body=self.files[id])
            case "POST", ["batches"]:
                return self._create(request, orjson.loads(raw))
            case "GET", ["batches"]:
                return web.json_response({"object": "list", "data": [self._describe(id) for id in self.batches]})
            case "GET", ["batches", id]:
                return web.json_response(self._describe(id, is_ended=self.look(id)))
            case "POST", ["batches", id, "cancel"]:
                self.batches[id]["looks"] = 1000
                return web.json_response(self._describe(id))
        return web.json_response({"error": {"message": f"no such path: {path}"}}, status=404)

    def _upload(self, request: web.Request, raw: bytes) -> web.Response:
        head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
        form = message_from_bytes(head + raw, policy=HTTP)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        assert parts["purpose"].get_payload(decode=True) == b"batch"
        assert str(parts["file"].get_filename()).endswith(".jsonl")
        id = f"file-{len(self.files) + 1}"
        self.files[id] = parts["file"].get_payload(decode=True)
        return web.json_response({"id": id, "object": "file", "purpose": "batch"})

    def _create(self, request: web.Request, order: dict[str, Any]) -> web.Response:
        assert order.keys() == {"input_file_id", "endpoint", "completion_window", "metadata"}
        assert (order["endpoint"], order["completion_window"]) == ("/v1/chat/completions", "24h")
        items = []
        for line in self.files[order["input_file_id"]].splitlines():
            item = orjson.loads(line)
            assert item.keys() == {"custom_id", "method", "url", "body"}
            assert (item["method"], item["url"]) == ("POST", "/v1/chat/completions")
            items.append((item["custom_id"], item["body"]))
        id = self.take(items, metadata=order["metadata"])
        return self.confirm(request, self._describe(id))

    def _describe(self, id: str, *, is_ended: bool = False) -> dict[str, Any]:
        batch = self.batches[id]
        described = {"id": id, "object": "batch", "status": "in_progress", "metadata": batch["metadata"]}
        if not is_ended:
            return described
        outputs, errors = [], []
        for custom_id, result in batch["results"].items():
            if result is None:
                error = {"code": "batch_expired", "message": "This request could not be executed before expiry."}
                errors.append({"id": "r", "custom_id": custom_id, "response": None, "error": error})
                continue
            status, body = result
            response = {"status_code": status, "request_id": "q", "body": body if status == 200 else {"error": body}}
            (outputs if status == 200 else errors).append(
                {"id": "r", "custom_id": custom_id, "response": response, "error": None}
            )
        files = {}
        for name, lines in (("output_file_id", outputs[::-1]), ("error_file_id", errors)):
            self.files[f"{id}-{name}"] = b"".join(orjson.dumps(line) + b"\n" for line in lines)
            files[name] = f"{id}-{name}" if lines else None
        return described | files | {"status": "expired" if batch["is_expiring"] else "completed"}


class AnthropicBatchServer(BatchServer, AnthropicApi):
    """Messages with Message Batches."""

    def __init__(self, **arguments: Any) -> None:
        BatchServer.__init__(self, **arguments)
        self.takes_sampling, self.thinks_by, self.version = True, "adaptive", "2023-06-01"

    async def other(self, request: web.Request, raw: bytes) -> web.Response | None:
        path = request.path
        if path == "/v1/messages":
            return None
        if request.headers.get("x-api-key") != self.key:
            error = {"type": "authentication_error", "message": "invalid x-api-key"}
            return web.json_response({"type": "error", "error": error}, status=401)
        match request.method, path.split("/")[3:]:
            case "POST", ["batches"]:
                order = orjson.loads(raw)
                assert order.keys() == {"requests"}
                assert all(item.keys() == {"custom_id", "params"} for item in order["requests"])
                id = self.take([(item["custom_id"], item["params"]) for item in order["requests"]])
                return self.confirm(request, self._describe(id))
            case "GET", ["batches"]:
                data = [self._describe(id, is_ended=self.look(id)) for id in reversed(self.batches)]
                return web.json_response({"data": data, "has_more": False})
            case "GET", ["batches", id]:
                return web.json_response(self._describe(id, is_ended=self.look(id)))
            case "GET", ["batches", id, "results"]:
                lines = [
                    {"custom_id": custom_id, "result": _result(result)}
                    for custom_id, result in reversed(self.batches[id]["results"].items())
                ]
                return web.Response(body=b"\n".join(map(orjson.dumps, lines)))
        return web.json_response({"type": "error", "error": {"type": "not_found_error", "message": path}}, status=404)

    def _describe(self, id: str, *, is_ended: bool = False) -> dict[str, Any]:
        items = len(self.batches[id]["results"])
        counts = {"processing": items, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        return {
            "id": id,
            "type": "message_batch",
            "processing_status": "ended" if is_ended else "in_progress",
            "request_counts": counts,
            "created_at": "2999-01-01T00:00:00Z",
            "results_url": None,
        }


def _result(result: tuple[int, dict[str, Any]] | None) -> dict[str, Any]:
    if result is None:
        return {"type": "expired"}
    status, body = result
    if status == 200:
        return {"type": "succeeded", "message": body}
    return {"type": "errored", "error": {"type": "error", "error": body}}
