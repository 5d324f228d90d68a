"""ReplyParser: reads one HTTP/1 reply from pieces of any size. It knows no sockets; `post_pool.py` has those."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

MAX_HEAD = 64 * 1024  # bytes of a status line and headers, of trailers, and of the line before a chunk
MAX_BODY = 256 * 2**20  # bytes, also of what a compressed body holds
STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: [^\0\r]*)?")
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*([^\0\r]*?)[ \t]*")
FOLD = re.compile(rb"\r?\n[ \t]+")  # a header that goes on in the next line
HEAD_END = re.compile(rb"\r?\n\r?\n")
CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\0\r]*)?")
NO_BODY = (204, 304)
GZIP, DEFLATE, PLAIN_DEFLATE = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class MalformedReply(ConnectionError):
    """The server sent what is not an HTTP reply, or only a part of one."""


class Headers(dict[str, str]):
    """Headers by their names in small letters; of a repeated one, the first."""

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        return super().get(name.lower(), default)


class HttpReply(NamedTuple):
    """A whole reply, and whether its connection can carry another one."""

    status: int
    headers: Headers
    body: bytes
    is_reusable: bool


class ReplyParser:
    """One reply: `feed` returns it once it is complete, `end` if only the end of the connection completes it."""

    def __init__(self) -> None:
        self._rest = b""  # what was received and not read yet
        self._searched = 0  # bytes at its beginning in which no head ends
        self._status = 0  # 0 until the head is read
        self._headers = Headers()
        self._keeps_open = False
        self._body: list[bytes] = []
        self._size = 0  # of the body so far
        self._length: int | None = None  # of the body, or of the chunk that is being read; None until the end
        self._is_chunked = self._in_trailers = False

    def feed(self, data: bytes) -> HttpReply | None:
        self._rest = self._rest + data if self._rest else data
        while self._status == 0:
            head_end = HEAD_END.search(self._rest, self._searched)
            if head_end is None or head_end.start() > MAX_HEAD:
                if len(self._rest) > MAX_HEAD:
                    raise MalformedReply("a head without end")
                self._searched = max(0, len(self._rest) - 3)
                return None
            self._searched = 0
            head, self._rest = self._rest[: head_end.start()], self._rest[head_end.end() :]
            self._read_head(head)
        if self._is_chunked:
            return self._read_chunks()
        if self._length is None:
            self._add(self._rest)
            self._rest = b""
            return None
        missing = self._length - self._size
        self._add(self._rest[:missing] if len(self._rest) > missing else self._rest)
        self._rest = self._rest[missing:]
        return self._reply() if self._size == self._length else None

    def end(self) -> HttpReply:
        """The reply that the end of the connection completes."""
        if self._status == 0 or self._is_chunked or self._length is not None:
            raise MalformedReply("the connection ended within the reply" if self._has_begun else "it ended without one")
        self._keeps_open = False
        return self._reply()

    @property
    def _has_begun(self) -> bool:
        return bool(self._status or self._rest)

    def _read_head(self, head: bytes) -> None:
        first, _, lines = head.partition(b"\n")
        status_line = STATUS_LINE.fullmatch(first.removesuffix(b"\r"))
        if status_line is None:
            raise MalformedReply("not an HTTP reply")
        status = int(status_line[2])
        if status == 101:
            raise MalformedReply("a change of protocol")
        headers = Headers()
        for line in FOLD.sub(b" ", lines).split(b"\n") if lines else ():
            header = HEADER.fullmatch(line.removesuffix(b"\r"))
            if header is None:
                raise MalformedReply("a broken header")
            name, value = header[1].decode().lower(), header[2].decode("utf-8", "surrogateescape")
            if headers.setdefault(name, value) != value and name in ("content-length", "transfer-encoding"):
                raise MalformedReply(f"two different values of {name}")
        if status < 200:  # the reply itself follows
            return
        self._status, self._headers = status, headers
        connection = {word.strip().lower() for word in (headers.get("connection") or "").split(",")}
        self._keeps_open = "close" not in connection and (status_line[1] == b"1" or "keep-alive" in connection)
        self._find_length()

    def _find_length(self) -> None:
        encoding, length = self._headers.get("transfer-encoding"), self._headers.get("content-length")
        if self._status in NO_BODY:
            self._length = 0
        elif encoding is not None:
            if encoding.lower() != "chunked" or length is not None:
                raise MalformedReply("a body of unclear length")
            self._is_chunked = True
        elif length is not None:
            if not (length.isascii() and length.isdigit() and len(length) < 16):
                raise MalformedReply("a body of unclear length")
            self._length = int(length)
            self._refuse_large(self._length)

    def _read_chunks(self) -> HttpReply | None:
        rest, place = self._rest, 0  # what was read is cut off once, however small the chunks are
        while True:
            if self._length:
                data = rest[place : place + self._length]
                self._add(data)
                place += len(data)
                self._length -= len(data)
                if self._length:
                    break
            line_end = rest.find(b"\n", place)
            if line_end < 0:
                if len(rest) - place > MAX_HEAD:
                    raise MalformedReply("a line without end between chunks")
                break
            line, place = rest[place:line_end].removesuffix(b"\r"), line_end + 1
            if self._length == 0:  # the end of a chunk
                if line:
                    raise MalformedReply("a broken chunk")
                self._length = None
            elif not self._in_trailers:
                self._length = self._chunk_size(line)
                self._in_trailers = self._length is None
            elif not line:
                self._rest = rest[place:]
                return self._reply()
        self._rest = rest[place:]
        return None

    def _chunk_size(self, line: bytes) -> int | None:
        """None for the last chunk, which is empty."""
        size = CHUNK_SIZE.fullmatch(line)
        if size is None:
            raise MalformedReply("a broken chunk")
        length = int(size[1], 16)
        self._refuse_large(self._size + length)
        return length or None

    def _add(self, data: bytes) -> None:
        if data:
            self._body.append(data)
            self._size += len(data)
            self._refuse_large(self._size)

    def _refuse_large(self, size: int) -> None:
        if size > MAX_BODY:
            raise MalformedReply(f"a body of more than {MAX_BODY >> 20} MiB")

    def _reply(self) -> HttpReply:
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        encoding = self._headers.get("content-encoding")
        if encoding and body:
            body = decompress(body, encoding.lower())
        return HttpReply(self._status, self._headers, body, self._keeps_open and not self._rest)


def decompress(body: bytes, encoding: str) -> bytes:
    """A body in one of the encodings that requests offer."""
    if encoding == "identity":
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise MalformedReply("a body in an encoding that was not offered")
    window = GZIP if "gzip" in encoding else DEFLATE if body[0] & 15 == zlib.DEFLATED else PLAIN_DEFLATE
    parts, size = [], 0
    while body:  # gzip may have several members
        member = zlib.decompressobj(window)
        try:
            part = member.decompress(body, MAX_BODY + 1 - size)
        except zlib.error:
            raise MalformedReply("a broken compressed body") from None
        size += len(part)
        if size > MAX_BODY:
            raise MalformedReply(f"a body of more than {MAX_BODY >> 20} MiB")
        if not member.eof:
            raise MalformedReply("a compressed body without end")
        parts.append(part)
        body = member.unused_data
    return b"".join(parts)
