"""Claims: what the figures show of one candidate, each as a sentence.

A claim is made only if its adjusted test carries it (figures.py). Otherwise the sentence says that nothing is shown,
with the interval. Counts, such as unread answers, are facts and are tested against nothing.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from wardround.reporting.labels import slice_title
from wardround.reporting.numbers import count, format_interval, join_words, number, p_value, percent
from wardround.reporting.run_files import ComparisonLine, RunFiles
from wardround.reporting.summary.figures import (
    ALPHA,
    GroupDifference,
    SummaryFigures,
    TestedLine,
    is_shown,
    of_candidate,
)

Tone = Literal["good", "bad", "open", "plain"]
MAX_NAMES = 3
NOTABLE = 0.05  # a share of unread or refused answers that is marked; our choice
IMAGE_WORDS = {
    "swapped": "another case's image",
    "blank": "a blank image",
    "none": "no image",
}


@dataclass(frozen=True)
class SummaryClaim:
    """`finding` is the sentence in two or three words; `is_shown` claims rest on a test."""

    kind: str
    finding: str
    sentence: str
    tone: Tone
    is_shown: bool = False


def claims(run: RunFiles, figures: SummaryFigures, candidate: str) -> list[SummaryClaim]:
    """Everything that is said of one candidate, in the order of reading."""
    rules: tuple[Callable[[SummaryFigures, str], SummaryClaim | None], ...] = (
        against_chance,
        against_others,
        against_people,
        image_use,
        option_use,
        degradation,
        patient_group,
        stage,
        confidence,
        unread,
    )
    made = [rule(figures, candidate) for rule in rules]
    if candidate in run.text_only:
        made = [BLIND if claim is not None and claim.kind == "images" else claim for claim in made]
        if not any(claim is BLIND for claim in made):
            made.insert(3, BLIND)
    return [claim for claim in made if claim is not None]


BLIND = SummaryClaim("images", "text only", "It does not see: it answered from the text alone.", "plain")


def against_chance(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """How often it is right, and whether that is more often than by guessing."""
    line = figures.scores.get(candidate)
    if line is None or line.value is None:
        return None
    interval = format_interval(line.measure, line.low, line.high)
    score = f"Right in {percent(line.value)}% of its answers ({interval or 'too few cases for an interval'})"
    if line.measure != "accuracy":
        score = f"Names the diagnosis first in {percent(line.value)}% of its answers ({interval or 'no interval'})"
    tested = figures.against_chance.get(candidate)
    if figures.chance is None or tested is None:
        return SummaryClaim("chance", "score", f"{score}.", "plain")
    guessing = f"guessing ({percent(figures.chance)}%)"
    if not tested.is_shown:
        return SummaryClaim("chance", "not above guessing", f"{score}: no difference from {guessing} is shown.", "bad")
    if line.value > figures.chance:
        return SummaryClaim("chance", "above guessing", f"{score}: more often than by {guessing}.", "good", True)
    return SummaryClaim("chance", "below guessing", f"{score}: less often than by {guessing}.", "bad", True)


def against_others(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """The candidates that it is shown to be better or worse than, and those of which no difference is shown."""
    pairs = figures.pairs_of(candidate)
    if not pairs:
        return None
    better = [name for name, line in pairs.items() if is_shown(line) and (line.value or 0.0) > 0]
    worse = [name for name, line in pairs.items() if is_shown(line) and (line.value or 0.0) < 0]
    same = [name for name in pairs if name not in (*better, *worse)]
    parts = [f"more often right than {_names(better, pairs)}"] if better else []
    if worse:
        parts.append(f"less often {'' if better else 'right '}than {_names(worse, pairs)}")
    text = " and ".join(parts)
    if same:
        none_shown = f"no difference from {_names(same, pairs)} is shown"
        text = f"{text}; {none_shown}" if text else none_shown
    finding = "beaten" if worse else "none better shown"
    tone: Tone = "bad" if worse and not better else "plain"
    return SummaryClaim("others", finding, _sentence(text), tone, bool(better or worse))


def against_people(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """Its difference from each group of people, on the questions that they answered."""
    lines = [line for line in figures.people if line.a == candidate and line.value is not None]
    if not lines:
        return None
    parts = [_against_people(line) for line in lines]
    shown = [line for line in lines if is_shown(line)]
    is_worse = any((line.value or 0.0) < 0 for line in shown)
    finding = "below people" if is_worse else "above people" if shown else "people: not shown"
    tone: Tone = "bad" if is_worse else "good" if shown else "open"
    return SummaryClaim("people", finding, _sentence("; ".join(parts)), tone, bool(shown))


def _against_people(line: ComparisonLine) -> str:
    if not is_shown(line):
        return f"no difference from {line.b} is shown ({_points_interval(line)})"
    return f"right {_more_or_less(line)} often than {line.b} ({_points_interval(line)})"


def image_use(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """Whether it is right more often with the case's own images than with others or none."""
    lines = {line.a: line for line in of_candidate(figures.images, candidate)}
    if not lines:
        return None
    losses = {value: line for value, line in lines.items() if is_shown(line) and (line.value or 0.0) < 0}
    gains = {value: line for value, line in lines.items() if is_shown(line) and (line.value or 0.0) > 0}
    words = {value: f"with {IMAGE_WORDS.get(value, value)} {_change(line)}" for value, line in lines.items()}
    if gains:
        text = f"its images mislead it: {join_words([words[value] for value in gains])}"
        return SummaryClaim("images", "misled by images", _sentence(text), "bad", True)
    if not losses:
        text = f"it is not shown to look at the images: {join_words(list(words.values()))}"
        return SummaryClaim("images", "not shown to look", _sentence(text), "bad")
    shown = join_words([words[value] for value in losses])
    if "swapped" in lines and "swapped" not in losses:
        text = f"it needs an image, but not this one: {shown}, yet {words['swapped']}"
        return SummaryClaim("images", "any image will do", _sentence(text), "bad", True)
    return SummaryClaim("images", "looks at the images", _sentence(f"it looks at the images: {shown}"), "good", True)


