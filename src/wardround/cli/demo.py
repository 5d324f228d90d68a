"""`wardround demo`: the main job on embedded defaults, with a real small model on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, finish, note


def demo(
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to put it.")] = Path("wardround-demo"),
    as_json: Json = False,
) -> None:
    """Examine a real small model on a starter case set, and report."""
    from wardround.demo import demonstrate

    shown = demonstrate(folder, note=note)
    told = {"folder": str(shown.folder), "reports": [str(report) for report in shown.reports]}
    finish(told, as_json, "\n".join(told["reports"]))
    raise typer.Exit(max(shown.starter.exit_code, shown.patches.exit_code))
