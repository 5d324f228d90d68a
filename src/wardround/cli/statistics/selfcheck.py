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
    from wardround.selfcheck.planted import max_misses, run_selfcheck

    rows = run_selfcheck(note)
    lines = []
    for row in rows:
        plant = row.plant
        interval = f"{row.low:.3f} to {row.high:.3f}" if row.low is not None and row.high is not None else "no interval"
        value = "missing" if row.value is None else f"{row.value:.3f}"
        place = "" if plant.slice == "{}" else plant.slice
        lines.append(
            f"{plant.measure:<25} {plant.candidate:<20} {place:<32} planted {plant.truth:6.3f}  found {value:>7} "
            f"({interval}) {'' if row.is_as_planted else 'NOT '}as planted{' (counter-plant)' if plant.counter else ''}"
        )
    missed, allowed = sum(not row.is_as_planted for row in rows), max_misses(len(rows))
    lines.append(f"{len(rows) - missed} of {len(rows)} inside their 95% interval; at most {allowed} may be outside")
    result = {"rows": [row.to_dict() for row in rows], "missed": missed, "allowed": allowed}
    return result | {"as_planted": missed <= allowed}, lines, missed <= allowed


def _check_coverage() -> tuple[dict[str, Any], list[str], bool]:
    from wardround.selfcheck.acceptance_level import measure_acceptance
    from wardround.selfcheck.comparison_coverage import measure_comparisons
    from wardround.selfcheck.interval_coverage import measure_coverage

    rows = [*measure_coverage(note=note), *measure_comparisons(note=note), *measure_acceptance(note=note)]
    lines = []
    for row in rows:
        truth, (low, high) = row.truth, row.limits
        name = truth.measure if truth.slice == "{}" else f"{truth.measure} {truth.slice}"
        lines.append(
            f"{row.design:<34} {name:<32} {row.clusters:>4} clusters, T = {row.trials}  {row.coverage:.3f} "
            f"(mean width {row.width:.3f}; {low:.2f} to {high:.2f}: {'met' if row.is_met else 'MISSED'})"
        )
    met = all(row.is_met for row in rows)
    lines.append(f"{sum(row.is_met for row in rows)} of {len(rows)} met")
    return {"rows": [row.to_dict() for row in rows], "met": met}, lines, met
