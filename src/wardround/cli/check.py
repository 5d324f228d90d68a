"""`wardround check`: data, keys, one real ask per candidate, counts, tokens and cost, before money is spent."""

from __future__ import annotations

from typing import Annotated

import typer

from wardround.cli.output import Json, finish, note
from wardround.cli.places import Answers, Runs, Strict, StudyFile


def check(
    study: StudyFile,
    runs: Runs = None,
    answers: Answers = None,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Fix study, cases and comparisons before the first answer.")
    ] = False,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Check a study before money is spent: one real ask per candidate, counts, tokens, cost."""
    from wardround.preflight import check_study

    checked = check_study(study, runs=runs, answers=answers, strict=strict, freeze=freeze, note=note)
    told = checked.told
    lines = [*told["problems"], f"{told['cases']:,} cases, {told['questions']:,} questions; {told['announced']}"]
    for candidate in told["candidates"]:
        answers_now = "answers" if candidate["answers"] else f"does not answer: {candidate['why']}"
        cost = f", about {candidate['cost']:.2f} USD" if candidate["cost"] else ""
        lines.append(
            f"{candidate['name']}: {answers_now}; stored {candidate['stored']:,}, new {candidate['new']:,}, about "
            f"{candidate['tokens_in']:,} tokens in and at most {candidate['tokens_out']:,} out{cost}"
        )
        lines += [f"  inapplicable: {count:,} ({why})" for why, count in candidate["inapplicable"].items()]
        lines += [f"  warning: {warning}" for warning in candidate["warnings"]]
    if judge := told.get("judge"):
        lines.append(f"judge: {'answers' if judge['answers'] else 'does not answer: ' + judge['why']}")
        lines += [f"  warning: {warning}" for warning in judge["warnings"]]
    finish(told, as_json, "\n".join(lines))
    raise typer.Exit(0 if checked.ready else 3)
