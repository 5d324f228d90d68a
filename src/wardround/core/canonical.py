"""Canonical JSON and its hashes: equal values have equal keys on every machine."""

import hashlib
import json
import unicodedata
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

KEY_SIZE = 32  # bytes
_encoder = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """Sorted keys, NFC, no spaces, floats by repr."""
    if isinstance(value, str):  # the common case, at half the encoder's cost
        return encode_basestring(value if value.isascii() else unicodedata.normalize("NFC", value))
    text = _encoder.encode(value)
    if text.isascii():
        return text
    return _encoder.encode(_nfc(value))


def _nfc(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {_nfc(key): _nfc(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_nfc(item) for item in value]
    return value


def blake(value: Any) -> bytes:
    """blake2b-256 of the canonical JSON of a value."""
    return hash_text(canonical_json(value))


def hash_text(text: str) -> bytes:
    """blake2b-256 of a text."""
    return hashlib.blake2b(text.encode(), digest_size=KEY_SIZE).digest()


def sha256_file(path: Path | str) -> str:
    """SHA-256 of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
