"""`wardround desk`: the web app in which people review cases, calibrate severities, judge answers and take exams."""

from pathlib import Path
from typing import Annotated

import orjson
import typer

from wardround.cli.output import Json, note
from wardround.cli.shared_options import Host, Port


def desk(
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the desk: its database and the files of its tasks.")
    ],
    host: Host = "127.0.0.1",
    port: Port = 0,
    new_administrator: Annotated[
        bool, typer.Option("--new-administrator", help="Print a one-time link for another administrator.")
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address that a TLS proxy gives to visitors, such as https://desk.example."),
    ] = None,
    proxy: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address of that proxy: only its X-Forwarded headers are believed.")
    ] = "127.0.0.1",
    openid: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Log-in by OpenID Connect: a TOML file with issuer, client_id.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Serve the desk until interrupted. Prints its address and, at first, a one-time link for the administrator."""
    from wardround.core.sockets import is_loopback
    from wardround.desk.server import serve

    def announce(url: str, address: str, link: str | None) -> None:
        if public_url:
            note(f"listening on {address} for the proxy at {proxy}")
        elif is_loopback(host):
            note("listening on this machine only; use --host to let others connect")
        else:
            note(f"listening on {host} without encryption: put a TLS proxy in front of it")
        if as_json:
            print(orjson.dumps({"url": url, "listening": address, "administrator": link}).decode(), flush=True)
        else:
            print(f"{url} administrator, once: {link}" if link else url, flush=True)

    serve(root, host, port, announce, invite=new_administrator, public_url=public_url, proxy=proxy, openid=openid)
