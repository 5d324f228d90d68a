"""`wardround build`: makes case sets."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.build.about import About, told_about
from wardround.cli.lists import TakesLists
from wardround.cli.output import Json, finish, note

app = typer.Typer(no_args_is_help=True, help="Make case sets, and take verdicts of people on them.")


@app.command("medq-deg", cls=TakesLists)
def medq_deg(
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE...", help="Pools of questions on clean images.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make. It must not hold anything yet.")],
    layout: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="LAYOUT", help="The layout of the sources: once, or once for each."),
    ] = None,
    about: About = None,
    seed: Annotated[int, typer.Option(help="Draws the degradations.")] = 0,
    levels: Annotated[
        list[str] | None, typer.Option("--levels", metavar="LEVEL...", help="Severities (default: L1 L2).")
    ] = None,
    per_case: Annotated[int, typer.Option("--per-case", min=1, help="Degradations for each question.")] = 3,
    as_json: Json = False,
) -> None:
    """Make a MedQ-Deg set: de-duplicate, assign fitting degradations, attach the hierarchy."""
    from wardround.building.sources.medq_deg import build_medq_deg
    from wardround.building.sources.medq_deg.skills import unplaced_in_words
    from wardround.reporting.tables.terminal import as_text

    built = build_medq_deg(
        sources,
        out,
        layouts=layout or ["wardround"],
        about=told_about(about),
        seed=seed,
        levels=levels or ["L1", "L2"],
        per_case=per_case,
        note=note,
    )
    if unplaced := unplaced_in_words(built.unplaced):
        note(unplaced)
    text = as_text(built.funnel, shutil.get_terminal_size((120, 40)).columns)
    finish(built.told(), as_json, f"{text}\n{out}")


@app.command("phenopackets")
def phenopackets(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="One a line (.jsonl), a JSON file, each also as .gz, or a folder of them."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make. It must not hold anything yet.")],
    options: Annotated[int, typer.Option(min=2, max=26, help="Options of each choice question.")] = 6,
    difficulty: Annotated[
        float, typer.Option(min=0, max=1, help="0: random diseases as distractors; 1: those that share most features.")
    ] = 1.0,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many cases, drawn.")] = None,
    synonyms: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Names that mean the same: columns name and same_as.")
    ] = None,
    broader: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Classes that names belong to: columns name and broader.")
    ] = None,
    about: About = None,
    seed: Annotated[int, typer.Option(help="Draws wordings, distractors and places.")] = 0,
    as_json: Json = False,
) -> None:
    """Make rare-disease cases of GA4GH phenopackets: a history of signs, six options, one open question."""
    from wardround.building.sources.phenopackets import build_phenopackets
    from wardround.reporting.tables.terminal import as_text

    built = build_phenopackets(
        source,
        out,
        count=options,
        difficulty=difficulty,
        limit=limit,
        synonyms=synonyms,
        broader=broader,
        about=told_about(about),
        seed=seed,
        note=note,
    )
    text = as_text(built.table(), shutil.get_terminal_size((120, 40)).columns)
    finish(built.told(), as_json, f"{text}\n{out}")
