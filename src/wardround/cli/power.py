"""`wardround power`: how many cases are needed to see a difference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, finish


def power(
    difference: Annotated[float, typer.Option("--difference", help="The difference to be seen, as a fraction.")],
    run: Annotated[Path | None, typer.Option("--run", metavar="RUN", help="Take the spread from this run.")] = None,
    measure: Annotated[str, typer.Option("--measure", help="With --run: the measure.")] = "accuracy",
    accuracy: Annotated[float, typer.Option("--accuracy", help="Without --run: the mean accuracy guessed.")] = 0.5,
    correlation: Annotated[
        float, typer.Option("--correlation", help="Without --run: how much the two candidates' answers go together.")
    ] = 0.3,
    questions: Annotated[int, typer.Option("--questions", help="Without --run: questions a case.")] = 1,
    within: Annotated[float, typer.Option("--within", help="Without --run: correlation within a case.")] = 0.0,
    at: Annotated[float, typer.Option("--power", help="How sure one wants to be to see it.")] = 0.8,
    as_json: Json = False,
) -> None:
    """Say how many cases are needed to see a difference between two candidates, from a run or from guesses."""
    import polars as pl

    from wardround.core.errors import BadInput
    from wardround.core.study import load_study
    from wardround.measuring import power_from_guesses, power_from_marks

    if run is None:
        needed = power_from_guesses(difference, accuracy, correlation, questions, within, at)
    else:
        if not (run / "marks.parquet").exists():
            raise BadInput(run, "there is no marks.parquet in it")
        marks, study = pl.read_parquet(run / "marks.parquet"), load_study(run / "study.toml")
        needed = power_from_marks(marks, study, difference, measure, at)
    source = (
        f"as spread in {run}" if run else f"guessing an accuracy of {accuracy:g} and a correlation of {correlation:g}"
    )
    finish(
        needed.__dict__,
        as_json,
        f"{needed.cases:,} cases to see a difference of {100 * difference:g} points with power {at:g}, {source}",
    )
