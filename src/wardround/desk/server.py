"""Serving until stopped: the address is known, and told, before the first request can come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wardround.core.errors import BadInput, WardroundError
from wardround.core.sockets import address, is_loopback, listening_at

MISSING = "the desk needs its extra: pip install 'wardround[desk]'"
PATIENCE = 3  # seconds for requests that are under way when it is stopped


def serve(root: Path, host: str, port: int, tell: Callable[[str, str | None], None], *, invite: bool = False) -> None:
    """Serves a desk until it is stopped; port 0 takes a free one.

    `tell` hears the address, and the one-time link for the administrator where there is none yet (or `invite`).
    """
    if root.exists() and not root.is_dir():
        raise BadInput(root, "is not a folder")
    try:
        import uvicorn

        from wardround.desk import app
        from wardround.desk.auth.people import ADMINISTRATOR
        from wardround.desk.desk import Desk
    except ImportError:
        raise WardroundError(MISSING) from None

    listening = listening_at(host, port)
    desk = Desk(root)
    url = address(host, listening)
    wanted = invite or not desk.people.has_administrator()
    link = f"{url}/join/{desk.people.invite(ADMINISTRATOR)}" if wanted else None
    application = app.desk_app(desk, app.LOOPBACK if is_loopback(host) else ("*",))
    config = uvicorn.Config(
        application, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=PATIENCE
    )
    tell(url, link)
    uvicorn.Server(config).run(sockets=[listening])
