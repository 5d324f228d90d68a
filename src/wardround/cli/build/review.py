"""`wardround build review`: takes the verdicts of people in."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import orjson
import typer

from wardround.cli.output import Json, finish, note


def review(
    cases: Annotated[Path, typer.Argument(metavar="SET", help="A case set as it was built.")],
    verdicts: Annotated[
        list[Path] | None, typer.Option("--verdicts", metavar="FILE...", help="All verdicts so far (JSONL).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Writes the set that comes of them here; SET stays as it is."),
    ] = None,
    to_read: Annotated[
        Path | None, typer.Option("--to-read", metavar="FILE", help="Writes what is still to be read here (JSONL).")
    ] = None,
    share: Annotated[float, typer.Option(min=0, max=1, help="The share that a physician reads too.")] = 0.2,
    seed: Annotated[int, typer.Option(help="Draws that share: the same in every round.")] = 0,
    as_json: Json = False,
) -> None:
    """Take verdicts on the items of a case set in: kappa, arbitration, edits, and a new set."""
    from wardround.building.review import review
    from wardround.reporting.tables.terminal import as_text

    told = review(cases, verdicts or [], out, share=share, seed=seed, note=note)
    if to_read is not None:
        to_read.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in told.to_read()))
    if told.without_case:
        note(f"{told.without_case:,} items that were kept are of records that never became a case: build them again")
    text = as_text(told.table(), shutil.get_terminal_size((120, 40)).columns)
    finish(told.told() | {"out": str(out) if out else None}, as_json, f"{text}\n{out or ''}".rstrip())
