"""`wardround grid`: the protocols crossed in one study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, finish, note
from wardround.cli.places import Answers, Candidate, Candidates, Judge, LiteratureIndex, Runs


def grid(
    cases: Annotated[Path, typer.Option("--cases", metavar="DIR", help="The case set.")],
    candidate: Candidate = None,
    candidates: Candidates = None,
    axis: Annotated[
        list[str] | None,
        typer.Option(
            "--axis",
            metavar="AXIS=VALUE,VALUE",
            help="What to cross, the value to compare with first (default: evidence, degradation and carry, where the "
            "case set supports them).",
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Of the run.")] = "grid",
    trials: Annotated[int, typer.Option("--trials", min=1, help="Votes on every question.")] = 3,
    judge: Judge = None,
    index: LiteratureIndex = None,
    runs: Runs = None,
    answers: Answers = None,
    as_json: Json = False,
) -> None:
    """Cross evidence, degradation and chains in one study, and tell what each changes and what two change together."""
    from wardround.benchmarks.engine.candidate_text import candidate_from, candidates_in
    from wardround.benchmarks.engine.grid import axis_from
    from wardround.benchmarks.engine.grid import grid as run_grid

    named, judging = candidates_in(candidates) if candidates else ([], None)
    named += [candidate_from(text) for text in candidate or []]
    crossed = run_grid(
        cases=cases,
        candidates=named,
        axes=dict(map(axis_from, axis)) if axis else None,
        name=name,
        trials=trials,
        judge=candidate_from(f"judge={judge}") if judge is not None else judging,
        index=index,
        runs=runs,
        answers=answers,
        note=note,
    )
    told = crossed.told()
    headed = f"incomplete: {told['why']}\n" if told["status"] == "incomplete" else ""
    finish(told, as_json, f"{headed}{told['report']}")
    raise typer.Exit(crossed.ended.exit_code)
