"""`wardround mark`: marks, measures and reports again from stored answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, finish
from wardround.cli.places import Answers

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder (runs/<name>).")]


def mark(run: RunPath, answers: Answers = None, as_json: Json = False) -> None:
    """Mark, measure and report again from stored answers; nobody is called."""
    from wardround.examination import mark_run

    mark_run(run, answers=answers)
    report = run / "report.html"
    finish({"run": str(run), "report": str(report)}, as_json, str(report))
