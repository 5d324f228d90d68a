"""Serving until stopped: the address is known, and told, before the first request can come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread

from wardround.core.errors import BadInput, WardroundError
from wardround.core.sockets import address, listening_at
from wardround.literature.index.index import Index
from wardround.literature.index.location import MISSING
from wardround.literature.serving.served import Served

PATIENCE = 3  # seconds for requests that are under way when it is stopped


def opened(index: str | Path, without: Path | None = None) -> Served:
    """An index ready to be served; `without` is a file of PMIDs that nobody is given."""
    served = Served(Index.open(index), read_pmids(without) if without else ())
    served.warm()
    return served


def read_pmids(path: Path) -> tuple[str, ...]:
    """The PMIDs of a file, apart by white space."""
    try:
        return tuple(dict.fromkeys(path.read_text(encoding="utf-8-sig").split()))
    except UnicodeDecodeError:
        raise BadInput(path, "not UTF-8 text") from None


def serve_http(served: Served, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serves by HTTP until it is stopped; port 0 takes a free one. `tell` hears the address."""
    try:
        import uvicorn

        from wardround.literature.serving.http import http_app
    except ImportError:
        raise WardroundError(MISSING) from None

    listening = listening_at(host, port)
    app = http_app(served, host)
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=PATIENCE)
    )
    tell(address(host, listening))
    server.run(sockets=[listening])


def serve_stdio(served: Served, tell: Callable[[], None]) -> None:
    """Serves MCP over standard input and output until the input ends. `tell` hears when it is ready."""
    try:
        from wardround.literature.serving.tools import mcp_server
    except ImportError:
        raise WardroundError(MISSING) from None

    server = mcp_server(served)
    # In a thread that nobody waits for: it may be reading when Ctrl-C comes, and would go on until its input ends.
    # A join without end is not interrupted on every system.
    reading = Thread(target=server.run, args=["stdio"], daemon=True)
    reading.start()
    tell()
    while reading.is_alive():
        reading.join(0.2)
