"""`wardround build dicom`: a hospital's own studies."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.build.about import About, told_about
from wardround.cli.output import Json, finish, note


def dicom(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="DICOM files, in any order and nesting.")],
    histories: Annotated[
        Path,
        typer.Option(metavar="CSV", help="history, diagnosis, and one of study, accession, patient."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make. It must not hold anything yet.")],
    options: Annotated[int, typer.Option(min=2, max=26, help="Options of each choice question.")] = 6,
    per_series: Annotated[int, typer.Option(min=1, help="Images of each series: from the middle.")] = 1,
    most_images: Annotated[int, typer.Option(min=1, help="Images of a case at most.")] = 8,
    strict_text: Annotated[
        bool, typer.Option("--strict-text", help="Hold a case for review where its text tells who or when.")
    ] = False,
    private: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keeps the secret and the way back (default: FOLDER.private, beside it)."),
    ] = None,
    synonyms: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Names that mean the same: columns name and same_as.")
    ] = None,
    about: About = None,
    seed: Annotated[int, typer.Option(help="Draws options, places and the split.")] = 0,
    as_json: Json = False,
) -> None:
    """Make de-identified cases of a hospital's DICOM studies and its table of histories and diagnoses."""
    from wardround.building.sources.dicom import build_dicom
    from wardround.marking.judges.lexical_judge import Synonyms, read_synonyms
    from wardround.reporting.tables.terminal import as_text

    built = build_dicom(
        folder,
        histories,
        out,
        count=options,
        per_series=per_series,
        most_images=most_images,
        strict_text=strict_text,
        private_folder=private,
        synonyms=Synonyms(read_synonyms(synonyms) if synonyms else ()),
        about=told_about(about),
        seed=seed,
        note=note,
    )
    text = as_text(built.table(), shutil.get_terminal_size((120, 40)).columns)
    finish(built.told(), as_json, f"{text}\n{out}")
