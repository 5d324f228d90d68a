"""The HTTP server: /search, /articles/PMID and /about with their OpenAPI description, and MCP at /mcp."""

# Annotations are read when a path is made, inside the function that knows the index: no deferred evaluation here.
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Annotated, Any, Literal

from fastapi import FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from wardround import __version__
from wardround.core.errors import WardroundError
from wardround.literature.search.filters import Filters
from wardround.literature.serving.served import LONGEST_QUERY, MOST_HITS, Served
from wardround.literature.serving.tools import mcp_server

PAGE = files("wardround.literature.serving") / "docs.html"
ABOUT = "Search a fixed corpus of medical articles. The same corpus is an MCP server at /mcp (streamable HTTP)."


class Article(BaseModel):
    pmid: str
    title: str
    abstract: str
    year: int | None
    journal: str | None


class Hit(Article):
    score: float


class Found(BaseModel):
    """Articles, best first; the fingerprint says in which corpus."""

    fingerprint: str
    hits: list[Hit]


class About(BaseModel):
    """The corpus, and what may be asked of it."""

    fingerprint: str
    articles: int
    retrievers: list[str] = Field(description="The default first.")
    without: int = Field(description="How many PMIDs are left out.")
    most_hits: int
    longest_query: int


class Refused(BaseModel):
    detail: str


def http_app(served: Served, host: str = "127.0.0.1") -> FastAPI:
    """The application; `host` is where it will be reached, for the MCP server's defence of loopback addresses."""
    server = mcp_server(served)
    mcp_routes = server.streamable_http_app(host=host).routes  # makes the session manager, too
    retrievers = served.retrievers

    class Wanted(BaseModel):
        """A search."""

        model_config = ConfigDict(extra="forbid")

        query: str = Field(max_length=LONGEST_QUERY, description="Any text; there is no query syntax.")
        k: int = Field(default=10, ge=1, le=MOST_HITS, description="How many articles.")
        retriever: Literal[tuple(retrievers)] = retrievers[0]  # type: ignore[valid-type]
        since: int | None = Field(default=None, ge=0, le=9999, description="The first year.")
        until: int | None = Field(default=None, ge=0, le=9999, description="The last year.")
        publication_types: list[Annotated[str, Field(max_length=200)]] = Field(
            default_factory=list, max_length=20, description="Any of them."
        )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    app = FastAPI(
        title="wardround literature",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # that page is loaded from another server; ours needs none
        redoc_url=None,
        lifespan=lifespan,
    )

    def answered(wanted: Wanted) -> Found:
        filters = Filters(wanted.since, wanted.until, tuple(wanted.publication_types))
        hits = served.search(wanted.query, wanted.retriever, wanted.k, filters)
        return Found(fingerprint=served.index.fingerprint, hits=[Hit(**hit._asdict()) for hit in hits])

    @app.get("/search")
    def search(wanted: Annotated[Wanted, Query()]) -> Found:
        """Search: articles with their abstracts, best first."""
        return answered(wanted)

    @app.post("/search", responses={400: {"model": Refused, "description": "Not JSON in UTF-8"}})
    def search_long(wanted: Wanted) -> Found:
        """The same, for queries that are too long for an address."""
        return answered(wanted)

    @app.get("/articles/{pmid}", responses={404: {"model": Refused, "description": "Not in this corpus"}})
    def article(pmid: Annotated[str, Path(max_length=64)]) -> Article:
        """One article."""
        hit = served.read(pmid)
        if hit is None:
            raise HTTPException(404, "not in this corpus")
        return Article(**hit._asdict())

    @app.get("/about")
    def about() -> About:
        """The corpus, and what may be asked of it."""
        return About(**served.told())

    @app.get("/docs", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    def page() -> HTMLResponse:
        return HTMLResponse(PAGE.read_text(encoding="utf-8"))

    @app.exception_handler(RequestValidationError)
    def refused(request: Request, error: RequestValidationError) -> JSONResponse:
        """Says what was wrong, without sending it back: it may be a patient's history, or no text at all."""
        detail: list[dict[str, Any]] = [{key: each[key] for key in ("loc", "msg", "type")} for each in error.errors()]
        return JSONResponse({"detail": detail}, status_code=422)

    @app.exception_handler(WardroundError)
    def unreadable(request: Request, error: WardroundError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=503)

    app.router.routes.extend(mcp_routes)
    return app
