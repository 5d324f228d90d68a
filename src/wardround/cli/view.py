"""`wardround view`: the case explorer, as a local web app or as static files."""

from pathlib import Path
from typing import Annotated

import orjson
import typer

from wardround.cli.output import Json, note, print_result
from wardround.cli.shared_options import Host, Port


def view(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUNS]...", help="Run folders, or folders of runs (default: runs).")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="DIR", help="Write the explorer as static files into this folder instead."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    as_json: Json = False,
) -> None:
    """Explore questions, replies and images of runs in a browser. Prints its address, a link that works once."""
    paths = runs or [Path("runs")]
    if export is not None:
        from wardround.view.export import export_runs

        exported = export_runs(paths, export, note)
        print_result(exported.to_dict(), as_json, str(exported.index))
        return
    from wardround.core.sockets import is_loopback
    from wardround.view.server import serve

    def announce(url: str) -> None:
        print(orjson.dumps({"url": url}).decode() if as_json else url, flush=True)
        if is_loopback(host):
            note("open the link once; this machine only; Ctrl-C ends")
        else:
            note(f"listening on {host} without encryption: put a TLS proxy in front of it")

    serve(paths, host, port, announce, note)
