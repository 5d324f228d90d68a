"""`wardround grid`: crosses evidence, degradation and chains in one study."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, note, print_run
from wardround.cli.shared_options import (
    AcceptIgnored,
    Answers,
    Candidate,
    Candidates,
    Judge,
    LiteratureIndex,
    Runs,
    parse_candidates,
)


def grid(
    cases: Annotated[Path, typer.Option(metavar="DIR", help="Case set.")],
    candidate: Candidate = None,
    candidates: Candidates = None,
    axis: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS=VALUE,VALUE",
            help="Axis to cross, reference value first; repeatable (default: evidence, degradation and carry, as far "
            "as the case set supports them).",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the run.")] = "grid",
    trials: Annotated[int, typer.Option(min=1, help="Trials of every question.")] = 3,
    judge: Judge = None,
    index: LiteratureIndex = None,
    runs: Runs = None,
    answers: Answers = None,
    accept_ignored: AcceptIgnored = False,
    as_json: Json = False,
) -> None:
    """Cross evidence, degradation and chains in one study; estimate main effects and interactions."""
    from wardround.benchmarks.engine.grid import grid as run_grid
    from wardround.benchmarks.engine.grid import parse_axis

    settings, judge_settings = parse_candidates(candidate, candidates, judge)
    result = run_grid(
        cases=cases,
        candidates=settings,
        axes=dict(map(parse_axis, axis)) if axis else None,
        name=name,
        trials=trials,
        judge=judge_settings,
        index=index,
        runs=runs,
        answers=answers,
        accept_ignored=accept_ignored,
        note=note,
    )
    print_run(result.to_dict(), as_json)
    raise typer.Exit(result.ended.exit_code)