def option_use(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """Whether it finds the answer from the options alone."""
    tested = figures.options_only.get(candidate)
    if tested is None or tested.line.value is None or figures.chance is None:
        return None
    score = f"with the options alone it is right in {_figure(tested)}"
    guessing = f"guessing ({percent(figures.chance)}%)"
    if tested.is_shown and tested.line.value > figures.chance:
        text = f"it can find answers from the options alone: {score}, more often than by {guessing}"
        return SummaryClaim("options", "leans on the options", _sentence(text), "bad", True)
    text = f"{score}: not shown to be above {guessing}"
    return SummaryClaim("options", "options alone: not shown", _sentence(text), "plain")


def degradation(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """The largest loss with degraded images that is shown."""
    lines = of_candidate(figures.degradations, candidate)
    losses = sorted(
        (line for line in lines if is_shown(line) and (line.value or 0.0) < 0), key=lambda line: line.value or 0.0
    )
    if not lines:
        return None
    if not losses:
        tested = "the degradation" if len(lines) == 1 else f"any of {len(lines)} degradations"
        return SummaryClaim("degradation", "no loss shown", _sentence(f"no loss with {tested} is shown"), "plain")
    worst, more = losses[0], len(losses) - 1
    text = f"it loses most with {_degradation_name(worst)}: {_change(worst)}, adjusted p {p_value(worst.p_adjusted)}"
    text += f"; a loss is shown with {count(more)} more of {len(lines)} degradations" if more else ""
    return SummaryClaim("degradation", f"breaks: {_degradation_name(worst)}", _sentence(text), "bad", True)


def patient_group(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """The group of patients that it is shown to be worse in than in the rest."""
    return _worst_group("group", "group of patients", figures.groups.get(candidate, ()))


def stage(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """The stage of a chain that it is shown to be worse at than at the others."""
    return _worst_group("stage", "stage", figures.stages.get(candidate, ()))


def _worst_group(kind: str, noun: str, groups: Sequence[GroupDifference]) -> SummaryClaim | None:
    if not groups:
        return None
    shown = [group for group in groups if group.p <= ALPHA and group.value < group.rest]
    if not shown:
        return SummaryClaim(kind, "no loss shown", f"No {noun} is shown to be worse than the rest.", "plain")
    worst = min(shown, key=lambda group: group.value - group.rest)
    text = (
        f"it is worse in {_group_name(worst.slice)} than in the rest: {percent(worst.value)}% right, "
        f"{number(100 * (worst.rest - worst.value))} points less ({percent(-worst.high)} to {percent(-worst.low)}), "
        f"adjusted p {p_value(worst.p)}"
    )
    more = len(shown) - 1
    text += f"; so is it in {count(more)} more of {count(len(groups))}" if more else ""
    name = _group_name(worst.slice).removeprefix("cases with the ")
    return SummaryClaim(kind, f"breaks: {name}", _sentence(text), "bad", True)


def confidence(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """Whether its confidence tells right from wrong answers, and whether it is too high or too low."""
    return confidence_claim(figures.discrimination.get(candidate), figures.bias.get(candidate))


def confidence_claim(tells: TestedLine | None, bias: TestedLine | None) -> SummaryClaim | None:
    """`tells`: AUROC against one half; `bias`: confidence minus share right against 0."""
    if tells is None and bias is None:
        return None
    discriminates = tells is not None and tells.is_shown and (tells.line.value or 0.0) > 0.5
    separation = "it does not vary"
    if tells is not None:
        interval = format_interval(tells.line.measure, tells.line.low, tells.line.high)
        separation = f"area under the ROC curve {percent(tells.line.value)}, {interval}"
    if bias is not None and bias.is_shown and bias.line.value:
        size = f"{number(100 * abs(bias.line.value))} points too {'high' if bias.line.value > 0 else 'low'}"
        interval = format_interval(bias.line.measure, bias.line.low, bias.line.high)
        finding = "overconfident" if bias.line.value > 0 else "underconfident"
        ending = (
            f"it does tell right from wrong answers ({separation})"
            if discriminates
            else f"it is not shown to tell right from wrong answers ({separation})"
        )
        return SummaryClaim(
            "confidence", finding, _sentence(f"its confidence is {size} ({interval}); {ending}"), "bad", True
        )
    if discriminates:
        text = f"its confidence tells right from wrong answers ({separation}); that it is too high or low is not shown"
        return SummaryClaim("confidence", "confidence is of use", _sentence(text), "good", True)
    text = f"its confidence is not shown to tell right from wrong answers ({separation})"
    return SummaryClaim("confidence", "confidence: not shown", _sentence(text), "open")


def unread(figures: SummaryFigures, candidate: str) -> SummaryClaim | None:
    """How many answers could not be read or were refused: a count, not a test."""
    line = figures.scores.get(candidate)
    if line is None or line.unparsed is None:
        return None
    refused = line.refused or 0.0
    if not line.unparsed and not refused:
        return SummaryClaim("unread", "all readable", "All of its answers could be read.", "plain")
    parts = [f"{percent(line.unparsed)}% of its answers could not be read"] if line.unparsed else []
    parts += [f"{percent(refused)}% were refused"] if refused else []
    share = line.unparsed + refused
    tone: Tone = "bad" if share >= NOTABLE else "plain"
    return SummaryClaim("unread", f"{percent(share)}% unread", _sentence(" and ".join(parts)), tone)


def _names(names: Sequence[str], pairs: dict[str, ComparisonLine]) -> str:
    """Names, or their number if they are many."""
    if len(names) == len(pairs) and len(names) > 1:
        return f"any of the {len(names)} others"
    return join_words(names) if len(names) <= MAX_NAMES else f"{len(names)} of {len(pairs)} others"


def _change(line: ComparisonLine) -> str:
    """A change that is shown, in points; or that none is, with the interval."""
    if not is_shown(line):
        return f"no difference is shown ({_points_interval(line)})"
    return f"{_more_or_less(line)} ({_points_interval(line)})"


def _more_or_less(line: ComparisonLine) -> str:
    value = line.value or 0.0
    return f"{number(100 * abs(value))} points {'more' if value > 0 else 'less'}"


def _points_interval(line: ComparisonLine) -> str:
    interval = format_interval(line.measure, line.low, line.high)
    return f"{interval} points" if interval else "no interval"


def _figure(tested: TestedLine) -> str:
    line = tested.line
    return f"{percent(line.value)}% ({format_interval(line.measure, line.low, line.high)})"


def _degradation_name(line: ComparisonLine) -> str:
    """`motion blur L2` of an axis value, `type sparse_view L1` of a severity by a key."""
    if line.b != "none":
        keys = [value for key, value in line.slice.items() if key != "candidate"]
        return " ".join([*keys, line.a]).replace("_", " ")
    return line.a.replace("_", " ").replace("@", " ")


def _group_name(slice: str) -> str:
    key, value = next(iter(json.loads(slice).items()))
    if key == "tag" and value.startswith("not "):
        return f"cases without the tag {value.removeprefix('not ')}"
    if key == "tag":
        return f"cases with the tag {value}"
    return f"{slice_title(key).lower() if key != 'stage' else 'stage'} {value}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
