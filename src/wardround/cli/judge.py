"""`wardround judge`: how far a judge can be trusted, against labels by people or another judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wardround.cli.output import Json, finish

app = typer.Typer(no_args_is_help=True, help="Validate the judge of a run, or compare two.")
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder (runs/<name>).")]


@app.command()
def validate(
    run: RunPath,
    labels: Annotated[
        Path, typer.Option("--labels", metavar="FILE", help="CSV or JSONL: case, question (or gold), diagnosis, same.")
    ],
    as_json: Json = False,
) -> None:
    """Compare the judge of a run with labels by people: kappa, sensitivity, specificity, corrected hit@k."""
    from wardround.api import validate_judge

    told = validate_judge(run, labels)
    finish(told, as_json, _validation(told))


@app.command()
def compare(
    run: RunPath,
    other: Annotated[Path | None, typer.Argument(metavar="[OTHER]", help="A second run of the same cases.")] = None,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", metavar="NAME", help="Two of the judges that have judged RUN.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare two judges: those of two runs, or two that have judged one run."""
    from wardround.measuring.validation.judge_validation import compare as compared

    told = compared(run, other, judge or ())
    finish(told, as_json, _comparison(told))


@app.command()
def support(
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="JSONL: document, diagnosis, supports (default: our own pairs)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how often the rule errs that says whether documents support a diagnosis."""
    from wardround.measuring.validation.support_error import read_labels, support_error

    found = support_error(pairs=read_labels(labels) if labels else None)
    told = {"pairs": found.n, **{name: rate._asdict() for name, rate in found._asdict().items()}}
    lines = [f"{found.n} labelled pairs, {'yours' if labels else 'the held-out half of ours'}"]
    lines += [f"{name:12} {_figure(rate)} of {rate['n']}" for name, rate in told.items() if isinstance(rate, dict)]
    finish(told, as_json, "\n".join(lines))


@app.command()
def errors(
    run: RunPath,
    labels: Annotated[
        Path, typer.Option("--labels", metavar="FILE", help="CSV or JSONL: candidate, case, question, trial, class.")
    ],
    as_json: Json = False,
) -> None:
    """Compare the kinds of error that a judge named with those that people did: kappa over all and of each."""
    from wardround.measuring.validation.error_validation import validate_errors

    told = validate_errors(run, labels)
    finish(told, as_json, _error_validation(told))


def _error_validation(told: dict[str, Any]) -> str:
    lines = [
        f"{told['items']} labelled wrong answers of {told['kappa']['clusters']} cases",
        f"{'kappa':34} {_figure(told['kappa'])}",
        f"{'agreement':34} {_figure(told['agreement'])}",
    ]
    for name, found in told["classes"].items():
        said = f"people {found['labelled']}, judge {found['named']}"
        lines.append(f"{name.replace('_', ' '):34} {_figure(found)}; {said}")
    if told["unscored"]:
        lines.append(f"{told['unscored']} labelled answers have no class by the judge and are left out")
    if told["unmatched"]:
        lines.append(f"{len(told['unmatched'])} labels are about no wrong answer: {told['unmatched'][0]}, ...")
    return "\n".join(lines)


def _validation(told: dict[str, Any]) -> str:
    confusion = told["confusion"]
    lines = [
        f"judge {told['judge']}: {told['items']} labelled diagnoses of {told['clusters']} cases",
        *(f"{name:12} {_figure(told[name])}" for name in ("kappa", "agreement", "sensitivity", "specificity")),
        f"both same {confusion['both']:g}, only the label {confusion['reference_only']:g}, "
        f"only the judge {confusion['judge_only']:g}, neither {confusion['neither']:g}",
    ]
    for hit in told["hits"]:
        fixed = _figure({"value": hit["corrected"], "low": hit["low"], "high": hit["high"]})
        lines.append(f"{hit['candidate']}: hit@{hit['k']} {_number(hit['raw'])} as judged, corrected {fixed}")
    if told["unscored"]:
        lines.append(f"{told['unscored']} labelled diagnoses have no verdict and are left out")
    if told["unmatched"]:
        lines.append(f"{len(told['unmatched'])} labels are about nothing that was judged: {told['unmatched'][0]}, ...")
    return "\n".join(lines)


def _comparison(told: dict[str, Any]) -> str:
    table = told["table"]
    lines = [
        f"a: {told['a']}",
        f"b: {told['b']}",
        f"kappa        {_figure(told['kappa'])} over {told['items']} diagnoses",
        f"both same {table['both']:g}, only a {table['a_only']:g}, only b {table['b_only']:g}, "
        f"neither {table['neither']:g}",
        *(f"{'a' if each['a'] else 'b'} only: {each['gold']} = {each['diagnosis']}" for each in told["disagreements"]),
    ]
    return "\n".join(lines)


def _figure(found: dict[str, Any]) -> str:
    interval = "" if found["low"] is None else f" ({found['low']:.3f} to {found['high']:.3f})"
    return _number(found["value"]) + interval


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
