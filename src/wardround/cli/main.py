"""The `wardround` command: every failure a person can cause ends in one line and an exit code."""

from __future__ import annotations

import os
import sqlite3
import sys
from typing import Annotated

import typer

from wardround import __version__
from wardround.cli import (
    bench,
    cases,
    check,
    degrade,
    demo,
    desk,
    grid,
    judge,
    mark,
    power,
    published,
    report,
    run,
    selfcheck,
)
from wardround.cli.build import command as build
from wardround.cli.build import dicom as build_dicom
from wardround.cli.build import journals as build_journals
from wardround.cli.build import ophthalmic as build_ophthalmic
from wardround.cli.build import review as build_review
from wardround.cli.lists import TakesLists
from wardround.cli.literature import command as literature
from wardround.core.errors import WardroundError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Examines medical multimodal models the way a hospital examines its doctors.",
)


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"wardround {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Takes what stands before the command."""


app.command()(demo.demo)
app.add_typer(cases.app, name="cases")
build.app.command()(build_dicom.dicom)
build.app.command()(build_ophthalmic.ophthalmic)
build.app.command(cls=TakesLists)(build_review.review)
build_journals.add_to(build.app)
app.add_typer(build.app, name="build")
app.command(cls=TakesLists)(degrade.degrade)
app.add_typer(literature.app, name="literature")
app.command()(check.check)
app.command()(run.run)
app.command()(mark.mark)
app.add_typer(judge.app, name="judge")
app.command()(report.report)
app.command()(bench.bench)
app.command()(grid.grid)
app.command()(published.published)
app.command()(power.power)
app.command()(selfcheck.selfcheck)
app.command()(desk.desk)


def main() -> None:
    try:
        app()
    except WardroundError as error:
        say(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        say(f"{error.filename or 'file system'}: {error.strerror or error}")
        sys.exit(1)
    except sqlite3.Error as error:
        say(f"the answer store: {error}")
        sys.exit(1)
    except SystemExit as exit:
        if not isinstance(exit.__context__ and exit.__context__.__cause__, KeyboardInterrupt):
            raise
        say("stopped")  # typer made an exit of Ctrl-C; it is not to wait for work that is under way
        sys.stdout.flush()
        os._exit(130)


def say(line: str) -> None:
    print("wardround: " + " ".join(line.split()), file=sys.stderr, flush=True)
