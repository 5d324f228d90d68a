"""The tables of the benchmarks: `wardround bench` runs them, `wardround published` prints those of the papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wardround.cli.output import Json, note, print_result, table_text, terminal_width
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
from wardround.core.errors import WardroundError

if TYPE_CHECKING:
    from wardround.benchmarks.engine.bench import BenchResult
    from wardround.benchmarks.engine.named_study import NamedStudy


def bench(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Study (cure/table2, ./my-benchmark/table1), `list`, or `all` (those that fit).",
        ),
    ],
    cases: Annotated[Path | None, typer.Option(metavar="DIR", help="Case set.")] = None,
    candidate: Candidate = None,
    candidates: Candidates = None,
    judge: Judge = None,
    runs: Runs = None,
    answers: Answers = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Number of trials (default: the paper's).")] = None,
    type: Annotated[str | None, typer.Option(metavar="TYPE", help="Degradation type of a dose-response curve.")] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Image encoder of a feature map (Hugging Face name).")
    ] = None,
    index: LiteratureIndex = None,
    reranker: Annotated[str | None, typer.Option(metavar="NAME", help="Reranker of cure/ladder.")] = None,
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Compute expected votes from the log-probabilities of one request.")
    ] = False,
    carry: Annotated[
        str | None,
        typer.Option(metavar="own|gold", help="Earlier answers that a stage of a chain is given (default: own)."),
    ] = None,
    image_size: Annotated[
        str | None, typer.Option(metavar="limited|native", help="Shrink large images, or send them as they are.")
    ] = None,
    unlimited_agent: Annotated[
        bool, typer.Option("--unlimited-agent", help="Do not limit the agent's replies and searches.")
    ] = False,
    prompts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of prompt files, used before wardround's own.")
    ] = None,
    parser: Annotated[
        str | None, typer.Option(metavar="MODE", help="Parser of choices (default: the paper's rule, or strict).")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Add the paper's figures if the protocol is the same.")
    ] = False,
    accept_ignored: AcceptIgnored = False,
    fidelity: Annotated[
        bool, typer.Option("--fidelity", help="With `list`: what the papers describe, and how it is done here.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="With `list --fidelity`: as the page docs/fidelity.md.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a named study of a benchmark and print the paper's table, or list the studies."""
    from wardround.benchmarks.engine.named_study import find_group, find_study

    group = find_group(name)
    if group is not None and group.action == "list":
        (_list_fidelity if fidelity else _list)(group.studies, as_json, markdown)
        return
    from wardround.benchmarks.engine.bench import bench as run_bench
    from wardround.benchmarks.engine.bench_all import bench_all
    from wardround.candidates.people import candidates_by_role

    study = find_study(name) if group is None else None
    if cases is None:
        raise WardroundError(f"{name} needs a case set: --cases DIR")
    settings, judge_settings = parse_candidates(candidate, candidates, judge)
    arguments: dict[str, Any] = {
        "cases": cases,
        "candidates": [by_role for one_candidate in settings for by_role in candidates_by_role(one_candidate)],
        "judge": judge_settings,
        "runs": runs,
        "answers": answers,
        "trials": trials,
        "type": type,
        "encoder": encoder,
        "index": index,
        "reranker": reranker,
        "logprobs": logprobs,
        "carry": carry,
        "prompts": prompts,
        "parser": parser,
        "image_size": image_size,
        "unlimited_agent": unlimited_agent,
        "published": published,
        "accept_ignored": accept_ignored,
        "note": note,
    }
    if group is not None:
        results = bench_all(studies=group.studies, **arguments)
        left_out = [f"{study}: not run, {reason}" for study, reason in results.left_out.items()]
        print_result(results.to_dict(), as_json, "\n\n".join([*map(_text, results.results), "\n".join(left_out)]))
        raise typer.Exit(results.exit_code)
    assert study is not None
    result = run_bench(study, **arguments)
    print_result(result.to_dict(), as_json, _text(result))
    raise typer.Exit(result.exit_code)


def published(
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="Table such as cure/table1 (default: list all).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a published table as in the paper, or list all tables."""
    from wardround.benchmarks.engine.published import load_published, published_table_info, to_table

    if table is not None:
        figures = load_published(table)
        print_result(figures.to_dict(), as_json, table_text(to_table(figures)))
        return
    tables = published_table_info()
    width = max(map(len, tables))
    records = [{"table": name, **info.model_dump()} for name, info in tables.items()]
    lines = [f"{name:<{width}}  {info.title}" for name, info in tables.items()]
    print_result({"tables": records}, as_json, "\n".join(lines))


def _text(result: BenchResult) -> str:
    """The tables of a study, and the files written."""
    files = ["\n".join(map(str, result.files))] if result.files else []
    return "\n\n".join([*map(table_text, result.tables), *files])


def _list_fidelity(studies: Mapping[str, NamedStudy], as_json: bool, markdown: bool) -> None:
    from wardround.benchmarks.engine.fidelity import fidelity_markdown, fidelity_records, fidelity_text

    text = fidelity_markdown().rstrip("\n") if markdown else fidelity_text(studies, terminal_width())
    print_result({"elements": fidelity_records(studies.values())}, as_json, text)


def _list(studies: Mapping[str, NamedStudy], as_json: bool, markdown: bool) -> None:
    if markdown:
        raise WardroundError("--markdown prints the page of --fidelity: give both")
    records: list[dict[str, Any]] = [study.to_dict() for study in studies.values()]
    width = max(len(record["study"]) for record in records)
    lines = []
    for record in records:
        lines.append(f"{record['study']:<{width}}  {record['paper']}: {record['title']}")
        lines.append(f"{'':<{width}}  needs {'; '.join(record['needs'])}")
        lines.append(f"{'':<{width}}  {record['why_not'] or 'can be run'}")
    print_result({"studies": records}, as_json, "\n".join(lines))
