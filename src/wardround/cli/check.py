"""`wardround check`: checks data and keys, asks each candidate its hardest Asks, and estimates tokens and cost."""

from typing import Annotated, Any

import typer

from wardround.cli.output import Json, note, print_result, table_text
from wardround.cli.shared_options import Answers, Runs, Strict, StudyFile
from wardround.running.settings.verdict import SettingVerdict


def check(
    study: StudyFile,
    runs: Runs = None,
    answers: Answers = None,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Freeze study, cases, comparisons and endpoints before the first answer.")
    ] = False,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Check a study before it costs money: data, keys, the hardest asks of each candidate, counts, tokens and cost."""
    from wardround.preflight import check_study
    from wardround.reporting.tables.settings_table import settings_table

    checked = check_study(study, runs=runs, answers=answers, strict=strict, freeze=freeze, note=note)
    summary = checked.summary
    lines = [
        *summary["problems"],
        f"{summary['cases']:,} cases, {summary['questions']:,} questions; {summary['announced']}",
    ]
    for candidate in summary["candidates"]:
        lines += _describe(candidate)
    verdicts = {candidate["name"]: _verdicts(candidate) for candidate in summary["candidates"]}
    if (settings := settings_table(verdicts)) is not None:
        lines += ["", table_text(settings), ""]
    if judge := summary.get("judge"):
        lines.append(f"judge: {'answers' if judge['answers'] else 'does not answer: ' + judge['why']}")
        lines += [f"  warning: {warning}" for warning in judge["warnings"]]
    print_result(summary, as_json, "\n".join(lines))
    raise typer.Exit(0 if checked.ready else 3)


def _verdicts(candidate: dict[str, Any]) -> list[SettingVerdict]:
    return [SettingVerdict.from_dict(record) for record in candidate["settings"]]


def _failing(candidate: dict[str, Any]) -> str:
    return "not ready" if candidate["replies"]["answers"] else "does not answer"


def _describe(candidate: dict[str, Any]) -> list[str]:
    """The lines about one candidate."""
    status = "answers" if candidate["answers"] else f"{_failing(candidate)}: {candidate['why']}"
    cost = f", about {candidate['cost']:.2f} USD" if candidate["cost"] else ""
    at_most = "" if candidate["is_measured"] else "at most "
    lines = [
        f"{candidate['name']}: {status}; stored {candidate['stored']:,}, new {candidate['new']:,}, about "
        f"{candidate['tokens_in']:,} input tokens and {at_most}{candidate['tokens_out']:,} output tokens{cost}"
    ]
    replies = candidate["replies"]
    if replies["answers"]:
        counts = [f"{replies[name]} {name}" for name in ("read", "cut", "empty") if replies[name] or name == "read"]
        counts += [f"{count} refused ({reason})" for reason, count in replies["refused"].items()]
        lines.append(f"  asked {replies['units']} of the hardest: {replies['answers']} replies, {', '.join(counts)}")
    if candidate["sees"] == "seen":
        lines.append("  it sees: it read a number in an image")
    if candidate["probe_calls"]:
        lines.append(
            f"  {candidate['probe_calls']} calls to see which settings take effect; their replies are not kept"
        )
    lines += [f"  the server {adaptation}" for adaptation in candidate["adaptations"]]
    lines += [f"  inapplicable: {count:,} ({reason})" for reason, count in candidate["inapplicable"].items()]
    return lines + [f"  warning: {warning}" for warning in candidate["warnings"]]
