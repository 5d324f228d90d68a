"""Runs the command with a planted death: `dying_run.py WHERE COMMAND...` kills its own process with SIGKILL.

WHERE is commit (the rows are written, the commit has not come), marking (half of the marks are made) or never.
"""

from __future__ import annotations

import os
import signal
import sys

import wardround.api as examination
from wardround.cli.main import main
from wardround.marking import marks
from wardround.running.store import Store

COMMITS = 20


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_inside_a_commit() -> None:
    write_one = Store._write_one
    written = 0

    def dying(connection, waiting):
        nonlocal written
        kept = write_one(connection, waiting)
        written += 1
        if written == COMMITS:
            assert connection.in_transaction
            die()
        return kept

    Store._write_one = staticmethod(dying)


def die_while_marking() -> None:
    judge = marks.judge
    marked = 0

    def dying(*arguments):
        nonlocal marked
        marked += 1
        if marked == 200:
            die()
        return judge(*arguments)

    marks.judge = dying


if __name__ == "__main__":
    assert examination.mark is marks.mark
    where = sys.argv.pop(1)
    {"commit": die_inside_a_commit, "marking": die_while_marking, "never": lambda: None}[where]()
    main()
