"""`wardround selfcheck`: does every measure find what was planted?"""

from __future__ import annotations

import typer

from wardround.cli.output import Json, finish, note


def selfcheck(as_json: Json = False) -> None:
    """Run respondents with a planted truth through the real path, and compare what is found."""
    from wardround.selfchecking import Row, selfcheck

    rows = selfcheck(note)

    def line(row: Row) -> str:
        plant, shown = row.plant, "counter-plant" if row.plant.counter else ""
        interval = f"{row.low:.3f} to {row.high:.3f}" if row.low is not None and row.high is not None else "no interval"
        value = "missing" if row.value is None else f"{row.value:.3f}"
        verdict = "as planted" if row.found else "NOT AS PLANTED"
        where = "" if plant.slice == "{}" else plant.slice
        return (
            f"{plant.measure:<24} {plant.candidate:<22} {where:<26} {plant.version:<8} planted {plant.truth:6.3f}  "
            f"found {value:>7} ({interval}) {'covered' if row.covered else 'outside':<8} {verdict} {shown}"
        )

    missed = [row for row in rows if not row.found]
    covered = sum(row.covered for row in rows)
    closing = f"{len(rows) - len(missed)} of {len(rows)} as planted; {covered} inside their 95% interval"
    told = {"rows": [row.told() for row in rows], "as_planted": not missed, "covered": covered}
    finish(told, as_json, "\n".join([*map(line, rows), closing]))
    raise typer.Exit(1 if missed else 0)
