"""`wardround run`: runs or resumes a study, then marks, measures and reports; `wardround demo`: a complete example."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, note, print_result, print_run, run_record
from wardround.cli.shared_options import AcceptIgnored, Answers, Runs, Strict, StudyFile


def run(
    study: StudyFile,
    runs: Runs = None,
    answers: Answers = None,
    amend: Annotated[
        bool, typer.Option("--amend", help="Continue with a changed study, cases or prompts; recorded.")
    ] = False,
    accept_ignored: AcceptIgnored = False,
    pack: Annotated[bool, typer.Option("--pack", help="Copy answers, cases, images and prompts into the run.")] = False,
    batch: Annotated[bool, typer.Option("--batch", help="Use the provider's batch API where it has one.")] = False,
    detach: Annotated[
        bool, typer.Option("--detach", help="Submit the batches and exit; a later run collects them.")
    ] = False,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Run or resume a study, then mark, measure and report."""
    from wardround.cases.rare_collection import rare_collection

    with rare_collection():  # what is loaded stays: looking for garbage in it took a fifth of the time
        from wardround.benchmarks.redrawn_sections import redrawn_sections
        from wardround.pipeline import run_study

    ended = run_study(
        study,
        runs=runs,
        answers=answers,
        amend=amend,
        accept_ignored=accept_ignored,
        pack=pack,
        batch=batch,
        detach=detach,
        strict=strict,
        sections=redrawn_sections(note),
        note=note,
    )
    print_run(run_record(ended.folder, ended.manifest), as_json)
    raise typer.Exit(ended.exit_code)


def demo(
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Output folder.")] = Path("wardround-demo"),
    as_json: Json = False,
) -> None:
    """Examine a small local model on the starter case set and write the reports."""
    from wardround.demo import demonstrate

    result = demonstrate(folder, note=note)
    reports = [str(report) for report in result.reports]
    print_result({"folder": str(result.folder), "reports": reports}, as_json, "\n".join(reports))
    raise typer.Exit(max(result.starter.exit_code, result.patches.exit_code))
