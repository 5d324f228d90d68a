"""`wardround power`: the number of clusters of cases needed to detect a difference."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.output import Json, print_result


def power(
    difference: Annotated[float, typer.Option(help="Difference to detect, as a fraction.")],
    run: Annotated[Path | None, typer.Option(metavar="RUN", help="Run to take the variance from.")] = None,
    measure: Annotated[str, typer.Option(help="With --run: measure; that of a named family is its own.")] = "accuracy",
    accuracy: Annotated[float, typer.Option(help="Without --run: assumed mean accuracy.")] = 0.5,
    correlation: Annotated[
        float, typer.Option(help="Without --run: assumed correlation between the two candidates' answers.")
    ] = 0.3,
    questions: Annotated[int, typer.Option(help="Without --run: questions per cluster.")] = 1,
    within: Annotated[float, typer.Option(help="Without --run: assumed correlation within a cluster.")] = 0.0,
    target_power: Annotated[
        float, typer.Option("--power", help="Target power: the probability of detecting the difference.")
    ] = 0.8,
    comparisons: Annotated[
        int, typer.Option(help="Without --run: comparisons tested together; the level is 5% over all of them.")
    ] = 1,
    family: Annotated[
        str | None,
        typer.Option(
            help="With --run: family whose comparisons are meant (default: the one between candidates by this measure)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the number of clusters of cases needed to detect a difference, from a run or from assumptions.

    A cluster is one case, unless several cases name the same `cluster` (a patient, an image).
    """
    from wardround.api import power as sample_size

    needed = sample_size(
        difference,
        run=run,
        measure=measure,
        accuracy=accuracy,
        correlation=correlation,
        questions=questions,
        within=within,
        power=target_power,
        comparisons=comparisons,
        family=family,
    )
    source = (
        f"assuming an accuracy of {accuracy:g} and a correlation of {correlation:g}"
        if run is None
        else f"with the variance of {run}"
    )
    wanted = f"a difference of {100 * difference:g} points with power {target_power:g}"
    together = f", as one of {needed.comparisons} comparisons" if needed.comparisons > 1 else ""
    print_result(
        needed.__dict__, as_json, f"{needed.clusters:,} clusters of cases to detect {wanted}{together}, {source}"
    )
