"""JSON in several pieces as aiohttp sends it. Imported with the first call: aiohttp takes long to load."""

from collections.abc import Sequence

import aiohttp
from aiohttp.abc import AbstractStreamWriter


class JsonPayload(aiohttp.Payload):
    """Pieces of known length."""

    _autoclose = True  # holds nothing that must be closed

    def __init__(self, pieces: Sequence[bytes]) -> None:
        super().__init__(pieces, content_type="application/json")
        self._size = sum(map(len, pieces))

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return b"".join(self._value).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        for piece in self._value:
            await writer.write(piece)
