"""The Results of a run: scores, the same under each condition, confidence, differences, and what was not read."""

from collections.abc import Iterator

from wardround.reporting.checklists.examined import examined
from wardround.reporting.checklists.run_facts import FACTS
from wardround.reporting.labels import is_signed, measure_title, slice_title, slice_words
from wardround.reporting.numbers import count, format_interval, format_value, p_value, percent
from wardround.reporting.reference_condition import ranked_candidates, score_measures
from wardround.reporting.run_files import ComparisonLine, MeasureLine, RunFiles

ALPHA = 0.05
CONFIDENCE_MEASURES = ("confidence", "calibration_shift", "ece", "auroc")
NOTES = {"calibration_shift": " (confidence minus accuracy; above 0 is overconfidence)"}
UNREAD_MEASURES = {"unparsed": "Answers that could not be read", "refused": "Answers refused by the server"}


def results(run: RunFiles) -> Iterator[str]:
    """One paragraph or table after another."""
    for measure in score_measures(run):
        if figures := _figures(run, measure):
            at = "At the reference condition: " if run.varied_axes else ""
            yield f"**{measure_title(measure)}.** {at}{figures}."
    chance = run.manifest.get("chance")
    if chance is not None:
        yield f"A random choice is right in {percent(chance)}% of the choice questions."
    yield from _tables_by_axis(run)
    if run.declared_values("confidence") != ["none"]:
        figures_by_name = {name: _figures(run, name) for name in CONFIDENCE_MEASURES}
        texts = [
            f"{measure_title(name)}{NOTES.get(name, '')}: {figures}."
            for name, figures in figures_by_name.items()
            if figures
        ]
        if texts:
            yield f"**Confidence.** {' '.join(texts)}"
    families = list(dict.fromkeys(line.family for line in run.comparison_lines))
    for family in families:
        lines = [line for line in run.comparison_lines if line.family == family and line.value is not None]
        if lines:
            declared = "not declared before the run" if "not declared" in str(family) else f"family `{family}`"
            yield f"**Comparisons** ({declared}). {' '.join(_comparison(run, line) for line in lines)}"
    if run.manifest.get("acceptance"):
        yield f"**Acceptance.**{as_sentence(FACTS['acceptance'](run))}"
    yield from _unread(run)


def as_sentence(text: str) -> str:
    """A fact as a sentence of its own, after a space; nothing if there is none."""
    text = text.strip().rstrip(".")
    return f" {text[0].upper()}{text[1:]}." if text else ""


def _figures(run: RunFiles, measure: str) -> str:
    """The value of every candidate with its interval; empty without values."""
    lines = [(name, run.find_line(measure, name, {})) for name in ranked_candidates(run)]
    texts = [
        f"{run.printed_name(name)} {_figure(measure, line)}" for name, line in lines if line and line.value is not None
    ]
    return "; ".join(texts)


def _figure(measure: str, line: MeasureLine) -> str:
    interval = format_interval(measure, line.low, line.high)
    bounds = f"95% CI {interval}" if interval else "no interval: too few clusters"
    unit = " points" if is_signed(measure) else "%"
    size = f"; {count(line.clusters)} {'cluster' if line.clusters == 1 else 'clusters'}" if line.clusters else ""
    return f"{format_value(measure, line.value or 0.0)}{unit} ({bounds}{size})"


def _tables_by_axis(run: RunFiles) -> Iterator[str]:
    """Each score under every value of each varied axis, the other axes at their reference values."""
    names = ranked_candidates(run)
    for axis, values in run.varied_axes.items():
        for measure in score_measures(run):
            rows = [(value, [run.find_line(measure, name, {axis: value}) for name in names]) for value in values]
            shown = [(value, lines) for value, lines in rows if any(line and line.value is not None for line in lines)]
            if len(shown) < 2:
                continue
            head = f"| {slice_title(axis)} | {' | '.join(map(run.printed_name, names))} |"
            lines = [f"| {value} | {' | '.join(_cell(measure, line) for line in cells)} |" for value, cells in shown]
            title = f"**{measure_title(measure)} by {slice_title(axis).lower()}**, in % with 95% CI:"
            yield f"{title}\n\n" + "\n".join([head, "|---|" + "---|" * len(names), *lines])


def _cell(measure: str, line: MeasureLine | None) -> str:
    if line is None or line.value is None:
        return "not asked"
    interval = format_interval(measure, line.low, line.high)
    return format_value(measure, line.value) + (f" ({interval})" if interval else " (no interval)")


def _comparison(run: RunFiles, line: ComparisonLine) -> str:
    """One difference, with what it shows: never more than its adjusted p carries."""
    where = f" ({slice_words(line.slice)})" if line.slice else ""
    a, b = run.printed_name(line.a), run.printed_name(line.b)
    value = line.value or 0.0
    interval = "no interval"
    if line.low is not None and line.high is not None:
        interval = f"95% CI {100 * line.low:+.1f} to {100 * line.high:+.1f}"
    p = line.p_adjusted if line.p_adjusted is not None else line.p
    tested = f"adjusted p {_equals(p)}" if line.p_adjusted is not None else f"p {_equals(p)}"
    verdict = "" if p is not None and p < ALPHA else "; no difference shown"
    name = measure_title(line.measure)
    name = name if name[1:2].isupper() else name[:1].lower() + name[1:]
    return f"{a} minus {b} in {name}{where}: {100 * value:+.1f} points ({interval}; {tested}{verdict})."


def _equals(p: float | None) -> str:
    text = p_value(p)
    return text if text.startswith(("<", ">")) else f"= {text}"


def _unread(run: RunFiles) -> Iterator[str]:
    names = ["unparsed", *(["refused"] if run.has_refusals else [])]
    texts = [f"{UNREAD_MEASURES[name]}: {figures}." for name in names if (figures := _figures(run, name))]
    if texts:
        yield f"**Answers not read.** {' '.join(texts)}"
    else:
        yield f"**Answers not read.**{as_sentence(FACTS['unread'](run))}"
    shown = examined(run)
    if shown is not None and "open" in shown.kinds and not run.manifest.get("judge"):
        yield f"The answers to the {count(shown.questions['open'])} open questions were not scored: there was no judge."
