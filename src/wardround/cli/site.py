"""`wardround site`: a static leaderboard of runs."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, note, print_result


def site(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Run folders, or folders of runs.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the site: a new one, or its last build.")
    ],
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Title of the site.")] = "Leaderboard",
    url: Annotated[
        str | None,
        typer.Option(
            "--url", metavar="ADDRESS", help="Where it will be published: absolute links in feed.xml, none out of DIR."
        ),
    ] = None,
    explorer: Annotated[
        list[str] | None,
        typer.Option("--explorer", metavar="[RUN=]DIR", help="Exported explorer to link (shows cases); repeatable."),
    ] = None,
    copy_reports: Annotated[
        bool, typer.Option("--copy-reports", help="Copy each run's report.html into the site instead of linking it.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Build nothing and exit with 1 if a run cannot be read.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a leaderboard of runs as static pages: ranks, intervals, changes since the last build, feed and JSON."""
    from wardround.exporting.site.build import build_site

    built = build_site(
        runs,
        out,
        title=title,
        url=url,
        explorers=explorer or [],
        copy_reports=copy_reports,
        strict=strict,
        note=note,
    )
    print_result(built.to_dict(), as_json, str(built.index))
