"""`wardround selfcheck`: does every measure find what was planted, and do intervals hold the truth?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wardround.cli.output import Json, finish, note


def selfcheck(
    coverage: Annotated[
        bool, typer.Option("--coverage", help="How often intervals hold the truth, by class; takes some minutes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run respondents with a planted truth through the real path, and compare what is found."""
    told, lines, passed = _covered() if coverage else _planted()
    finish(told, as_json, "\n".join(lines))
    raise typer.Exit(0 if passed else 1)


def _planted() -> tuple[dict[str, Any], list[str], bool]:
    from wardround.selfcheck.planted import selfcheck

    rows = selfcheck(note)
    lines = []
    for row in rows:
        plant = row.plant
        interval = f"{row.low:.3f} to {row.high:.3f}" if row.low is not None and row.high is not None else "no interval"
        value = "missing" if row.value is None else f"{row.value:.3f}"
        where = " ".join(filter(None, ("" if plant.slice == "{}" else plant.slice, plant.version)))
        lines.append(
            f"{plant.measure:<24} {plant.candidate:<20} {where:<32} planted {plant.truth:6.3f}  found {value:>7} "
            f"({interval}) {'covered' if row.covered else 'outside'}, {'' if row.found else 'NOT '}as planted"
            f"{' (counter-plant)' if plant.counter else ''}"
        )
    missed, covered = sum(not row.found for row in rows), sum(row.covered for row in rows)
    lines.append(f"{len(rows) - missed} of {len(rows)} as planted; {covered} inside their 95% interval")
    return {"rows": [row.told() for row in rows], "covered": covered, "as_planted": not missed}, lines, not missed


def _covered() -> tuple[dict[str, Any], list[str], bool]:
    from wardround.selfcheck.interval_coverage import CLASSES, coverage

    rows = coverage(note=note)
    told, lines = [], []
    for row in rows:
        truth, (low, high) = row.truth, CLASSES[row.truth.kind]
        bar = "as it is" if truth.kind == "biased" else f"{low:.2f} to {high:.2f}: {'met' if row.met else 'MISSED'}"
        where = " ".join(filter(None, ("" if truth.slice == "{}" else truth.slice, truth.version)))
        lines.append(
            f"{truth.kind:<9} {truth.measure:<18} {where:<20} truth {truth.value:7.4f}  "
            f"covered {row.coverage:.4f} ({bar})"
        )
        told.append({**truth.__dict__, "coverage": row.coverage, "repeats": row.repeats, "met": row.met})
    met = all(row.met for row in rows)
    return {"rows": told, "met": met}, lines, met
