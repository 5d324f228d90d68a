"""`wardround published`: the papers' own figures, with a note at each that does not add up."""

from __future__ import annotations

import shutil
from typing import Annotated

import typer

from wardround.cli.output import Json, finish


def published(
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="Which table, such as cure/table1. Without: all are listed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a published table as the paper has it, or list all of them."""
    from wardround.benchmarks.engine.published import load, titles
    from wardround.benchmarks.engine.published_table import printable
    from wardround.reporting.tables.terminal import as_text

    if table is not None:
        found = load(table)
        finish(found.told(), as_json, as_text(printable(found), width=shutil.get_terminal_size((120, 40)).columns))
        return
    listed = titles()
    widest = max(map(len, listed))
    told = [{"table": name, **about.model_dump()} for name, about in listed.items()]
    finish({"tables": told}, as_json, "\n".join(f"{name:<{widest}}  {about.title}" for name, about in listed.items()))
