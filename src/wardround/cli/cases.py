"""`wardround cases`: looks at case sets, says what is wrong with them, and makes them of other layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from wardround.cases.conversion import convert
from wardround.cases.set import CaseSet, case_file
from wardround.cases.show import shown
from wardround.cases.validation import problems_of
from wardround.cli.output import Json, finish, note
from wardround.core.case import Case
from wardround.core.errors import Problem

app = typer.Typer(no_args_is_help=True, help="Case sets: validate, convert, show, audit.")

SetPath = Annotated[Path, typer.Argument(metavar="PATH", help="The folder of a case set, or its cases.jsonl.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes that decode images; as many as there are cores.")]


@app.command("validate")
def validate_command(
    path: SetPath,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first problem.")] = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Says everything that is wrong with a case set, its images decoded. Exits 1 if there is anything."""
    cases = CaseSet.read(path)
    found = problems_of(cases, workers=workers)
    problems = list(islice(found, 1)) if strict else list(found)
    counts = f"{len(cases)} usable cases with {cases.question_count} questions; {_many(problems)}"
    finish(
        {
            "cases": len(cases),
            "questions": cases.question_count,
            "problems": [_told(each) for each in problems],
        },
        as_json,
        "\n".join([*map(str, problems), counts + (" (stopped at the first)" if strict and problems else "")]),
    )
    if problems:
        raise typer.Exit(1)


@app.command("convert")
def convert_command(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="What to read.")],
    out: Annotated[Path, typer.Option(help="The folder to make. It must not hold anything yet.")],
    layout: Annotated[str, typer.Option("--from", help="The layout of the source.")] = "wardround",
    skills: Annotated[bool, typer.Option("--skills", help="Attach MedQ-Deg's skills by the sources' labels.")] = False,
    dev: Annotated[
        int | None,
        typer.Option("--dev", min=0, help="Set so many cases aside as dev where none has a split (cure: 30)."),
    ] = None,
    split: Annotated[str | None, typer.Option("--split", help="Write the cases of this split only.")] = None,
    specialty: Annotated[
        list[str] | None, typer.Option("--specialty", help="Write the cases of this specialty only; may be repeated.")
    ] = None,
    fields: Annotated[
        Path | None, typer.Option("--map", metavar="TOML", help="What the rows call their fields (xpcr).")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing if a case has a problem.")] = False,
    as_json: Json = False,
) -> None:
    """Writes the cases of a published layout, with their images, as a case set."""
    unplaced: Counter[str] = Counter()
    changed = _placing(unplaced) if skills else None
    count, problems = convert(
        *(source, out),
        layout=layout,
        strict=strict,
        changed=changed,
        dev=dev,
        split=split,
        specialties=specialty or (),
        fields=fields,
    )
    for problem in problems:
        note(str(problem))
    if unplaced:
        from wardround.building.sources.medq_deg.skills import unplaced_in_words

        note(unplaced_in_words(unplaced))
    finish(
        {
            "cases": count,
            "out": str(out),
            "problems": [_told(problem) for problem in problems],
            **({"labels_without_place": dict(unplaced)} if skills else {}),
        },
        as_json,
        f"{count} {'case' if count == 1 else 'cases'} written to {out}; {_many(problems)}",
    )


@app.command("show")
def show_command(
    path: SetPath,
    case_id: Annotated[str, typer.Argument(metavar="CASE_ID", help="The id of the case.")],
    as_json: Json = False,
) -> None:
    """Prints one case: history, images, questions, and the right answers."""
    cases = CaseSet.open(path)
    case = cases.case(cases.index_of(case_id))
    finish(case.as_written(), as_json, shown(case))


@app.command("audit")
def audit_command(
    path: SetPath,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the files go (default: audit/ in the case set's folder).")
    ] = None,
    synonyms: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Other names of answers: the columns name and same_as.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws resamples, folds and hashes.")] = 0,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Looks for leaks of the answer, duplicates, shortcuts and bad images. Exits 1 if there is an error."""
    from wardround.building.audit.audit import audit
    from wardround.marking.judges.lexical_judge import Synonyms, read_synonyms

    table = Synonyms(read_synonyms(synonyms)) if synonyms else Synonyms()
    folder = out or case_file(path).parent / "audit"
    found = audit(path, folder, synonyms=table, seed=seed, workers=workers, note=note)
    finish({**found.told(), "out": str(folder)}, as_json, f"{found}\n{folder / 'audit.html'}")
    if found.errors:
        raise typer.Exit(1)


def _placing(unplaced: Counter[str]) -> Callable[[Case], Case]:
    from wardround.building.sources.medq_deg.skills import attached

    return lambda case: attached(case, unplaced)


def _many(problems: list[Problem]) -> str:
    return "1 problem" if len(problems) == 1 else f"{len(problems) or 'no'} problems"


def _told(problem: Problem) -> dict[str, Any]:
    return {
        "file": str(problem.file),
        "line": problem.line,
        "field": problem.field,
        "message": problem.message,
    }
