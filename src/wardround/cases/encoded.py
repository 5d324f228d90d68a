"""Encoded: an image as it is sent."""

from __future__ import annotations

import base64
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Encoded:
    """An image made sendable. Base64 is kept, not the bytes: that is what a request joins."""

    base64: bytes
    media_type: str
    sha256: str  # of the encoded bytes
    width: int
    height: int

    @property
    def data(self) -> bytes:
        return base64.b64decode(self.base64)
