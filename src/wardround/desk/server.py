"""Serves a desk until it is stopped; the address is announced before the first request can come."""

from collections.abc import Callable
from pathlib import Path

from wardround.core.errors import BadInput, WardroundError
from wardround.core.sockets import is_loopback, open_socket, socket_url

MISSING = "the desk needs its extra: pip install 'wardround[desk]'"
SHUTDOWN_SECONDS = 3  # for requests that are under way when it is stopped


def serve(
    root: Path, host: str, port: int, announce: Callable[[str, str | None], None], *, invite: bool = False
) -> None:
    """Serves a desk until it is stopped; port 0 takes a free one.

    `announce` gets the address, and the one-time link for the administrator if there is none yet (or `invite`).
    """
    if root.exists() and not root.is_dir():
        raise BadInput(root, "is not a folder")
    try:
        import uvicorn

        from wardround.desk import app
        from wardround.desk.auth.accounts import ADMINISTRATOR
        from wardround.desk.desk import Desk
    except ImportError:
        raise WardroundError(MISSING) from None

    listening_socket = open_socket(host, port)
    desk = Desk(root)
    url = socket_url(host, listening_socket)
    needs_link = invite or not desk.accounts.has_administrator()
    link = f"{url}/join/{desk.accounts.invite(ADMINISTRATOR)}" if needs_link else None
    application = app.desk_app(desk, app.LOOPBACK if is_loopback(host) else ("*",))
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    announce(url, link)
    uvicorn.Server(config).run(sockets=[listening_socket])
