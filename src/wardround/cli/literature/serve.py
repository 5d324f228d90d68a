"""`wardround literature serve`: an index for others to search, by HTTP and as an MCP server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer

from wardround.cli.output import Json, note


def serve(
    index: Annotated[str, typer.Option("--index", metavar="INDEX", help="What `literature build` made.")],
    host: Annotated[str, typer.Option("--host", help="Where to listen; this machine only unless told otherwise.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 0,
    mcp: Annotated[bool, typer.Option("--mcp", help="MCP over standard input and output, and no HTTP.")] = False,
    without: Annotated[
        Path | None, typer.Option("--without", metavar="FILE", help="PMIDs that nobody is given, apart by white space.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Serve an index by HTTP (its description at /docs) and as an MCP server at /mcp, until stopped."""
    from wardround.core.sockets import is_loopback
    from wardround.literature.serving.serve import opened, serve_http, serve_stdio

    served = opened(index, without)
    if mcp:
        serve_stdio(served, lambda: note(f"serving {index} over standard input and output"))
        return
    if not is_loopback(host):
        note(f"listening on {host}: anyone who can reach this machine can search; there is no password")
    serve_http(
        served, host, port, lambda url: print(orjson.dumps({"url": url}).decode() if as_json else url, flush=True)
    )
