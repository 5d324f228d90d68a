"""`wardround methods`: the text of a paper from a run."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, print_result
from wardround.cli.shared_options import RunPath


def methods(
    run: RunPath,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Markdown file to write (default: methods.md in the run).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the Methods and Results of a paper: all figures, limitations, reporting guidelines, and BibTeX."""
    from wardround.exporting.methods.text import write_methods

    text, references = write_methods(run, out)
    print_result({"text": str(text), "references": str(references)}, as_json, f"{text}\n{references}")
