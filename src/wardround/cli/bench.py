"""`wardround bench`: each table and figure of the four papers by name."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wardround.cli.output import Json, finish, note
from wardround.cli.places import Answers, Candidate, Candidates, Judge, LiteratureIndex, Runs
from wardround.core.errors import WardroundError

if TYPE_CHECKING:
    from wardround.benchmarks.engine.bench import Benched


def bench(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A study such as cure/table2, `all` that fit, or `list`.")
    ],
    cases: Annotated[Path | None, typer.Option("--cases", metavar="DIR", help="The case set.")] = None,
    candidate: Candidate = None,
    candidates: Candidates = None,
    judge: Judge = None,
    runs: Runs = None,
    answers: Answers = None,
    trials: Annotated[int | None, typer.Option("--trials", min=1, help="Instead of the paper's number.")] = None,
    type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="The degradation of a dose-response curve.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder", metavar="NAME", help="What looks at the images of a feature map (a Hugging Face name)."
        ),
    ] = None,
    index: LiteratureIndex = None,
    reranker: Annotated[
        str | None, typer.Option("--reranker", metavar="NAME", help="What reads hits again in cure/ladder.")
    ] = None,
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Expect the votes from one request's log-probabilities.")
    ] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Show the paper's figures beside, where the protocol is the same.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a named study of a benchmark and print the paper's table, or list all of them."""
    if name == "list":
        _list(as_json)
        return
    from wardround.benchmarks.engine.bench import bench as run_bench
    from wardround.benchmarks.engine.bench_all import bench_all
    from wardround.benchmarks.engine.candidate_text import candidate_from, candidates_in
    from wardround.benchmarks.engine.named_study import find
    from wardround.candidates.people import by_role

    if name != "all":
        find(name)
    if cases is None:
        raise WardroundError(f"{name} needs a case set: --cases DIR")
    named, judging = candidates_in(candidates) if candidates else ([], None)
    named += [candidate_from(text) for text in candidate or []]
    named = [each for told in named for each in by_role(told)]
    if judge is not None:
        judging = candidate_from(f"judge={judge}")
    given: dict[str, Any] = {
        "cases": cases,
        "candidates": named,
        "judge": judging,
        "runs": runs,
        "answers": answers,
        "trials": trials,
        "type": type,
        "encoder": encoder,
        "index": index,
        "reranker": reranker,
        "logprobs": logprobs,
        "published": published,
        "note": note,
    }
    if name == "all":
        every = bench_all(**given)
        left_out = [f"{study}: not run, {why}" for study, why in every.left_out.items()]
        finish(every.told(), as_json, "\n\n".join([*map(_text, every.ran), "\n".join(left_out)]))
        raise typer.Exit(every.exit_code)
    found = run_bench(name, **given)
    finish(found.told(), as_json, _text(found))
    raise typer.Exit(found.exit_code)


def _text(found: Benched) -> str:
    """The tables of a study, and the files that they were written to."""
    from wardround.reporting.tables.terminal import as_text

    width = shutil.get_terminal_size((120, 40)).columns
    tables = [as_text(table, width) for table in found.tables]
    return "\n\n".join([*tables, *(["\n".join(map(str, found.files))] if found.files else [])])


def _list(as_json: bool) -> None:
    from wardround.benchmarks.engine.named_study import entries

    told: list[dict[str, Any]] = [entry.told(name) for name, entry in entries().items()]
    widest = max(len(each["study"]) for each in told)
    lines = []
    for each in told:
        lines.append(f"{each['study']:<{widest}}  {each['paper']}: {each['title']}")
        lines.append(f"{'':<{widest}}  asks for {'; '.join(each['needs'])}")
        lines.append(f"{'':<{widest}}  {each['why_not'] or 'can be run'}")
    finish({"studies": told}, as_json, "\n".join(lines))
