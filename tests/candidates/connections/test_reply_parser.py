"""HTTP replies in pieces of any size, well-formed and broken; aiohttp's parser is the other opinion."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Sequence
from itertools import pairwise

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import HttpResponseParser
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wardround.candidates.http import reply_parser
from wardround.candidates.http.reply_parser import HttpReply, MalformedReply, ReplyParser

OK = b"HTTP/1.1 200 OK\r\n"
BODY = b'{"choices": []}'
WHOLE = OK + b"Content-Type: application/json\r\nContent-Length: 15\r\n\r\n" + BODY
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def parse(pieces: Sequence[bytes], *, ends: bool = False) -> HttpReply | None:
    """The reply in these pieces, after which the connection may end; None if it is not complete."""
    parser = ReplyParser()
    for piece in pieces:
        if (reply := parser.feed(piece)) is not None:
            return reply
    return parser.end() if ends else None


def split(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


def chunks(body: bytes, size: int) -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x;name=value\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\nTrailer: x\r\n\r\n"


@settings(max_examples=300, deadline=None)
@given(
    status=st.sampled_from([200, 201, 400, 429, 500]),
    body=st.binary(max_size=400),
    framing=st.sampled_from(["length", "chunks", "end"]),
    encoding=st.sampled_from([None, "gzip", "deflate", "raw deflate"]),
    size=st.integers(1, 50),
    informational=st.booleans(),
    cuts=st.lists(st.integers(0, 2000), max_size=30),
)
def test_a_reply_is_read_whatever_its_framing_and_wherever_it_is_cut(
    status: int,
    body: bytes,
    framing: str,
    encoding: str | None,
    size: int,
    informational: bool,
    cuts: list[int],
) -> None:
    plain = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    sent = {
        None: body,
        "gzip": gzip.compress(body),
        "deflate": zlib.compress(body),
        "raw deflate": plain.compress(body) + plain.flush(),
    }[encoding]
    head = b"HTTP/1.1 100 Continue\r\nX: 1\r\n\r\n" if informational else b""
    head += b"HTTP/1.1 %d Some reason\r\nretry-after:  7 \r\nRetry-After: 8\r\n" % status
    if encoding:
        head += f"Content-Encoding: {encoding.split()[-1]}\r\n".encode()
    framed = {
        "length": b"Content-Length: %d\r\n\r\n" % len(sent) + sent,
        "chunks": b"Transfer-Encoding: Chunked\r\n\r\n" + chunks(sent, size),
        "end": b"\r\n" + sent,
    }[framing]

    reply = parse(split(head + framed, cuts), ends=framing == "end")

    assert reply is not None
    assert (reply.status, reply.body, reply.headers.get("RETRY-AFTER")) == (status, body, "7")
    assert reply.is_reusable == (framing != "end")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_may_end_without_a_carriage_return(end: bytes) -> None:
    assert parse([CHUNKED.replace(b"\r\n", end) + b"3" + end + b"abc" + end + b"0" + end + end]).body == b"abc"  # type: ignore[union-attr]


@pytest.mark.parametrize("header", [b"X: a\r\n  b\r\n", b"X : a b\r\n", b"X:\ta b \t\r\n"])
def test_old_forms_of_headers_are_read(header: bytes) -> None:
    """A folded value, a space before the colon, tabs: proxies on the way may write them."""
    reply = parse([OK + header + b"Content-Length: 15\r\n\r\n" + BODY])

    assert reply is not None
    assert (reply.headers["x"], reply.body) == ("a b", BODY)


BROKEN = {
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "HTTP/2": b"HTTP/2 200\r\nContent-Length: 0\r\n\r\n",
    "a status of two digits": b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
    "a change of protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "a header without colon": OK + b"Content-Length 15\r\n\r\n" + BODY,
    "a folded status line": b"HTTP/1.1\r\n 200 OK\r\nContent-Length: 0\r\n\r\n",
    "a carriage return in a value": OK + b"X: a\rb\r\nContent-Length: 15\r\n\r\n" + BODY,
    "a zero byte in a value": OK + b"X: a\0b\r\nContent-Length: 15\r\n\r\n" + BODY,
    "a negative length": OK + b"Content-Length: -1\r\n\r\n",
    "a length with a sign": OK + b"Content-Length: +15\r\n\r\n" + BODY,
    "a length in other digits": OK + "Content-Length: ١٥\r\n\r\n".encode() + BODY,
    "two lengths": OK + b"Content-Length: 15\r\nContent-Length: 16\r\n\r\n" + BODY,
    "a list of lengths": OK + b"Content-Length: 15, 15\r\n\r\n" + BODY,
    "a length too large": OK + b"Content-Length: 99999999999\r\n\r\n",
    "a length of a hundred digits": OK + b"Content-Length: " + b"9" * 100 + b"\r\n\r\n",
    "chunks and a length": OK + b"Transfer-Encoding: chunked\r\nContent-Length: 15\r\n\r\n" + BODY,
    "another transfer encoding": OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    "a chunk size in words": CHUNKED + b"three\r\nabc\r\n0\r\n\r\n",
    "a negative chunk": CHUNKED + b"-3\r\nabc\r\n0\r\n\r\n",
    "a chunk that is longer than its size": CHUNKED + b"3\r\nabcd\r\n0\r\n\r\n",
    "a chunk too large": CHUNKED + b"fffffffff\r\n",
    "an encoding that was not offered": OK + b"Content-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
    "broken gzip": OK + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    "gzip without end": OK + b"Content-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + gzip.compress(BODY)[:20],
    "a head without end": OK + b"X: " + b"a" * 70_000,
    "chunks without end of line": CHUNKED + b"1" * 70_000,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("size", [1_000_000, 1])
def test_what_is_not_a_reply_is_refused(data: bytes, size: int) -> None:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]

    with pytest.raises(MalformedReply):
        parse(pieces)


CUT_SHORT = [b"", OK[:5], OK + b"Content-Length: 15\r\n\r\n" + BODY[:14], CHUNKED + b"3\r\nabc\r\n0\r\n", CHUNKED]


@pytest.mark.parametrize("data", CUT_SHORT)
def test_a_reply_that_is_cut_short_is_refused_at_the_end_of_the_connection(data: bytes) -> None:
    assert parse([data]) is None
    with pytest.raises(MalformedReply):
        parse([data], ends=True)


def test_a_compressed_body_may_not_hold_more_than_a_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_parser, "MAX_BODY", 1000)
    sent = gzip.compress(b"0" * 1001)

    with pytest.raises(MalformedReply, match="more than"):
        parse([OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(sent) + sent])


REUSE = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n", False),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", True),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n", False),  # nobody asked for more
    (b"HTTP/1.1 204 No Content\r\n\r\n", True),
]


@pytest.mark.parametrize(("data", "is_reusable"), REUSE)
def test_a_connection_is_reused_only_if_nothing_speaks_against_it(data: bytes, is_reusable: bool) -> None:
    reply = parse([data])

    assert reply is not None
    assert reply.is_reusable == is_reusable


MARKS = (b"\r", b"\n", b"\r\n", b" ", b":", b"0", b"5", b";", b"\0", b"-", b"Content-Length: 4")
INFORMATIONAL = {*range(100, 200)} - {101}


class OtherParser:
    """aiohttp's, as its client uses it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def parse(self, pieces: Sequence[bytes]) -> tuple[int, bytes] | str:
        """Status and body, or `refused`, or `incomplete`."""
        parser = HttpResponseParser(BaseProtocol(self._loop), self._loop, 2**16, read_until_eof=True)
        found = []
        try:
            for piece in pieces:
                messages, _, _ = parser.feed_data(piece)
                found += messages
            found = [(message, payload) for message, payload in found if message.code not in INFORMATIONAL]
            if not found:
                return "incomplete"
            message, payload = found[0]
            if message.code == 101:
                return "refused"
            if payload.exception() is not None:
                return "refused"
            if not payload.is_eof():
                return "incomplete"
            return message.code, b"".join(payload._buffer) if hasattr(payload, "_buffer") else b""
        except Exception:
            return "refused"


