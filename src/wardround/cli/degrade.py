"""`wardround degrade`: degraded copies of an image, a folder of images or a case set."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from wardround.cli.output import Json, note, print_result
from wardround.cli.shared_options import Ray, Workers


def degrade(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Image, folder of images, or case set.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder; an interrupted command continues in it.")],
    types: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE...",
            help="Degradation types (default: those that fit the image's modality; general ones if it is not known).",
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(metavar="LEVEL...", help="Severities: L1, L2 or numbers up to 2 (default: L1 L2)."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Severity profile: NAME or FILE.toml:NAME (default: that of a case set's studies; else clinical-1).",
        ),
    ] = None,
    modality: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Modality of the images (default: that of the case or the DICOM header)."),
    ] = None,
    workers: Workers = None,
    ray: Ray = None,
    sheet: Annotated[bool, typer.Option("--sheet", help="Also draw a contact sheet of each image.")] = False,
    as_json: Json = False,
) -> None:
    """Write degraded copies of images with their parameters. Exit code 1 if an image could not be used."""
    from wardround.degrade.folder import degrade_files
    from wardround.degrade.ray_cluster import join_cluster

    with join_cluster(ray), _bar() as progress:
        summary = degrade_files(
            source,
            out,
            types=types,
            levels=levels,
            profile=profile,
            workers=workers,
            modality=modality,
            sheet=sheet,
            progress=progress,
        )
    for problem in summary.problems:
        note(str(problem))
    print_result(summary.to_dict(), as_json, summary.sentence())
    if summary.problems:
        raise typer.Exit(1)


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr from the first progress on; without a terminal only its final state."""
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
