"""`wardround demo`: a complete examination of a small local model."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, note, print_result


def demo(
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Output folder.")] = Path("wardround-demo"),
    as_json: Json = False,
) -> None:
    """Examine a small local model on the starter case set and write the reports."""
    from wardround.demo import demonstrate

    result = demonstrate(folder, note=note)
    reports = [str(report) for report in result.reports]
    print_result({"folder": str(result.folder), "reports": reports}, as_json, "\n".join(reports))
    raise typer.Exit(max(result.starter.exit_code, result.patches.exit_code))
