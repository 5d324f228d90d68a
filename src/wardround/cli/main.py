"""The `wardround` command: every user error ends in one line and an exit code."""

import os
import sqlite3
import sys
from functools import cache
from typing import Annotated, Any

import typer

from wardround import __version__
from wardround.cli import (
    bench,
    build,
    cases,
    check,
    degrade,
    desk,
    export,
    grid,
    installed,
    judge,
    literature,
    mark,
    prompts,
    report,
    run,
    site,
    view,
)
from wardround.cli.shared_options import ListOptionCommand, PluginFiles, PluginGroup
from wardround.cli.statistics import power, selfcheck
from wardround.cli.store import answers, batches
from wardround.core.errors import WardroundError, describe_unreadable

app = typer.Typer(
    cls=PluginGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Examines medical multimodal models the way a hospital examines its doctors.",
)


def print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"wardround {__version__}")
        raise typer.Exit


@app.callback()
def global_options(
    plugin_files: PluginFiles = None,
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    from wardround.plugins import load_file

    for file in plugin_files or []:
        load_file(file)


app.command()(run.demo)
app.add_typer(cases.app, name="cases")
app.add_typer(build.app, name="build")
app.command(cls=ListOptionCommand)(degrade.degrade)
app.add_typer(literature.app, name="literature")
app.command()(check.check)
app.command()(run.run)
app.command()(mark.mark)
app.add_typer(judge.app, name="judge")
app.add_typer(prompts.app, name="prompts")
app.add_typer(answers.app, name="answers")
app.add_typer(batches.app, name="batches")
app.command()(report.report)
app.command()(view.view)
app.command()(site.site)
app.command()(export.methods)
app.command()(export.export)
app.command()(bench.bench)
app.command()(grid.grid)
app.command()(bench.published)
app.command()(power.power)
app.command()(selfcheck.selfcheck)
app.command()(desk.desk)
app.command()(installed.plugins)
app.command()(installed.licences)


@cache
def root_command() -> Any:
    """All commands with their options; a process that runs several, as tests do, makes them once."""
    return typer.main.get_command(app)


def main() -> None:
    try:
        root_command()()
    except WardroundError as error:
        print_error(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        print_error(f"{error.filename or 'file system'}: {describe_unreadable(error)}")
        sys.exit(1)
    except sqlite3.Error as error:
        print_error(f"the answer store: {error}")
        sys.exit(1)
    except SystemExit as exit:
        if not isinstance(exit.__context__ and exit.__context__.__cause__, KeyboardInterrupt):
            raise
        print_error("stopped")  # typer turned Ctrl-C into an exit, which must not wait for running work
        sys.stdout.flush()
        os._exit(130)


def print_error(line: str) -> None:
    print("wardround: " + " ".join(line.split()), file=sys.stderr, flush=True)
