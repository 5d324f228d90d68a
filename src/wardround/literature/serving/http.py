"""The HTTP server: /search, /articles/PMID and /about with their OpenAPI description, and MCP at /mcp."""

# FastAPI evaluates annotations inside http_app, which knows the index: no deferred evaluation here.
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
from wardround.literature.serving.served import MAX_HITS, MAX_QUERY_LENGTH, DateLimit, ServedIndex, date_limit
from wardround.literature.serving.tools import ArticleResponse, mcp_server

PAGE = files("wardround.literature.serving") / "docs.html"
ABOUT = "Search a fixed corpus of medical articles. The same corpus is an MCP server at /mcp (streamable HTTP)."


class ScoredArticle(ArticleResponse):
    score: float


class SearchResponse(BaseModel):
    """Articles, best first, and the fingerprint of the corpus."""

    fingerprint: str
    hits: list[ScoredArticle]


class CorpusResponse(BaseModel):
    """The corpus and the limits of requests."""

    fingerprint: str
    articles: int
    retrievers: list[str] = Field(description="The default first.")
    without: int = Field(description="Number of excluded PMIDs.")
    most_hits: int
    longest_query: int


class ErrorResponse(BaseModel):
    detail: str


def http_app(served: ServedIndex, host: str = "127.0.0.1") -> FastAPI:
    """The application; `host` is its address, for the MCP server's protection of loopback addresses."""
    server = mcp_server(served)
    mcp_routes = server.streamable_http_app(host=host).routes  # also creates the session manager
    retrievers = served.retrievers

    class SearchRequest(BaseModel):
        """A search."""

        model_config = ConfigDict(extra="forbid")

        query: str = Field(max_length=MAX_QUERY_LENGTH, description="Any text; there is no query syntax.")
        k: int = Field(default=10, ge=1, le=MAX_HITS, description="How many articles.")
        retriever: Literal[tuple(retrievers)] = retrievers[0]  # type: ignore[valid-type]
        since: DateLimit = Field(default=None, description="The first year, month or day: 2025, 2025-03, 2025-03-01.")
        until: DateLimit = Field(default=None, description="The last year, month or day.")
        publication_types: list[Annotated[str, Field(max_length=200)]] = Field(
            default_factory=list, max_length=20, description="Any of them."
        )
        languages: list[Annotated[str, Field(max_length=200)]] = Field(
            default_factory=list, max_length=20, description="Any of them, as codes of three letters (eng)."
        )
        mesh: list[Annotated[str, Field(max_length=200)]] = Field(
            default_factory=list,
            max_length=20,
            description="Any of these MeSH headings, or narrower ones if known.",
        )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    app = FastAPI(
        title="wardround literature",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # FastAPI's page loads scripts from another server; ours does not
        redoc_url=None,
        lifespan=lifespan,
    )

    def respond(request: SearchRequest) -> SearchResponse:
        try:
            headings = served.index.headings(request.mesh)
        except WardroundError:
            raise HTTPException(422, "mesh: not a MeSH heading or entry term") from None
        filters = Filters(
            since=date_limit(request.since),
            until=date_limit(request.until),
            publication_types=tuple(request.publication_types),
            languages=tuple(request.languages),
            mesh=headings,
        )
        hits = served.search(request.query, request.retriever, request.k, filters)
        return SearchResponse(
            fingerprint=served.index.fingerprint, hits=[ScoredArticle(**hit._asdict()) for hit in hits]
        )

    @app.get("/search")
    def search(request: Annotated[SearchRequest, Query()]) -> SearchResponse:
        """Search: articles with their abstracts, best first."""
        return respond(request)

    @app.post("/search", responses={400: {"model": ErrorResponse, "description": "Not JSON in UTF-8"}})
    def search_long(request: SearchRequest) -> SearchResponse:
        """The same, for queries that are too long for a URL."""
        return respond(request)

    @app.get("/articles/{pmid}", responses={404: {"model": ErrorResponse, "description": "Not in this corpus"}})
    def article(pmid: Annotated[str, Path(max_length=64)]) -> ArticleResponse:
        """One article."""
        hit = served.read(pmid)
        if hit is None:
            raise HTTPException(404, "not in this corpus")
        return ArticleResponse(**hit._asdict())

    @app.get("/about")
    def about() -> CorpusResponse:
        """The corpus and the limits of requests."""
        return CorpusResponse(**served.describe())

    @app.get("/docs", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    def page() -> HTMLResponse:
        return HTMLResponse(PAGE.read_text(encoding="utf-8"))

    @app.exception_handler(RequestValidationError)
    def refused(request: Request, error: RequestValidationError) -> JSONResponse:
        """Says what was wrong without echoing it: it may be a patient's history, or not text."""
        detail: list[dict[str, Any]] = [
            {key: problem[key] for key in ("loc", "msg", "type")} for problem in error.errors()
        ]
        return JSONResponse({"detail": detail}, status_code=422)

    @app.exception_handler(WardroundError)
    def unreadable(request: Request, error: WardroundError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=503)

    app.router.routes.extend(mcp_routes)
    return app
