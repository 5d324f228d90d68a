"""Serving until stopped: the address is known, and told, before the first request can come."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

from wardround.core.errors import BadInput, WardroundError

MISSING = "the desk needs its extra: pip install 'wardround[desk]'"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATIENCE = 3  # seconds for requests that are under way when it is stopped


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    return host in LOOPBACK


def serve(root: Path, host: str, port: int, tell: Callable[[str, str | None], None], *, invite: bool = False) -> None:
    """Serves a desk until it is stopped; port 0 takes a free one.

    `tell` hears the address, and the one-time link for the administrator where there is none yet (or `invite`).
    """
    if root.exists() and not root.is_dir():
        raise BadInput(root, "is not a folder")
    try:
        import uvicorn

        from wardround.desk import app
        from wardround.desk.desk import Desk
        from wardround.desk.people import ADMINISTRATOR
    except ImportError:
        raise WardroundError(MISSING) from None

    listening = _listening(host, port)
    desk = Desk(root)
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{listening.getsockname()[1]}"
    wanted = invite or not desk.people.has_administrator()
    link = f"{url}/join/{desk.people.invite(ADMINISTRATOR)}" if wanted else None
    application = app.desk_app(desk, app.LOOPBACK if is_loopback(host) else ("*",))
    config = uvicorn.Config(
        application, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=PATIENCE
    )
    tell(url, link)
    uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WardroundError(f"{host}:{port}: cannot listen there: {reason}") from None
    return listening
