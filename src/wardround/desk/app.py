"""The web application: middleware, routes and error pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wardround import __version__
from wardround.core.errors import WardroundError
from wardround.desk.auth.access import LoginRequired, read_visit, set_visit_cookie
from wardround.desk.auth.guard import GuardMiddleware
from wardround.desk.auth.openid import OpenIdClient
from wardround.desk.auth.public_address import PublicAddress
from wardround.desk.desk import Desk
from wardround.desk.pages import render_page
from wardround.desk.routes import ROUTERS

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def desk_app(
    desk: Desk,
    hosts: tuple[str, ...] = ("*",),
    public: PublicAddress | None = None,
    openid: OpenIdClient | None = None,
) -> FastAPI:
    """The web app of a desk; `hosts` are the names under which it may be reached, besides the public one."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = FastAPI(
        title="wardround desk", version=__version__, docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.state.desk = desk
    app.state.public_address = public
    app.state.openid = openid
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(packages=[("wardround.desk", "static")]), name="static")

    app.add_middleware(VisitMiddleware, desk=desk)
    app.add_middleware(GuardMiddleware)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*hosts, *([public.host] if public else [])])

    @app.exception_handler(LoginRequired)
    async def log_in_first(request: Request, error: LoginRequired) -> Response:
        back = f"?{urlencode({'to': request.url.path})}" if request.url.path != "/" else ""
        return RedirectResponse(f"/login{back}", 303)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        return _error_response(request, error.status_code, str(error.detail))

    @app.exception_handler(WardroundError)
    async def bad_input(request: Request, error: WardroundError) -> Response:
        return _error_response(request, 422, str(error).replace(f"{desk.root}/", ""))

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        return _error_response(request, 422, f"{field}: {first['msg']}" if field else str(first["msg"]))

    return app


class VisitMiddleware:
    """Attaches the visit to every request, and gives a new visitor a cookie."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app, self._desk = app, desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/static/"):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        visit = await run_in_threadpool(read_visit, request, self._desk)
        scope.setdefault("state", {})["visit"] = visit

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and visit.is_new:
                headers = MutableHeaders(scope=message)
                if "set-cookie" not in headers:
                    response = Response()
                    set_visit_cookie(response, request, self._desk, visit.id)
                    headers["set-cookie"] = response.headers["set-cookie"]
            await send(message)

        await self._app(scope, receive, send_with_cookie)


def _error_response(request: Request, status: int, message: str) -> Response:
    """An error as a page, or as JSON under /api."""
    if request.url.path.startswith("/api/") or not hasattr(request.state, "visit"):
        return JSONResponse({"detail": message}, status)
    path = request.url.path
    retry = path if request.method == "POST" and path.startswith("/tasks/") else ""  # what was typed is kept there
    return render_page(request, "error.html", status, message=message, code=status, retry=retry)
