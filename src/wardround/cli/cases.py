"""`wardround cases`: gets, imports, validates, converts, shows and audits case sets."""

from collections import Counter
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from wardround.cli.output import Json, note, print_result
from wardround.cli.shared_options import Since, Until
from wardround.core.errors import Problem

app = typer.Typer(no_args_is_help=True, help="Case sets: get, import, validate, convert, show, audit.")

SetPath = Annotated[Path, typer.Argument(metavar="PATH", help="Folder of a case set, or its cases.jsonl.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Number of processes that decode images (default: one per core).")
]


@app.command("validate")
def validate_command(
    path: SetPath,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first problem.")] = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """List all problems of a case set, undecodable images included. Exit code 1 if there are any."""
    from wardround.cases.set import CaseSet
    from wardround.cases.validation import find_problems

    cases = CaseSet.read(path)
    problems = list(islice(find_problems(cases, workers=workers), 1 if strict else None))
    counts = f"{len(cases)} usable cases with {cases.question_count} questions; {_count_text(problems)}"
    print_result(
        {
            "cases": len(cases),
            "questions": cases.question_count,
            "problems": [_problem_record(problem) for problem in problems],
        },
        as_json,
        "\n".join([*map(str, problems), counts + (" (stopped at the first)" if strict and problems else "")]),
    )
    if problems:
        raise typer.Exit(1)


@app.command("rubric")
def rubric_command(
    source: Annotated[Path, typer.Argument(metavar="CASES", help="Case set whose cases have findings.")],
    out: Annotated[Path, typer.Option(help="Folder to create; it must be absent or empty.")],
    as_json: Json = False,
) -> None:
    """Make report-writing questions: a rubric of each case's findings, which are then not shown."""
    from wardround.building.text.report_rubric import report_case
    from wardround.cases.conversion import convert
    from wardround.core.case import Case
    from wardround.core.errors import BadInput

    without_findings: list[str] = []

    def make_question(case: Case) -> Case | None:
        made = report_case(case)
        without_findings.extend([] if made else [case.id])
        return made

    try:
        count, problems = convert(source, out, transform=make_question)
    except BadInput:
        if not without_findings:
            raise
        raise BadInput(source, f"case {without_findings[0]!r}: has no findings, and no other case has any") from None
    left_out = [str(problem) for problem in problems]
    result = {"cases": count, "without_findings": without_findings, "problems": left_out, "out": str(out)}
    for line in left_out:
        note(line)
    missing = f"; {len(without_findings)} without findings were left out" if without_findings else ""
    print_result(result, as_json, f"{count} {'case' if count == 1 else 'cases'} with a rubric in {out}{missing}")


@app.command("convert")
def convert_command(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="File or folder to read.")],
    out: Annotated[Path, typer.Option(help="Folder to create; it must be absent or empty.")],
    layout: Annotated[str, typer.Option("--from", help="Layout of the source.")] = "wardround",
    skills: Annotated[
        bool, typer.Option("--skills", help="Attach MedQ-Deg skills, derived from the labels of the source.")
    ] = False,
    dev: Annotated[
        int | None, typer.Option(min=0, help="Number of cases for the dev split, if none has a split (cure: 30).")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Write only the cases of this split.")] = None,
    specialty: Annotated[
        list[str] | None, typer.Option(help="Write only the cases of this specialty; repeatable.")
    ] = None,
    since: Since = None,
    until: Until = None,
    fields: Annotated[
        Path | None, typer.Option("--map", metavar="TOML", help="Field names of the rows (xpcr).")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing if a case has a problem.")] = False,
    as_json: Json = False,
) -> None:
    """Convert a published layout, with its images, to a case set."""
    from wardround.cases.conversion import convert
    from wardround.cases.published_range import PublishedRange

    if skills:
        from wardround.building.sources.medq_deg.skills import attach_skills, describe_unplaced
    unplaced: Counter[str] = Counter()
    count, problems = convert(
        source,
        out,
        layout=layout,
        strict=strict,
        transform=(lambda case: attach_skills(case, unplaced)) if skills else None,
        dev=dev,
        split=split,
        specialties=specialty or (),
        published=PublishedRange.parse(since, until),
        fields=fields,
    )
    for problem in problems:
        note(str(problem))
    if unplaced:
        note(describe_unplaced(unplaced))
    print_result(
        {
            "cases": count,
            "out": str(out),
            "problems": [_problem_record(problem) for problem in problems],
            **({"labels_without_place": dict(unplaced)} if skills else {}),
        },
        as_json,
        f"{count} {'case' if count == 1 else 'cases'} written to {out}; {_count_text(problems)}",
    )


@app.command("import")
def import_command(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE", help="CSV, TSV, JSON, JSONL, Parquet, Excel or Arrow file, or a folder of them."
        ),
    ],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder to create for the case set.")] = None,
    table_map: Annotated[
        str | None, typer.Option("--map", metavar="TOML|NAME", help="Which column holds what, or a public set's name.")
    ] = None,
    guess: Annotated[
        bool, typer.Option("--guess", help="Propose the map from the columns and show three cases.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing if a row has a problem.")] = False,
    as_json: Json = False,
) -> None:
    """Make a case set of any table of questions; --guess proposes which column holds what."""
    from wardround.asking.imported_table import import_table_to

    if guess == (table_map is not None):
        raise typer.BadParameter("expected --map FILE or --guess" if not guess else "--guess proposes the map itself")
    if out is None and not guess:
        raise typer.BadParameter("expected --out DIR")
    result = import_table_to(table, out, table_map, strict=strict)
    for problem in result.problems:
        note(str(problem))
    if guess:
        proposal = [f"# proposed for {table}; check it, save it as map.toml, and import with --map map.toml"]
        note("\n".join([*result.preview, ""]))
        if result.unmapped:
            proposal.append(f"# not imported: {', '.join(result.unmapped)}")
        if not result.has_questions:
            note("The table has diagnoses and no questions. For choice questions of it: wardround build table")
        print_result(result.to_dict(), as_json, "\n".join([*proposal, result.map_text.rstrip()]))
    if out is not None and not (guess and as_json):
        counts = f"{result.cases} {'case' if result.cases == 1 else 'cases'}"
        text = f"{counts} written to {out}; {_count_text(result.problems)}"
        note(text) if guess else print_result(result.to_dict(), as_json, text)
    if not result.cases:
        raise typer.Exit(1)


