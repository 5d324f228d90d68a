"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file (study.toml).")]
Runs = Annotated[Path | None, typer.Option("--runs", metavar="DIR", help="Folder of runs (default: runs).")]
Answers = Annotated[
    Path | None,
    typer.Option("--answers", metavar="PATH", help="Answer store (default: answers.sqlite beside the runs)."),
]
Strict = Annotated[bool, typer.Option("--strict", help="A bad case fails the whole set instead of being skipped.")]
