"""`wardround selfcheck`: checks that measures recover planted values and that intervals cover the truth."""

from typing import Annotated, Any

import typer

from wardround.cli.output import Json, note, print_result


def selfcheck(
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Measure the coverage of intervals, by class; takes some minutes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Examine simulated respondents with planted values, and compare the estimates with them."""
    result, lines, passed = _check_coverage() if coverage else _check_planted()
    print_result(result, as_json, "\n".join(lines))
    raise typer.Exit(0 if passed else 1)


def _check_planted() -> tuple[dict[str, Any], list[str], bool]:
    from wardround.selfcheck.planted import run_selfcheck

    rows = run_selfcheck(note)
    lines = []
    for row in rows:
        plant = row.plant
        interval = f"{row.low:.3f} to {row.high:.3f}" if row.low is not None and row.high is not None else "no interval"
        value = "missing" if row.value is None else f"{row.value:.3f}"
        place = "" if plant.slice == "{}" else plant.slice
        lines.append(
            f"{plant.measure:<25} {plant.candidate:<20} {place:<32} planted {plant.truth:6.3f}  found {value:>7} "
            f"({interval}) {'covered' if row.covered else 'outside'}, {'' if row.is_as_planted else 'NOT '}as planted"
            f"{' (counter-plant)' if plant.counter else ''}"
        )
    missed, covered = sum(not row.is_as_planted for row in rows), sum(row.covered for row in rows)
    lines.append(f"{len(rows) - missed} of {len(rows)} as planted; {covered} inside their 95% interval")
    return {"rows": [row.to_dict() for row in rows], "covered": covered, "as_planted": not missed}, lines, not missed


def _check_coverage() -> tuple[dict[str, Any], list[str], bool]:
    from wardround.selfcheck.interval_coverage import COVERAGE_LIMITS, measure_coverage

    rows = measure_coverage(note=note)
    records, lines = [], []
    for row in rows:
        truth, (low, high) = row.truth, COVERAGE_LIMITS[row.truth.kind]
        limits = f"{low:.2f} to {high:.2f}: {'met' if row.is_met else 'MISSED'}"
        place = "" if truth.slice == "{}" else truth.slice
        lines.append(
            f"{truth.kind:<9} {truth.measure:<18} {place:<20} truth {truth.value:7.4f}  "
            f"covered {row.coverage:.4f} ({'as it is' if truth.kind == 'biased' else limits})"
        )
        records.append({**truth.__dict__, "coverage": row.coverage, "repeats": row.repeats, "met": row.is_met})
    met = all(row.is_met for row in rows)
    return {"rows": records, "met": met}, lines, met