@settings(max_examples=600, deadline=None)
@given(
    reply=st.sampled_from(
        [
            WHOLE,
            CHUNKED + b"a\r\n0123456789\r\n5\r\nabcde\r\n0\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n" + WHOLE,
            OK + b"Content-Length: 3\r\nConnection: close\r\nX-Y: z\r\n\r\nabc",
        ]
    ),
    changes=st.lists(
        st.tuples(
            st.integers(0, 200),
            st.integers(0, 2),
            st.sampled_from(
                [b"", b"\r", b"\n", b"\r\n", b" ", b":", b"0", b"5", b";", b"\0", b"-", b"Content-Length: 4"]
            ),
        ),
        max_size=3,
    ),
    cuts=st.lists(st.integers(0, 200), max_size=5),
)
@example(reply=WHOLE, changes=[], cuts=[])
def test_a_changed_reply_is_never_read_as_another_one_than_aiohttp_reads(
    reply: bytes, changes: list[tuple[int, int, bytes]], cuts: list[int]
) -> None:
    """It may be refused by one of the two alone: then it is a fault, and the call is repeated."""
    for place, removed, put in changes:
        place %= len(reply) + 1
        reply = reply[:place] + put + reply[place + removed :]
    loop = asyncio.new_event_loop()
    try:
        theirs = OtherParser(loop).parse(split(reply, cuts))
    finally:
        loop.close()

    try:
        read = parse(split(reply, cuts))
    except MalformedReply:
        return

    if isinstance(theirs, tuple) and read is not None:
        assert (read.status, read.body) == theirs
