"""`wardround methods`: the text of a paper from a run; `wardround export`: runs and cases in formats of others."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, note, print_result
from wardround.cli.shared_options import RunPath
from wardround.exporting.formats import FORMATS


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


def export(
    source: Annotated[Path, typer.Argument(metavar="RUN|CASES", help="Run folder, or folder of a case set.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.")],
    out: Annotated[Path, typer.Option(metavar="PATH", help="File or folder to create; nothing is overwritten.")],
    dataset: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME", help="Of eval-results: the benchmark's data set on the Hugging Face Hub."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run or a case set in the format of another project."""
    from wardround.exporting.formats import export

    written = [str(path) for path in export(source, to, out, dataset, note)]
    print_result({"written": written}, as_json, "\n".join(written))
