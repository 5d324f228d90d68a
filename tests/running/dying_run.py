"""Runs the command with a planted death: `dying_run.py WHERE COMMAND...` kills its own process with SIGKILL.

WHERE is commit (rows are written but not committed), marking (half of the marks are made) or never.
"""

from __future__ import annotations

import os
import signal
import sys

from wardround.cli.main import main
from wardround.marking import marks
from wardround.running.store.writes import Write

COMMITS = 20


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_inside_a_commit() -> None:
    apply = Write.apply
    written = 0

    def dying(write, connection):
        nonlocal written
        stored = apply(write, connection)
        written += 1
        if written == COMMITS:
            assert connection.in_transaction
            die()
        return stored

    Write.apply = dying


def die_while_marking() -> None:
    judge = marks.mark_answer
    marked = 0

    def dying(*arguments):
        nonlocal marked
        marked += 1
        if marked == 200:
            die()
        return judge(*arguments)

    marks.mark_answer = dying


if __name__ == "__main__":
    where = sys.argv.pop(1)
    {"commit": die_inside_a_commit, "marking": die_while_marking, "never": lambda: None}[where]()
    main()
