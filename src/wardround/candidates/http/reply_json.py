"""The body of a reply, in whatever encoding it comes: a paid reply is never thrown away for it.

Byte order marks, UTF-16, bytes that are not UTF-8, lone surrogates, NaN, bare control characters and numbers beyond
64 bits are read. What comes out can be written by orjson: what no text can hold is U+FFFD, what is not a number None.
"""

import json
import math
import re
from typing import Any

import orjson

MAX_DEPTH = 200  # of nested values; orjson writes 254
UTF8 = {"utf-8", "utf8", "us-ascii", "ascii"}
CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """The body is not JSON in any encoding."""


def read_json(body: bytes) -> Any:
    """The value of a body. One that is JSON by the standard costs nothing more than orjson does."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _clean(_read_leniently(body), 0)
    return value if body.count(b"[") + body.count(b"{") <= MAX_DEPTH or _can_be_written(value) else _clean(value, 0)


def as_utf8(body: bytes, content_type: str | None) -> bytes:
    """A body in UTF-8, by the charset of its Content-Type. One that is UTF-8 in spite of it stays as it is."""
    declared = CHARSET.search(content_type or "")
    if declared is None or declared[1].lower() in UTF8:
        return body
    charset = declared[1].lower()
    is_wide = charset.startswith(("utf-16", "utf16", "utf-32", "utf32"))
    if (b"\0" not in body) if is_wide else _is_utf8(body):
        return body
    try:
        return body.decode(charset, "replace" if is_wide else "strict").encode("utf-8", "replace")
    except (LookupError, ValueError):
        return body


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read_leniently(body: bytes) -> Any:
    try:
        return json.loads(_decode(body), strict=False, parse_constant=lambda _: None, parse_int=_whole_number)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _can_be_written(value: Any) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:  # it is too deep
        return False
    return True


def _decode(body: bytes) -> str:
    """Byte order marks and the zeros of UTF-16 and UTF-32 say what a body is; anything else is UTF-8."""
    return body.decode(json.detect_encoding(body), "replace").lstrip("\ufeff")


def _whole_number(digits: str) -> int | float:
    if len(digits) < 20:
        number = int(digits)
        if -(2**63) <= number < 2**64:
            return number
    return float(digits)


def _clean(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > MAX_DEPTH and isinstance(value, dict | list):
        return None
    if isinstance(value, dict):
        return {_clean(key, depth): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    return value
