"""`wardround degrade`: degraded copies of an image, of a folder of images or of a case set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from wardround.cli.output import Json, finish, note

Types = Annotated[
    list[str] | None, typer.Option("--types", metavar="TYPE...", help="Of the 18; all that fit unless told otherwise.")
]
Levels = Annotated[
    list[str] | None, typer.Option("--levels", metavar="LEVEL...", help="L1, L2, or numbers up to 2; L1 and L2.")
]


def degrade(
    source: Annotated[Path, typer.Argument(metavar="IN", help="An image, a folder of images, or a case set.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to fill, or to go on filling.")],
    types: Types = None,
    levels: Levels = None,
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help="A severity profile: NAME, or FILE.toml:NAME.")
    ] = "clinical-1",
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; as many as there are cores.")
    ] = None,
    sheet: Annotated[bool, typer.Option("--sheet", help="Draw a contact sheet of each image too.")] = False,
    as_json: Json = False,
) -> None:
    """Write degraded copies of images, with a record of each. Exits 1 if an image could not be used."""
    from wardround.degrade.folder import degrade_files

    with _bar() as progress:
        done = degrade_files(
            source,
            out,
            types=types,
            levels=levels,
            profile=profile,
            workers=workers,
            sheet=sheet,
            progress=progress,
        )
    for problem in done.problems:
        note(str(problem))
    finish(done.told(), as_json, done.sentence())
    if done.problems:
        raise typer.Exit(1)


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr from the first word of progress on; where nobody watches a terminal, its last state."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: Any = (TextColumn("degraded"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task("", total=None)

    def show(done: int, total: int) -> None:
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()
