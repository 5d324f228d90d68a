"""The web application of the explorer: pages and data for the one who opened the link, nothing for others."""

import hmac
import secrets
from contextlib import suppress
from typing import Annotated, Any

import orjson
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response

from wardround import __version__
from wardround.core.errors import WardroundError
from wardround.desk.auth.guard import GuardMiddleware
from wardround.desk.auth.visits import Visits
from wardround.marking.review_notes import WRONG_KEY, add_note
from wardround.reporting.run_files import read_run
from wardround.reporting.sections.items_to_review import write_review
from wardround.view.explorer import Explorer
from wardround.view.page import STATIC_FOLDERS, render_page
from wardround.view.paired_interval import paired_interval
from wardround.view.run_list import ShownRun
from wardround.view.run_progress import resume_run, run_states, stop_run

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HEADER = "x-csrf-token"
CLOSED = "This explorer is open to the one who used its link. Start `wardround view` again for a new link."


class Entrance:
    """The one-time link and the browsers that were let in by it, until the server is stopped."""

    def __init__(self) -> None:
        self.visits = Visits(secrets.token_bytes(32))
        self._link: str | None = secrets.token_urlsafe(24)
        self._inside: set[str] = set()

    @property
    def path(self) -> str:
        return f"/open/{self._link}"

    def admit(self, link: str) -> str | None:
        """The cookie of a browser that uses the link for the first time."""
        if self._link is None or not hmac.compare_digest(self._link.encode(), link.encode(errors="replace")):
            return None
        self._link = None
        id = self.visits.new_visitor()
        self._inside.add(id)
        return self.visits.sign(id)

    def visitor(self, request: Request) -> str | None:
        id = self.visits.verify(request.cookies.get(self.visits.cookie))
        return id if id in self._inside else None


def view_app(explorer: Explorer, entrance: Entrance, hosts: tuple[str, ...] = ("*",)) -> FastAPI:
    """The app; `hosts` are the names under which it may be reached."""
    app = FastAPI(title="wardround view", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)

    def visitor(request: Request) -> str:
        id = entrance.visitor(request)
        if id is None:
            raise HTTPException(403, CLOSED)
        return id

    def sender(request: Request, id: Annotated[str, Depends(visitor)]) -> str:
        """The visitor, if one of our own pages sent the request."""
        origin = request.headers.get("origin")
        if origin is not None and origin != f"{request.url.scheme}://{request.headers.get('host')}":
            raise HTTPException(403, "this was not sent by a page of the explorer")
        if not entrance.visits.is_form_token(id, request.headers.get(HEADER, "")):
            raise HTTPException(403, "this page is too old: load it again")
        return id

    inside, own = [Depends(visitor)], [Depends(sender)]

    @app.get("/open/{link}")
    def open_link(request: Request, link: str) -> Response:
        cookie = entrance.admit(link)
        if cookie is None and entrance.visitor(request) is None:
            raise HTTPException(403, CLOSED)
        response = RedirectResponse("/", 303)
        if cookie is not None:
            secure = request.url.scheme == "https"
            response.set_cookie(
                entrance.visits.cookie, cookie, httponly=True, samesite="strict", secure=secure, path="/"
            )
        return response

    @app.get("/")
    def index(id: Annotated[str, Depends(visitor)]) -> Response:
        return HTMLResponse(render_page(csrf=entrance.visits.form_token(id)))

    @app.get("/data/table.json", dependencies=inside)
    def table() -> Response:
        return Response(explorer.packed_table(), media_type="application/json", headers={"content-encoding": "gzip"})

    @app.get("/data/rows/{block}.json", dependencies=inside)
    def rows(block: int) -> Response:
        return _json(explorer.rows_document(block))

    @app.get("/data/question/{row}.json", dependencies=inside)
    def question(row: int) -> Response:
        return _json(explorer.question_document(row))

    @app.get("/data/diagnoses.json", dependencies=inside)
    def diagnoses() -> Response:
        return _json(explorer.diagnoses_document())

    @app.get("/data/runs.json", dependencies=inside)
    def runs() -> Response:
        return _json({"runs": run_states(explorer.runs)})

    @app.get("/images/{key}", dependencies=inside)
    def image(key: str) -> Response:
        rendered = explorer.images.rendered(key)
        if rendered is None:
            raise HTTPException(404, "there is no such image")
        return Response(rendered[0], media_type=rendered[1])

    @app.get("/thumbnails/{key}", dependencies=inside)
    def small(key: str) -> Response:
        data = explorer.images.thumbnail(key)
        if data is None:
            raise HTTPException(404, "there is no such image")
        return Response(data, media_type="image/jpeg")

    @app.get("/api/search", dependencies=inside)
    def search(q: str) -> Response:
        return _json({"rows": explorer.search(q[:500]) if q.strip() else None})

    @app.get("/api/search/prepare", dependencies=inside)
    def prepare_search() -> Response:
        explorer.prepare_search()
        return _json({})

    @app.post("/api/interval", dependencies=own)
    async def interval(request: Request) -> Response:
        return _json(paired_interval(await request.body()))

    @app.post("/api/notes", dependencies=own)
    async def note(request: Request) -> Response:
        fields = _fields(await request.body(), "run", "row", "kind", "text")
        run = next((run for run in explorer.runs if run.name == fields["run"]), None)
        rows = explorer.table.rows
        if run is None or not isinstance(fields["row"], int) or not 0 <= fields["row"] < len(rows):
            raise HTTPException(404, "there is no such question")
        place = rows.row(fields["row"], named=True)
        added = add_note(run.folder, place["case"], place["question"], str(fields["kind"]), str(fields["text"]))
        if added.kind == WRONG_KEY:
            _list_flag(run)
        return _json(added.to_dict() | {"run": run.name})

    @app.post("/api/runs/{action}", dependencies=own)
    async def act_on_run(request: Request, action: str) -> Response:
        fields = _fields(await request.body(), "run")
        run = next((run for run in explorer.runs if run.name == fields["run"]), None)
        act = {"stop": stop_run, "resume": resume_run}.get(action)
        if run is None or act is None:
            raise HTTPException(404, "there is no such run")
        return _json({"message": act(run)})

    app.mount("/static", StaticFiles(packages=list(STATIC_FOLDERS)), name="static")
    app.add_middleware(GZipMiddleware, minimum_size=20_000, compresslevel=1)
    app.add_middleware(GuardMiddleware)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))

    @app.exception_handler(StarletteHTTPException)
    async def refused(request: Request, error: StarletteHTTPException) -> Response:
        if request.url.path.startswith(("/api/", "/data/")):
            return JSONResponse({"detail": error.detail}, error.status_code)
        return HTMLResponse(render_page("closed.html", message=str(error.detail)), error.status_code)

    @app.exception_handler(WardroundError)
    async def bad_input(request: Request, error: WardroundError) -> Response:
        return JSONResponse({"detail": str(error)}, 422)

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> Response:
        return JSONResponse({"detail": "the address is not one of the explorer"}, 422)

    return app


def _list_flag(run: ShownRun) -> None:
    """Writes items_to_review.csv again, which the desk reads; without measures the report lists the flag later."""
    with suppress(WardroundError):
        write_review(read_run(run.folder), run.folder)


def _json(document: dict[str, Any]) -> Response:
    return Response(orjson.dumps(document), media_type="application/json")


def _fields(body: bytes, *names: str) -> dict[str, Any]:
    """These fields of a JSON object."""
    try:
        record = orjson.loads(body)
        return {name: record[name] for name in names}
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise WardroundError(f"expected a JSON object with {', '.join(names)}") from None
