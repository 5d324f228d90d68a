"""An image as it is sent."""

import base64
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """Base64 is kept instead of the bytes, because requests are built from it."""

    base64: bytes
    media_type: str
    sha256: str  # of the encoded bytes
    width: int
    height: int

    @property
    def data(self) -> bytes:
        return base64.b64decode(self.base64)
