"""`wardround report`: writes the report of a run again, or compares several runs."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, note, print_result
from wardround.cli.shared_options import AcceptChangedCases, Answers, Cases


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folder, or several to compare.")],
    with_cases: Annotated[
        bool, typer.Option("--with-cases", help="Add a page per case with its images, prompts and answers.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="File to write.")] = None,
    checklist: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Write the items of a guideline (tripod-llm, stard-ai) as Markdown instead."),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the one-page summary instead: summary.pdf, .md or .html."),
    ] = None,
    answers: Answers = None,
    cases: Cases = None,
    accept_changed_cases: AcceptChangedCases = False,
    as_json: Json = False,
) -> None:
    """Write the report of a run again, or compare several runs on one page."""
    from wardround.pipeline import checklist_of_run, report_runs, summary_of_run

    if summary is not None:
        print_result({"summary": str(summary_of_run(runs, summary))}, as_json, str(summary))
        return
    if checklist is not None:
        table = checklist_of_run(runs, checklist, out)
        print_result({"checklist": str(table)}, as_json, str(table))
        return
    from wardround.benchmarks.redrawn_sections import redrawn_sections

    page = report_runs(
        runs,
        with_cases=with_cases,
        answers=answers,
        cases=cases,
        accept_changed_cases=accept_changed_cases,
        out=out,
        sections=redrawn_sections(note),
        quiet=False,
    )
    print_result({"report": str(page)}, as_json, str(page))
