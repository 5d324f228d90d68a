"""Guard: what holds for every request: the size of what is sent, the headers of what is answered, and who visits."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POST_LIMIT = 4 * 2**20  # bytes of an ordinary form
UPLOAD_LIMIT = 512 * 2**20  # bytes of a file that an administrator gives
UPLOADS = ("/admin/tasks/new", "/admin/import")

HEADERS = {
    "content-security-policy": "; ".join(
        [
            "default-src 'none'",
            "img-src 'self' blob:",
            "style-src 'self'",
            "script-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class TooMuch(HTTPException):
    """More was sent than is taken."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"at most {limit // 2**20} MB can be sent at once")


class Guard:
    """Refuses what is too large before it is read, and puts the same headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = UPLOAD_LIMIT if scope["path"] in UPLOADS else POST_LIMIT
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise TooMuch(limit)
            return message

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                still = scope["path"].startswith("/static/")
                headers["cache-control"] = "private, max-age=600" if still else "no-store"
            await send(message)

        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) <= limit:
            await self._app(scope, counted, headed)
        else:
            told = PlainTextResponse(TooMuch(limit).detail, 413, {"connection": "close"})
            await told(scope, receive, headed)
