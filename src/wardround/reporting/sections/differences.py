"""Paired differences by family; the less important ones are folded."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wardround.measuring.comparing.families import PEOPLE
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judging_note
from wardround.reporting.labels import measure_title, slice_words
from wardround.reporting.numbers import format_interval, join_words, number, percent
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import ComparisonLine, RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

PEOPLE_NOTE = (
    "Each person's answer is compared with the model's mean over its trials of the same question. The figure is the "
    "mean over people, with interval and p over people and cases. It is always given if people are candidates."
)
SIGNIFICANT = 0.05
MAX_OPEN = 6  # a larger family shows only significant differences and those of the best candidate


@dataclass(frozen=True)
class Difference:
    line: ComparisonLine
    sentence: str
    track: Markup
    value: str
    interval: str | None
    cases: str | None  # the address of the cases behind it


@dataclass(frozen=True)
class Differences:
    """One family. `missing` is a sentence about pairs that share no cases."""

    title: str
    note: str
    axis: Markup
    shown: list[Difference]
    folded: list[Difference]
    missing: str


def comparisons(run: RunFiles) -> Section | None:
    if not run.comparison_lines:
        return None
    families = [_family(run, family) for family in dict.fromkeys(line.family for line in run.comparison_lines)]
    judged = judging_note(run, (line.measure for line in run.comparison_lines))
    return Section("comparisons", "Differences", render("sections/comparisons.html", families=families, judged=judged))


def _family(run: RunFiles, family: str | None) -> Differences:
    declaration = (run.study_settings.get("comparisons") or {}).get(family)
    between = (declaration or {}).get("between", "candidate")
    members = [line for line in run.comparison_lines if line.family == family]
    title, note = family or "", ""
    if (family or "").startswith(PEOPLE):
        title, note = title.capitalize(), PEOPLE_NOTE
    elif declaration is None:
        title, note = "All pairs of candidates", "The study declares no comparisons, so all pairs were compared."
    if between == "severity":  # by capability, type and so on there are too many to read
        note = "Over all questions; comparisons.csv has them by capability, skill, category, type and modality."
        members = [line for line in members if list(line.slice) == ["candidate"]]
    lines = [line for line in members if line.value is not None]
    scale = svg.scale_around_zero(end for line in lines for end in (line.low, line.high, line.value) if end is not None)
    best = next((name for name in ranked_candidates(run) if name not in run.people), None)
    shown = [line for line in lines if is_significant(line) or best in (line.a, line.b)]
    if between != "candidate" or len(lines) <= MAX_OPEN:
        shown = lines
    return Differences(
        title=title,
        note=note,
        axis=svg.axis(scale),
        shown=[difference(run, line, describe_difference(line, between), scale) for line in shown],
        folded=[
            difference(run, line, describe_difference(line, between), scale) for line in lines if line not in shown
        ],
        missing=_missing_sentence([line for line in members if line.value is None], between),
    )


def difference(run: RunFiles, line: ComparisonLine, sentence: str, scale: svg.Scale) -> Difference:
    assert line.value is not None
    track = svg.interval(line.value, line.low, line.high, scale=scale, title=sentence)
    interval = format_interval(line.measure, line.low, line.high)
    return Difference(line, sentence, track, percent(line.value), interval, run.cases_link(line.slice))


def describe_difference(line: ComparisonLine, between: str) -> str:
    """A paired difference with its direction in words."""
    if line.value is None:
        return f"{line.a} and {line.b} share no cases."
    slice = dict(line.slice)
    candidate = slice.pop("candidate", None)
    if between == "candidate":
        first, second = line.a, line.b
    else:
        first, second = f"with {between} {line.a}", f"with {between} {line.b}"
        first = f"{candidate}, {first}," if candidate else f"The answer {first}"
    points = f"{number(100 * abs(line.value))} points"
    if line.measure in ("accuracy", "accuracy_parsed", "majority_accuracy"):
        verb = "answers" if between == "candidate" or candidate else "is"
        comparison = (
            f"{points} {'more' if line.value > 0 else 'less'} often right than" if line.value else "as often right as"
        )
        text = f"{first} {verb} {comparison} {second}"
    else:
        direction = "higher" if line.value >= 0 else "lower"
        text = f"{measure_title(line.measure)}: {first} is {points} {direction} than {second}"
    if slice:
        text += f", {slice_words(slice)}"
    may_be_chance = line.value and _final_p(line) is not None and not is_significant(line)
    return f"{text}. This may be chance." if may_be_chance else f"{text}."


def is_significant(line: ComparisonLine) -> bool:
    p = _final_p(line)
    return p is not None and p < SIGNIFICANT


def _final_p(line: ComparisonLine) -> float | None:
    return line.p_adjusted if line.p_adjusted is not None else line.p


def _missing_sentence(lines: Sequence[ComparisonLine], between: str) -> str:
    """The pairs that could not be compared, in one sentence."""
    if not lines:
        return ""
    pairs = [
        " and ".join([line.a, line.b]) + (f" for {line.slice['candidate']}" if "candidate" in line.slice else "")
        for line in lines
    ]
    if between != "candidate" and all("candidate" in line.slice for line in lines):
        names = list(dict.fromkeys(line.slice["candidate"] for line in lines))
        return f"Not compared, because only one value was asked: {join_words(names)}."
    return f"No cases in common: {'; '.join(pairs)}."
