"""Serves an index until stopped; the address is announced before the first request."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread

from wardround.core.errors import BadInput, WardroundError
from wardround.core.sockets import open_socket, socket_url
from wardround.literature.index.index import Index
from wardround.literature.index.location import MISSING
from wardround.literature.serving.served import ServedIndex

SHUTDOWN_SECONDS = 3  # for requests in progress


def open_served_index(index: str | Path, without: Path | None = None) -> ServedIndex:
    """An index ready to be served; `without` is a file of PMIDs to exclude."""
    served = ServedIndex(Index.open(index), read_pmids(without) if without else ())
    served.warm()
    return served


def read_pmids(path: Path) -> tuple[str, ...]:
    """The PMIDs in a file, separated by white space."""
    try:
        return tuple(dict.fromkeys(path.read_text(encoding="utf-8-sig").split()))
    except UnicodeDecodeError:
        raise BadInput(path, "not UTF-8 text") from None


def serve_http(served: ServedIndex, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serves over HTTP until stopped; port 0 chooses a free one. `announce` is called with the address."""
    try:
        import uvicorn

        from wardround.literature.serving.http import http_app
    except ImportError:
        raise WardroundError(MISSING) from None

    listening = open_socket(host, port)
    app = http_app(served, host)
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=SHUTDOWN_SECONDS)
    )
    announce(socket_url(host, listening))
    server.run(sockets=[listening])


def serve_stdio(served: ServedIndex, announce: Callable[[], None]) -> None:
    """Serves MCP over standard input and output until the input ends. `announce` is called when it is ready."""
    try:
        from wardround.literature.serving.tools import mcp_server
    except ImportError:
        raise WardroundError(MISSING) from None

    server = mcp_server(served)
    # A daemon thread: at Ctrl-C it may be reading, and would continue until its input ends. The join has a timeout
    # because an endless one cannot be interrupted on every system.
    thread = Thread(target=server.run, args=["stdio"], daemon=True)
    thread.start()
    announce()
    while thread.is_alive():
        thread.join(0.2)