@app.command("get")
def get_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Set of the registry, or hf:owner/name@revision#split.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder to create for the case set.")] = None,
    table_map: Annotated[
        Path | None, typer.Option("--map", metavar="TOML", help="Which column holds what, for a set without a map.")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Use the cache of huggingface_hub alone.")] = False,
    as_json: Json = False,
) -> None:
    """Get a case set from the Hugging Face Hub; without a name, list the sets that are known."""
    from wardround.cases.hub.getting import get_cases
    from wardround.cases.hub.registry import hub_sets

    if name is None:
        sets = {known: entry.model_dump(mode="json") for known, entry in hub_sets().items()}
        rows = [(known, entry.repo, entry.licence or "none shown", entry.title) for known, entry in hub_sets().items()]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
        ]
        print_result(sets, as_json, "\n".join(lines))
        return
    if out is None:
        raise typer.BadParameter("expected --out DIR")
    result = get_cases(name, out, table_map=table_map, offline=offline)
    for problem in result.problems:
        note(str(problem))
    note(result.source_text)
    print_result(
        {
            "cases": result.cases,
            "out": str(out),
            "repo": result.name.repo,
            "commit": result.commit,
            "licence": result.licence,
            "problems": [_problem_record(problem) for problem in result.problems],
        },
        as_json,
        f"{result.cases} {'case' if result.cases == 1 else 'cases'} written to {out}; {_count_text(result.problems)}",
    )


@app.command("show")
def show_command(
    path: SetPath,
    case_id: Annotated[str, typer.Argument(metavar="CASE_ID", help="Id of the case.")],
    as_json: Json = False,
) -> None:
    """Print one case: history, images, questions and right answers."""
    from wardround.cases.set import CaseSet
    from wardround.cases.show import format_case

    cases = CaseSet.open(path)
    case = cases.case(cases.index_of(case_id))
    print_result(case.as_written(), as_json, format_case(case))


@app.command("audit")
def audit_command(
    path: SetPath,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder (default: audit/ in the folder of the case set).")
    ] = None,
    synonyms: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Synonyms of answers: columns name and same_as.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of resamples, folds and hashes.")] = 0,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Find leaked answers, duplicates, shortcuts and bad images. Exit code 1 if there is an error."""
    from wardround.building.audit.audit import audit
    from wardround.cases.set import case_file
    from wardround.core.names import Synonyms, read_synonyms

    table = Synonyms(read_synonyms(synonyms) if synonyms else ())
    folder = out or case_file(path).parent / "audit"
    result = audit(path, folder, synonyms=table, seed=seed, workers=workers, note=note)
    print_result({**result.to_dict(), "out": str(folder)}, as_json, f"{result}\n{folder / 'audit.html'}")
    if result.errors:
        raise typer.Exit(1)


def _count_text(problems: list[Problem]) -> str:
    return "1 problem" if len(problems) == 1 else f"{len(problems) or 'no'} problems"


def _problem_record(problem: Problem) -> dict[str, Any]:
    return {**asdict(problem), "file": str(problem.file)}
