"""`wardround mark`: marks, measures and reports again from stored answers."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, note, print_run, run_record
from wardround.cli.shared_options import AcceptChangedCases, Answers, Cases, RunPath


def mark(
    run: RunPath,
    parser: Annotated[
        str | None,
        typer.Option(metavar="MODE", help="Parser of choices: strict, or a paper's rule (default: the study's)."),
    ] = None,
    judge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with a judge table, for open answers.")
    ] = None,
    errors: Annotated[
        bool, typer.Option("--errors", help="Have the judge classify the error behind each wrong answer.")
    ] = False,
    answers: Answers = None,
    cases: Cases = None,
    accept_changed_cases: AcceptChangedCases = False,
    as_json: Json = False,
) -> None:
    """Mark, measure and report again from stored answers. Only missing verdicts of a judge are requested."""
    from wardround.benchmarks.redrawn_sections import redrawn_sections
    from wardround.pipeline import mark_run

    ended = mark_run(
        run,
        answers=answers,
        cases=cases,
        accept_changed_cases=accept_changed_cases,
        parser=parser,
        judge=judge,
        errors=errors,
        sections=redrawn_sections(note),
        note=note,
        quiet=False,
    )
    print_run(run_record(run, ended.manifest), as_json)
    raise typer.Exit(ended.exit_code)
