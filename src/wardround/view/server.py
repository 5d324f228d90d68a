"""Serves the explorer until it is stopped; the address is announced before the first request can come."""

from collections.abc import Callable, Sequence
from pathlib import Path

from wardround.core.errors import WardroundError
from wardround.core.sockets import is_loopback, open_socket, socket_url

MISSING = "the explorer needs the extra of the desk: pip install 'wardround[desk]'"
SHUTDOWN_SECONDS = 3


def serve(
    paths: Sequence[Path], host: str, port: int, announce: Callable[[str], None], note: Callable[[str], None]
) -> None:
    """Serves the runs at these paths; `announce` gets the address with the one-time link. Port 0 takes a free one.

    Replies are read for the search while visitors are served; `note` gets the progress.
    """
    try:
        import uvicorn

        from wardround.desk.slow_connections import ImpatientProtocol
        from wardround.view import app
        from wardround.view.explorer import Explorer
    except ImportError:
        raise WardroundError(MISSING) from None

    explorer, entrance = Explorer(paths), app.Entrance()
    listening_socket = open_socket(host, port)
    application = app.view_app(explorer, entrance, app.LOOPBACK if is_loopback(host) else ("*",))
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=ImpatientProtocol,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    explorer.packed_table()  # marks and cases are read before the first visitor waits for them
    explorer.rows_document(0)
    announce(socket_url(host, listening_socket) + entrance.path)
    try:
        with explorer.preparing_search(note):
            uvicorn.Server(config).run(sockets=[listening_socket])
    finally:
        explorer.close()
