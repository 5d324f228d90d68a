"""Imitations of batch APIs: files and batches of OpenAI, Message Batches of Anthropic, batches of Gemini, and
`vllm run-batch`. That of Gemini is written from ai.google.dev/api/batch-api as of 2026-11-18.

A batch ends after it was looked at a few times. Items that the test names fail in it, and batches that it names
expire half done. Every answered item is counted, so that a test sees what was bought twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from email import message_from_bytes
from email.policy import HTTP
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web
from anthropic_api import AnthropicApi
from gemini_api import GeminiApi
from imitation import Imitation, Refusal
from openai_api import OpenAIApi
from responses_api import ResponsesApi

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
        self.max_enqueued: int | None = None  # items in batches that have not ended
        self.sizes: list[int] = []  # items of all batches that were wanted

    @property
    def enqueued(self) -> int:
        is_open = (batch for batch in self.batches.values() if batch["looks"] <= self.looks_until_ended)
        return sum(len(batch["results"]) for batch in is_open)

    def is_too_much(self, items: list[Any]) -> bool:
        """Whether the queue has no room for another batch."""
        self.sizes.append(len(items))
        return self.max_enqueued is not None and self.enqueued + len(items) > self.max_enqueued

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

    def cancel(self, id: str) -> None:
        """Ends a batch now; nothing of it was processed."""
        batch = self.batches[id]
        for custom_id, result in batch["results"].items():
            self.answered[custom_id.partition("-")[2]] -= result is not None and result[0] == 200
        batch["results"] = dict.fromkeys(batch["results"])
        batch["looks"] = self.looks_until_ended + 1

    def confirm(self, request: web.Request, body: dict[str, Any]) -> web.Response:
        if self.lose_confirmation:
            self.lose_confirmation = False
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(body)


class OpenAIBatchServer(BatchServer, OpenAIApi):
    """Chat completions with files and batches."""

    endpoint = "/v1/chat/completions"

    def __init__(self, **arguments: Any) -> None:
        BatchServer.__init__(self, **arguments)
        self.takes_sampling = True
        self.files: dict[str, bytes] = {}
        self.failed: dict[str, dict[str, Any]] = {}  # batches that were too much, with their metadata

    async def other(self, request: web.Request, raw: bytes) -> web.Response | None:
        path = request.path
        if path == self.endpoint:
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
                return web.json_response(self._describe(id, is_ended=id not in self.failed and self.look(id)))
            case "POST", ["batches", id, "cancel"]:
                self.cancel(id)
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
        assert (order["endpoint"], order["completion_window"]) == (self.endpoint, "24h")
        items = []
        for line in self.files[order["input_file_id"]].splitlines():
            item = orjson.loads(line)
            assert item.keys() == {"custom_id", "method", "url", "body"}
            assert (item["method"], item["url"]) == ("POST", self.endpoint)
            items.append((item["custom_id"], item["body"]))
        if self.is_too_much(items):
            id = f"failed_{len(self.sizes)}"
            self.failed[id] = order["metadata"]
            described = {"id": id, "object": "batch", "status": "validating", "metadata": order["metadata"]}
            return self.confirm(request, described)
        id = self.take(items, metadata=order["metadata"])
        return self.confirm(request, self._describe(id))

    def _describe(self, id: str, *, is_ended: bool = False) -> dict[str, Any]:
        if id in self.failed:
            message = "Enqueued token limit reached for gpt-exam. Limit: 2,000,000 enqueued tokens."
            errors = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": message}]}
            return {"id": id, "object": "batch", "status": "failed", "errors": errors, "metadata": self.failed[id]}
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


class ResponsesBatchServer(OpenAIBatchServer, ResponsesApi):
    """The Responses API with files and batches."""

    endpoint = "/v1/responses"
    check, reply, check_access = ResponsesApi.check, ResponsesApi.reply, ResponsesApi.check_access

    def __init__(self, **arguments: Any) -> None:
        ResponsesApi.__init__(self)
        OpenAIBatchServer.__init__(self, **arguments)


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
                if self.is_too_much(order["requests"]):
                    error = {"type": "rate_limit_error", "message": "Too many requests are in the processing queue."}
                    return web.json_response({"type": "error", "error": error}, status=429)
                id = self.take([(item["custom_id"], item["params"]) for item in order["requests"]])
                return self.confirm(request, self._describe(id))
            case "GET", ["batches"]:
                data = [self._describe(id, is_ended=self.look(id)) for id in reversed(self.batches)]
                return web.json_response({"data": data, "has_more": False})
            case "GET", ["batches", id]:
                return web.json_response(self._describe(id, is_ended=self.look(id)))
            case "POST", ["batches", id, "cancel"]:
                self.cancel(id)
                return web.json_response(self._describe(id))
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


class GeminiBatchServer(BatchServer, GeminiApi):
    """generateContent with files and batches. An expired batch has no results at all."""

    def __init__(self, **arguments: Any) -> None:
        BatchServer.__init__(self, **arguments)
        self.max_candidates, self.has_logprobs, self.always_thinks = 8, True, False
        self.thinks_by = "thinkingBudget"
        self.files: dict[str, bytes] = {}

    async def other(self, request: web.Request, raw: bytes) -> web.Response | None:
        path, headers = request.path, request.headers
        if path.endswith(":generateContent"):
            return None
        if headers.get("x-goog-api-key") != self.key:
            return _gemini_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
        match request.method, path.split("/")[1:]:
            case "POST", ["upload", "v1beta", "files"] if "upload_id" not in request.query:
                assert headers["X-Goog-Upload-Protocol"] == "resumable"
                assert headers["X-Goog-Upload-Command"] == "start"
                assert headers["X-Goog-Upload-Header-Content-Type"] == "application/jsonl"
                assert orjson.loads(raw)["file"].keys() == {"displayName"}
                id = f"files/{len(self.files) + 1}"
                self.files[id] = b" " * int(headers["X-Goog-Upload-Header-Content-Length"])
                place = f"{self.url}/upload/v1beta/files?upload_id={id}"
                return web.Response(headers={"X-Goog-Upload-URL": place})
            case "POST", ["upload", "v1beta", "files"]:
                id = request.query["upload_id"]
                assert (headers["X-Goog-Upload-Offset"], headers["X-Goog-Upload-Command"]) == ("0", "upload, finalize")
                assert len(raw) == len(self.files[id])
                self.files[id] = raw
                return web.json_response({"file": {"name": id, "uri": f"{self.url}/v1beta/{id}", "state": "ACTIVE"}})
            case "POST", ["v1beta", "models", "gemini-exam:batchGenerateContent"]:
                return self._create(request, orjson.loads(raw))
            case "GET", ["v1beta", "batches"]:
                return web.json_response({"operations": [self._describe(id) for id in self.batches]})
            case "GET", ["v1beta", "batches", id]:
                return web.json_response(self._describe(id, is_ended=self.look(id)))
            case "POST", ["v1beta", "batches", name]:
                self.cancel(name.removesuffix(":cancel"))
                return web.json_response({})
            case "GET", ["download", "v1beta", "files", name]:
                assert request.query["alt"] == "media"
                return web.Response(body=self.files[f"files/{name.removesuffix(':download')}"])
        return _gemini_error(404, "NOT_FOUND", f"no such path: {path}")

    def _create(self, request: web.Request, order: dict[str, Any]) -> web.Response:
        assert order.keys() == {"batch"}
        assert order["batch"].keys() == {"displayName", "inputConfig"}
        items = []
        for line in self.files[order["batch"]["inputConfig"]["fileName"]].splitlines():
            item = orjson.loads(line)
            assert item.keys() == {"key", "request"}
            items.append((item["key"], item["request"]))
        if self.is_too_much(items):
            return _gemini_error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
        id = self.take(items, name=order["batch"]["displayName"])
        return self.confirm(request, self._describe(id))

    def take(self, items: list[tuple[str, dict[str, Any]]], **fields: Any) -> str:
        id = super().take(items, **fields)
        if self.batches[id]["is_expiring"]:  # what was answered is neither shown nor billed
            self.cancel(id)
            self.batches[id]["looks"] = 0
        return id

    def _describe(self, id: str, *, is_ended: bool = False) -> dict[str, Any]:
        batch = self.batches[id]
        metadata = {"@type": "type.googleapis.com/google.ai.generativelanguage.v1beta.GenerateContentBatch"}
        metadata |= {"displayName": batch["name"], "state": "BATCH_STATE_RUNNING"}
        operation: dict[str, Any] = {"name": f"batches/{id}", "metadata": metadata, "done": is_ended}
        if not is_ended:
            return operation
        if not any(batch["results"].values()):
            metadata["state"] = "BATCH_STATE_EXPIRED" if batch["is_expiring"] else "BATCH_STATE_CANCELLED"
            return operation | {"error": {"code": 4, "message": "The batch has expired."}}
        metadata["state"] = "BATCH_STATE_SUCCEEDED"
        lines = []
        for key, (status, body) in batch["results"].items():
            error = {"code": 13, "message": body.get("message")}
            lines.append({"key": key, "response": body} if status == 200 else {"key": key, "error": error})
        self.files[f"files/{id}-responses"] = b"".join(orjson.dumps(line) + b"\n" for line in lines)
        return operation | {"response": {"responsesFile": f"files/{id}-responses"}}


def _gemini_error(status: int, name: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": status, "message": message, "status": name}}, status=status)


class RunBatch(BatchServer, OpenAIApi):
    """`vllm run-batch`: reads an input file and writes an output file, in order."""

    def __init__(self, **arguments: Any) -> None:
        BatchServer.__init__(self, **arguments)
        self.takes_sampling = True

    def process(self, input_file: Path, output: Path, *, lines: int | None = None) -> None:
        """The whole file, or so many lines: then the program was killed, in the middle of the next line."""
        items = []
        for line in input_file.read_bytes().splitlines()[:lines]:
            item = orjson.loads(line)
            assert item.keys() == {"custom_id", "method", "url", "body"}
            assert (item["method"], item["url"]) == ("POST", "/v1/chat/completions")
            items.append((item["custom_id"], item["body"]))
        results = self.batches[self.take(items)]["results"]
        written = []
        for custom_id, (status, body) in results.items():
            response = {"status_code": status, "request_id": "q", "body": body if status == 200 else None}
            error = None if status == 200 else {"error": body | {"code": status}}
            written.append({"id": "vllm-1", "custom_id": custom_id, "response": response, "error": error})
        cut = b"" if lines is None else b'{"id": "vllm-1", "custom'
        output.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in written) + cut)


def _result(result: tuple[int, dict[str, Any]] | None) -> dict[str, Any]:
    if result is None:
        return {"type": "expired"}
    status, body = result
    if status == 200:
        return {"type": "succeeded", "message": body}
    return {"type": "errored", "error": {"type": "error", "error": body}}
