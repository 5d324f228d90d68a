"""`wardround desk`: the web app in which people review, calibrate, judge and sit the exam."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer

from wardround.cli.output import Json, note


def desk(
    root: Annotated[
        Path, typer.Option("--root", metavar="DIR", help="The desk's folder: its database, and the files it works on.")
    ],
    host: Annotated[str, typer.Option("--host", help="Where to listen; this machine only unless told otherwise.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 0,
    new_administrator: Annotated[
        bool, typer.Option("--new-administrator", help="Print a one-time link for one more administrator.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Serve the desk until stopped. The first line is its address, with a one-time link for the administrator."""
    from wardround.core.sockets import is_loopback
    from wardround.desk.server import serve

    def tell(url: str, link: str | None) -> None:
        if is_loopback(host):
            note("listening on this machine only; --host lets others in")
        else:
            note(f"listening on {host}: others can reach it, without encryption; put a TLS proxy before it")
        if as_json:
            print(orjson.dumps({"url": url, "administrator": link}).decode(), flush=True)
        else:
            print(f"{url} administrator, once: {link}" if link else url, flush=True)

    serve(root, host, port, tell, invite=new_administrator)
