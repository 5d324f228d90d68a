"""Lines of OpenAI's batch files, which other programs read and write, too."""

from typing import Any

import orjson

from wardround.candidates.batches.batch_api import BatchResult


def encode_line(custom_id: str, endpoint: str, payload: bytes) -> bytes:
    """One line of an input file."""
    head = orjson.dumps({"custom_id": custom_id, "method": "POST", "url": endpoint})
    return head[:-1] + b',"body":' + payload + b"}"


def parse_line(line: dict[str, Any]) -> BatchResult:
    """One line of an output or error file. vLLM names the error of a failed request beside its response."""
    response, error = line.get("response"), line.get("error")
    custom_id = str(line.get("custom_id") or "")
    if not isinstance(response, dict):
        return BatchResult(custom_id, 0, orjson.dumps({"error": error}))
    status, body = response.get("status_code"), response.get("body")
    if body is None:
        body = error if isinstance(error, dict) and "error" in error else {"error": {"message": error}}
    return BatchResult(custom_id, status if isinstance(status, int) else 0, orjson.dumps(body))
