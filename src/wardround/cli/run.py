"""`wardround run`: runs a study, or goes on where it stopped; then marks, measures and reports."""

from __future__ import annotations

from typing import Annotated

import typer

from wardround.cli.output import Json, finish, note
from wardround.cli.places import Answers, Runs, Strict, StudyFile


def run(
    study: StudyFile,
    runs: Runs = None,
    answers: Answers = None,
    amend: Annotated[bool, typer.Option("--amend", help="Go on with a changed study; the change is recorded.")] = False,
    pack: Annotated[bool, typer.Option("--pack", help="Copy the answers that were used into the run folder.")] = False,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Run a study or go on with it, then mark, measure and report."""
    from wardround.api import run_study

    ended = run_study(study, runs=runs, answers=answers, amend=amend, pack=pack, strict=strict, note=note)
    manifest = ended.manifest
    report = ended.folder / "report.html"
    headed = f"incomplete: {manifest['why']}\n" if manifest["status"] == "incomplete" else ""
    told = {"run": str(ended.folder), "report": str(report), "status": manifest["status"], "why": manifest["why"]}
    finish(told, as_json, f"{headed}{report}")
    raise typer.Exit(ended.exit_code)
