"""`wardround build ophthalmic`: X-PCR chains of labelled eye images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.build.about import About, told_about
from wardround.cli.build.journals import Answers, Out, finish_build
from wardround.cli.output import Json, note


def ophthalmic(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="CSV: image, modality, disease, and what else is known of each.")
    ],
    out: Out,
    schema: Annotated[
        Path | None, typer.Option(metavar="TOML", help="Diseases, anatomy, lesions, grades and management of your own.")
    ] = None,
    matrix: Annotated[
        Path | None, typer.Option(metavar="TOML", help="What each modality shows of a disease, of your own.")
    ] = None,
    templates: Annotated[Path | None, typer.Option(metavar="TOML", help="Wordings of questions of your own.")] = None,
    all_lesions: Annotated[
        bool, typer.Option("--all-lesions", help="The table lists every lesion that can be seen on an image.")
    ] = False,
    models: Annotated[Path | None, typer.Option(metavar="TOML", help="Models by role: writer and reviewer.")] = None,
    answers: Answers = None,
    about: About = None,
    seed: Annotated[int, typer.Option(help="Draws wordings, options, places and the split.")] = 0,
    as_json: Json = False,
) -> None:
    """Make X-PCR chains of labelled eye images: quality, region, lesion, diagnosis, grade, and decisions for people."""
    from wardround.building.sources.ophthalmic import build_ophthalmic
    from wardround.building.pipeline.models import load_models

    built = build_ophthalmic(
        table,
        out,
        schema=schema,
        matrix=matrix,
        templates=templates,
        all_lesions=all_lesions,
        models=load_models(models) if models else {},
        answers=answers or out.parent / "answers.sqlite",
        about=told_about(about),
        seed=seed,
        note=note,
    )
    finish_build(built, as_json)
