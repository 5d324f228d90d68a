"""`wardround report`: the report of a run again, or of several runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, finish
from wardround.cli.places import Answers


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="One run folder, or several to compare.")],
    with_cases: Annotated[
        bool, typer.Option("--with-cases", help="Add a page per case: images, prompts, answers.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to write the page.")] = None,
    answers: Answers = None,
    as_json: Json = False,
) -> None:
    """Write the report of a run again, or compare several runs on one page."""
    from wardround.api import report_runs

    page = report_runs(runs, with_cases=with_cases, answers=answers, out=out)
    finish({"report": str(page)}, as_json, str(page))
