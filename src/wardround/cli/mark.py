"""`wardround mark`: marks, measures and reports again from stored answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, finish, note
from wardround.cli.places import Answers

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder (runs/<name>).")]


def mark(
    run: RunPath,
    parser: Annotated[
        str, typer.Option("--parser", metavar="MODE", help="How choices are read: strict, or as a paper states it.")
    ] = "strict",
    judge: Annotated[
        Path | None, typer.Option("--judge", metavar="FILE", help="A TOML file whose table judge marks open answers.")
    ] = None,
    errors: Annotated[
        bool, typer.Option("--errors", help="Let the judge name the kind of error behind each wrong answer.")
    ] = False,
    answers: Answers = None,
    as_json: Json = False,
) -> None:
    """Mark, measure and report again from stored answers; only a judge is asked, for what it never said."""
    from wardround.api import mark_run

    ended = mark_run(run, answers=answers, parser=parser, judge=judge, errors=errors, note=note, quiet=False)
    report = run / "report.html"
    manifest = ended.manifest
    headed = f"incomplete: {manifest['why']}\n" if manifest["status"] == "incomplete" else ""
    told = {"run": str(run), "report": str(report), "status": manifest["status"], "why": manifest["why"]}
    finish(told, as_json, f"{headed}{report}")
    raise typer.Exit(ended.exit_code)
