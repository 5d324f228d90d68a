"""Serves a desk until it is stopped; the address is announced before the first request can come."""

from collections.abc import Callable
from pathlib import Path

from wardround.core.errors import BadInput, WardroundError
from wardround.core.sockets import is_loopback, open_socket, socket_url

MISSING = "the desk needs its extra: pip install 'wardround[desk]'"
SHUTDOWN_SECONDS = 3  # for requests that are under way when it is stopped


def serve(
    root: Path,
    host: str,
    port: int,
    announce: Callable[[str, str, str | None], None],
    *,
    invite: bool = False,
    public_url: str | None = None,
    proxy: str = "127.0.0.1",
    openid: Path | None = None,
) -> None:
    """Serves a desk until it is stopped; port 0 takes a free one.

    `announce` gets the address for visitors, the one that is listened on, and the one-time link for the
    administrator if there is none yet (or `invite`).
    `openid` is a file that names a provider of OpenID Connect, by which people may log in.
    Behind a TLS proxy visitors come by `public_url`; only headers from the address `proxy` say who they are.
    """
    if root.exists() and not root.is_dir():
        raise BadInput(root, "is not a folder")
    try:
        import uvicorn

        from wardround.desk import app
        from wardround.desk.auth.accounts import ADMINISTRATOR
        from wardround.desk.auth.openid import OpenIdClient, load_openid_settings
        from wardround.desk.auth.public_address import parse_public_address
        from wardround.desk.desk import Desk
        from wardround.desk.slow_connections import ImpatientProtocol
    except ImportError:
        raise WardroundError(MISSING) from None

    public = parse_public_address(public_url) if public_url else None
    client = OpenIdClient(load_openid_settings(openid)) if openid else None
    listening_socket = open_socket(host, port)
    desk = Desk(root)
    address = socket_url(host, listening_socket)
    url = public.origin if public else address
    needs_link = invite or not desk.accounts.has_administrator()
    link = f"{url}/join/{desk.accounts.invite(ADMINISTRATOR)}" if needs_link else None
    application = app.desk_app(desk, app.LOOPBACK if is_loopback(host) else ("*",), public, client)
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=public is not None,
        forwarded_allow_ips=proxy,
        http=ImpatientProtocol,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    announce(url, address, link)
    uvicorn.Server(config).run(sockets=[listening_socket])
