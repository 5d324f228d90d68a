"""The option --about of every build: what people say of the set as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from wardround.building.pipeline.about import About as Told

About = Annotated[
    Path | None,
    typer.Option(metavar="TOML", help="Licence, url, creator, datePublished and so on, for manifest and Croissant."),
]


def told_about(file: Path | None) -> Told | None:
    """What the file says, if one is given."""
    from wardround.building.pipeline.about import read_about

    return read_about(file) if file else None
