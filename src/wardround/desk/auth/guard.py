"""Limits on the size and pace of requests, and security headers on every response."""

import asyncio

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POST_LIMIT = 4 * 2**20  # bytes of an ordinary form
UPLOAD_LIMIT = 512 * 2**20  # bytes of a file that an administrator uploads
PART_SECONDS = 30.0  # until the next part of a body comes
UPLOADS = ("/admin/tasks/new", "/admin/import")

HEADERS = {
    "content-security-policy": "default-src 'none'; img-src 'self' blob:; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class RequestTooLarge(HTTPException):
    """The body is larger than the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"at most {limit // 2**20} MB can be sent at once")


class RequestTooSlow(HTTPException):
    """The next part of the body did not come."""

    def __init__(self) -> None:
        super().__init__(408, f"nothing came for {PART_SECONDS:.0f} seconds: send it again")


class GuardMiddleware:
    """Refuses a body that is too large or comes too slowly, and sets the security headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = UPLOAD_LIMIT if scope["path"] in UPLOADS else POST_LIMIT
        received, is_complete = 0, False

        async def receive_counted() -> Message:
            nonlocal received, is_complete
            if is_complete:  # from here on only the end of the connection comes, whenever that is
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), PART_SECONDS)
            except TimeoutError:
                raise RequestTooSlow from None
            is_complete = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > limit:
                raise RequestTooLarge(limit)
            return message

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                is_static = scope["path"].startswith("/static/")
                headers["cache-control"] = "private, max-age=600" if is_static else "no-store"
            await send(message)

        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) <= limit:
            await self._app(scope, receive_counted, send_with_headers)
        else:
            response = PlainTextResponse(RequestTooLarge(limit).detail, 413, {"connection": "close"})
            await response(scope, receive, send_with_headers)
