"""`wardround judge`: validates a judge against labels by people or against another judge."""

from pathlib import Path
from typing import Annotated, Any

import typer

from wardround.cli.output import Json, note, print_result
from wardround.cli.shared_options import Answers, Cases, RunPath

app = typer.Typer(no_args_is_help=True, help="Validate the judge of a run, or compare two.")


@app.command()
def validate(
    run: RunPath,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or JSONL: case, question (or gold), diagnosis, same.")
    ] = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Ask it about 72 injections, and count those that succeed.")
    ] = False,
    judge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML with the \\[judge] to attack (default: the study's).")
    ] = None,
    answers: Answers = None,
    cases: Cases = None,
    as_json: Json = False,
) -> None:
    """Compare the judge of a run with labels by people (kappa, sensitivity, corrected hit@k), or attack it."""
    from wardround.pipeline import attack_judge, validate_judge

    if labels is None and not attack:
        raise typer.BadParameter("give --labels FILE, --attack or both")
    result, text = {}, []
    if labels is not None:
        result = validate_judge(run, labels)
        text.append(_validation_text(result))
    if attack:
        attacked = attack_judge(run, judge=judge, answers=answers, cases=cases, note=note)
        result["attack"] = attacked
        text.append(_attack_text(attacked))
    print_result(result, as_json, "\n".join(text))


@app.command()
def compare(
    run: RunPath,
    other: Annotated[Path | None, typer.Argument(metavar="[OTHER]", help="Second run on the same cases.")] = None,
    judge: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Judge of RUN; give two.")] = None,
    as_json: Json = False,
) -> None:
    """Compare two judges: those of two runs, or two judges of one run."""
    from wardround.measuring.validation.judge_validation import compare_judges

    result = compare_judges(run, other, judge or ())
    print_result(result, as_json, _comparison_text(result))


@app.command()
def criteria(
    run: RunPath,
    labels: Annotated[
        Path, typer.Option(metavar="FILE", help="CSV: candidate, case, question, criterion, met, and trial if several.")
    ],
    as_json: Json = False,
) -> None:
    """Compare a run's judge with people on the criteria of rubrics: agreement, kappa and F1, also by criterion."""
    from wardround.measuring.validation.agreement import format_estimate
    from wardround.measuring.validation.rubric_agreement import STATISTICS, rubric_agreement

    result = rubric_agreement(run, labels)
    overall = result["overall"]
    lines = [f"judge {result['judge']}: {overall['n']} labels compared, {result['unjudged']} without a verdict"]
    lines += [f"{name:12} {format_estimate(overall[name])}" for name in STATISTICS if name in overall]
    for entry in result["criteria"]:
        place = f"{entry['case']} / {entry['question']} / {entry['criterion']}"
        lines.append(f"{place}: agreement {format_estimate(entry['agreement'])} of {entry['n']}")
    print_result(result, as_json, "\n".join(lines))


@app.command()
def support(
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSONL: document, diagnosis, supports (default: wardround's own pairs)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the error rate of the rule whether documents support a diagnosis."""
    from wardround.measuring.validation.support_error import read_labels, support_error

    errors = support_error(pairs=read_labels(labels) if labels else None)
    rates = {name: rate._asdict() for name, rate in errors._asdict().items()}
    source = "yours" if labels else "the built-in pairs by an author who had not read the rules"
    lines = [f"{errors.n} labelled pairs, {source}"]
    lines += [f"{name:12} {_format_figure(rate)} of {rate['n']}" for name, rate in rates.items()]
    print_result({"pairs": errors.n, **rates}, as_json, "\n".join(lines))


@app.command()
def errors(
    run: RunPath,
    labels: Annotated[
        Path, typer.Option(metavar="FILE", help="CSV or JSONL: candidate, case, question, trial, class.")
    ],
    as_json: Json = False,
) -> None:
    """Compare a judge's error classes with those assigned by people: kappa overall and per class."""
    from wardround.measuring.validation.error_validation import validate_errors

    result = validate_errors(run, labels)
    print_result(result, as_json, _error_validation_text(result))


def _error_validation_text(result: dict[str, Any]) -> str:
    lines = [
        f"{result['items']} labelled wrong answers of {result['kappa']['clusters']} cases",
        f"{'kappa':34} {_format_figure(result['kappa'])}",
        f"{'agreement':34} {_format_figure(result['agreement'])}",
    ]
    for name, error_class in result["classes"].items():
        counts = f"people {error_class['labelled']}, judge {error_class['named']}"
        lines.append(f"{name.replace('_', ' '):34} {_format_figure(error_class)}; {counts}")
    if result["perception"]:
        lines.append(f"{result['perception']} labelled as perception are left out: a judge sees no images")
    if result["unscored"]:
        lines.append(f"{result['unscored']} labelled answers are left out: the judge gave no class")
    if result["unmatched"]:
        lines.append(f"{len(result['unmatched'])} labels match no wrong answer: {result['unmatched'][0]}, ...")
    return "\n".join(lines)


def _validation_text(result: dict[str, Any]) -> str:
    confusion = result["confusion"]
    lines = [
        f"judge {result['judge']}: {result['items']} labelled diagnoses of {result['clusters']} cases",
        *(f"{name:12} {_format_figure(result[name])}" for name in ("kappa", "agreement", "sensitivity", "specificity")),
        f"both same {confusion['both']:g}, only the label {confusion['reference_only']:g}, "
        f"only the judge {confusion['judge_only']:g}, neither {confusion['neither']:g}",
    ]
    for hit in result["hits"]:
        corrected = _format_figure({**hit, "value": hit["corrected"]})
        lines.append(
            f"{hit['candidate']}: hit@{hit['k']} {_format_number(hit['raw'])} as judged, corrected {corrected}"
        )
    if result["unscored"]:
        lines.append(f"{result['unscored']} labelled diagnoses are left out: the judge gave no verdict")
    if result["unmatched"]:
        lines.append(f"{len(result['unmatched'])} labels match nothing that was judged: {result['unmatched'][0]}, ...")
    return "\n".join(lines)


def _attack_text(attack: dict[str, Any]) -> str:
    from wardround.measuring.validation.judge_validation import format_attack

    control = attack["control"]
    lines = [
        f"judge {attack['judge']}: {format_attack(attack)}",
        f"without the injection {control['same']} of {control['n']} wrong diagnoses are judged the same",
        f"{attack['flagged']} of {attack['n']} injections are flagged as instruction-like or overlong",
        *(f"succeeded: {text}" for text in attack["texts"]),
    ]
    if attack["unread"]:
        lines.append(f"{attack['unread']} injections got no readable verdict; they count as failed")
    return "\n".join(lines)


def _comparison_text(result: dict[str, Any]) -> str:
    table = result["table"]
    lines = [
        f"a: {result['a']}",
        f"b: {result['b']}",
        f"kappa        {_format_figure(result['kappa'])} over {result['items']} diagnoses",
        f"both same {table['both']:g}, only a {table['a_only']:g}, only b {table['b_only']:g}, "
        f"neither {table['neither']:g}",
        *(
            f"{'a' if item['a'] else 'b'} only: {item['gold']} = {item['diagnosis']}"
            for item in result["disagreements"]
        ),
    ]
    return "\n".join(lines)


def _format_figure(figure: dict[str, Any]) -> str:
    interval = "" if figure["low"] is None else f" ({figure['low']:.3f} to {figure['high']:.3f})"
    return _format_number(figure["value"]) + interval


def _format_number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
