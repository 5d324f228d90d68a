"""The `wardround` command: every failure a person can cause ends in one line and an exit code."""

from __future__ import annotations

import os
import sys

import typer

from wardround.cli import cases
from wardround.core.errors import WardroundError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Examines medical multimodal models the way a hospital examines its doctors.",
)
app.add_typer(cases.app, name="cases")


def main() -> None:
    try:
        app()
    except WardroundError as error:
        print(f"wardround: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        print(f"wardround: {error.filename or 'file system'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("wardround: stopped", file=sys.stderr)
        os._exit(130)
