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
Candidate = Annotated[
    list[str] | None,
    typer.Option("--candidate", metavar="NAME=...", help="NAME=PROVIDER or NAME=ADDRESS, then ,key=value ..."),
]
Candidates = Annotated[
    Path | None, typer.Option("--candidates", metavar="FILE", help="A TOML file of candidates, as a study has them.")
]
Judge = Annotated[
    str | None, typer.Option("--judge", metavar="PROVIDER,...", help="Who marks open answers (default: lexical).")
]
LiteratureIndex = Annotated[
    str | None,
    typer.Option("--index", metavar="INDEX", help="Where evidence comes from: what `literature build` made."),
]
