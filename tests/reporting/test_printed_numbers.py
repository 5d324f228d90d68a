"""Formats of numbers, figures and sentences."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from wardround.reporting.figures import svg
from wardround.reporting.labels import (
    measure_base,
    measure_meaning,
    measure_source,
    measure_title,
    source_title,
    title_without_source,
)
from wardround.reporting.numbers import format_interval, format_value, join_words, number, p_value, percent, short_count
from wardround.reporting.run_files import ComparisonLine
from wardround.reporting.sections.differences import describe_difference


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.625, "62.5"), (0.0, "0.0"), (1.0, "100.0"), (-0.0524, "−5.2"), (-0.0001, "0.0"), (None, "–")],
)
def test_a_fraction_is_printed_as_a_percentage(value: float | None, text: str) -> None:
    assert percent(value) == text


def test_numbers_have_their_formats() -> None:
    assert format_interval("accuracy", 0.51, 0.731) == "51.0 to 73.1"
    assert format_interval("accuracy", None, 0.731) is None
    assert format_value("ppl", 12.345) == "12.35"
    assert number(-1234.5) == "−1,234.5"
    assert (p_value(0.0009), p_value(0.001), p_value(1.0), p_value(None)) == ("< 0.001", "0.001", "1.000", "–")
    assert [short_count(value) for value in (7, 999, 1234, 9949, 9950, 25_400)] == [
        "7",
        "999",
        "1.2k",
        "9.9k",
        "10k",
        "25k",
    ]
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"


def test_measures_have_titles_and_meanings() -> None:
    assert measure_title("hit@3") == "hit@3"
    assert measure_meaning("hit@3") == "Share of open answers that name the right diagnosis among the first 3."
    assert measure_meaning("hit@1") == "Share of open answers that name the right diagnosis first."
    assert measure_title("worst@8") == "Right every time (k = 8)"
    assert measure_meaning("worst@8") == "Share of questions answered right in all of 8 trials."
    assert measure_title("evidence_misled") == "Misled by evidence"
    assert measure_title("accuracy@80") == "Accuracy at 80% coverage"
    assert measure_title("not_known") == "not known"


def test_sources_of_confidence_have_titles() -> None:
    assert source_title("votes", "", 5) == source_title("", "", 5) == source_title("verbal", "", 5) == "By 5 votes"
    assert source_title("logprobs", "", 5) == "By log-probabilities, as expected from 5 votes"
    assert source_title("logprobs", "in_the_limit", 5) == "By log-probabilities, as in the limit of many votes"
    assert source_title("verbal", "stated", 5) == "As stated by the candidate"
    assert (source_title("votes", "", 1), source_title("", "", 1)) == ("By votes", "")


@pytest.mark.parametrize(
    ("measure", "base", "source", "title"),
    [
        ("ece", "ece", "", "Expected calibration error"),
        ("ece_debiased_stated", "ece", "stated", "Expected calibration error, debiased, stated"),
        ("worst@8_in_the_limit", "worst@8", "in_the_limit", "Right every time (k = 8), in the limit of many votes"),
        ("accuracy@80_stated", "accuracy@80", "stated", "Accuracy at 80% coverage, stated"),
        ("sensitivity_by_letter", "sensitivity", "", "Sensitivity, mean over letters"),
        ("not_known_stated", "not_known_stated", "", "not known stated"),
    ],
)
def test_a_variant_has_a_name_and_a_title_of_its_own(measure: str, base: str, source: str, title: str) -> None:
    assert (measure_base(measure), measure_source(measure), measure_title(measure)) == (base, source, title)
    assert title.startswith(title_without_source(measure))


def test_a_variant_may_have_a_meaning_of_its_own() -> None:
    assert measure_meaning("ece_debiased_stated") == "The same, with the bias from noise in each bin removed."
    assert measure_meaning("worst@2_in_the_limit") == "Share of questions answered right in all of 2 trials."


def comparison(value: float, low: float | None, high: float | None, p: float, **other: object) -> ComparisonLine:
    base = {"measure": "accuracy", "a": "pixels", "b": "random", "slice": {}, "family": "f"}
    return ComparisonLine(
        **{**base, **other}, value=value, low=low, high=high, p=p, p_adjusted=p, n=48, clusters=24, method="m"
    )


@pytest.mark.parametrize(
    ("line", "between", "text"),
    [
        (
            comparison(0.41, 0.3, 0.52, 0.0002),
            "candidate",
            "pixels answers 41.0 points more often right than random.",
        ),
        (
            comparison(-0.05, -0.12, 0.02, 0.2),
            "candidate",
            "pixels answers 5.0 points less often right than random. This may be chance.",
        ),
        (
            comparison(0.2, None, None, 0.01, slice={"specialty": "neuro"}),
            "candidate",
            "pixels answers 20.0 points more often right than random, specialty neuro.",
        ),
        (
            comparison(0.3, 0.1, 0.5, 0.01, a="as-is", b="swapped", slice={"candidate": "pixels"}),
            "images",
            "pixels, with images as-is, answers 30.0 points more often right than with images swapped.",
        ),
        (
            comparison(0.1, 0.05, 0.15, 0.01, measure="brier"),
            "candidate",
            "Brier score: pixels is 10.0 points higher than random.",
        ),
    ],
)
def test_a_difference_is_described_in_words(line: ComparisonLine, between: str, text: str) -> None:
    assert describe_difference(line, between) == text


class Drawing(HTMLParser):
    def __init__(self, drawn: str) -> None:
        super().__init__()
        self.shapes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(drawn)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shapes.append((tag, dict(attrs)))

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.shapes if attributes.get("class") == name]


def test_a_dot_is_at_its_value() -> None:
    drawn = Drawing(svg.interval(0.2, 0.1, 0.4, scale=svg.Scale(-1.0, 1.0, marked=0.0), title="<b>"))
    assert drawn.with_class("dot")[0]["cx"] == "60.00%"
    assert (drawn.with_class("range")[0]["x1"], drawn.with_class("range")[0]["x2"]) == ("55.00%", "70.00%")
    assert drawn.with_class("marked")[0]["x1"] == "50.00%"
    assert "b" not in [tag for tag, _ in drawn.shapes]


def test_a_value_outside_the_scale_is_clipped() -> None:
    assert svg.Scale().at(1.2) == "100.00%"
    assert svg.Scale().at(-0.1) == "0.00%"


@pytest.mark.parametrize(("values", "limit"), [([], 0.2), ([0.2], 0.2), ([-0.21, 0.1], 0.4), ([1.0], 1.0)])
def test_a_scale_around_zero_includes_all_values(values: list[float], limit: float) -> None:
    scale = svg.scale_around_zero(values)
    assert (scale.low, scale.high) == (pytest.approx(-limit), pytest.approx(limit))


def test_parts_fill_the_stacked_bar() -> None:
    drawn = Drawing(svg.stacked_bar([("right", 3), ("wrong", 1), ("unparsed", 0)], "counts"))
    rects = [attributes for tag, attributes in drawn.shapes if tag == "rect"]
    assert [(rect["x"], rect["width"]) for rect in rects] == [("0.00%", "75.00%"), ("75.00%", "25.00%")]
    assert "rect" not in svg.stacked_bar([("right", 0)], "nothing")
