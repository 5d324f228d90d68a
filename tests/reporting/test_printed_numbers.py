"""How numbers, figures and sentences are printed."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from wardround.reporting.figures import svg
from wardround.reporting.labels import measure_meaning, measure_title
from wardround.reporting.numbers import listed, number, p_value, percent, short_count, shown, span
from wardround.reporting.run_files import Comparison
from wardround.reporting.sentences import sentence
from wardround.reporting.versions import variant_words, version_parts, way_words


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.625, "62.5"), (0.0, "0.0"), (1.0, "100.0"), (-0.0524, "−5.2"), (-0.0001, "0.0"), (None, "–")],
)
def test_percent(value: float | None, text: str) -> None:
    assert percent(value) == text


def test_numbers() -> None:
    assert span("accuracy", 0.51, 0.731) == "51.0 to 73.1"
    assert span("accuracy", None, 0.731) is None
    assert shown("ppl", 12.345) == "12.35"
    assert number(-1234.5) == "−1,234.5"
    assert (p_value(0.0009), p_value(0.001), p_value(1.0), p_value(None)) == ("< 0.001", "0.001", "1.000", "–")
    assert [short_count(many) for many in (7, 999, 1234, 9949, 9950, 25_400)] == [
        "7",
        "999",
        "1.2k",
        "9.9k",
        "10k",
        "25k",
    ]
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_titles() -> None:
    assert measure_title("hit@3") == "hit@3"
    assert measure_meaning("hit@3") == "Share of open answers that name the right diagnosis among the first 3."
    assert measure_meaning("hit@1") == "Share of open answers that name the right diagnosis first."
    assert measure_title("worst@8") == "Right every time (k = 8)"
    assert measure_meaning("worst@8") == "Share of questions answered right in all of 8 trials."
    assert measure_title("evidence_misled") == "Misled by evidence"
    assert measure_title("accuracy@80") == "Accuracy at 80% coverage"
    assert measure_title("not_known") == "not known"


def test_ways_of_confidence() -> None:
    assert way_words("votes", "T=5") == way_words("", "T=5") == way_words("verbal", "T=5") == "By 5 votes"
    assert way_words("logprobs", "T=5") == "By log-probabilities, as 5 votes would give it"
    assert way_words("logprobs", "inf") == "By log-probabilities, as endlessly many votes would give it"
    assert way_words("verbal", "verbal") == "As the candidate states it"
    assert (way_words("verbal", "2"), way_words("", "")) == ("As the candidate states it, version 2", "")


def test_versions_come_apart() -> None:
    assert version_parts("debiased, 10 bins, T=3") == ("debiased, 10 bins", "T=3")
    assert version_parts("T=3") == ("", "T=3")
    assert version_parts("strict-2") == ("", "strict-2")
    assert version_parts(None) == ("", "")
    assert variant_words("debiased, 10 bins") == ("debiased", "The same, less what the noise in each bin adds.")
    assert variant_words("of another kind") is None


def told(value: float, low: float | None, high: float | None, p: float, **other: object) -> Comparison:
    base = {"measure": "accuracy", "a": "pixels", "b": "random", "slice": {}, "family": "f"}
    return Comparison(
        **{**base, **other}, value=value, low=low, high=high, p=p, p_adjusted=p, n=48, clusters=24, method="m"
    )


@pytest.mark.parametrize(
    ("compared", "between", "text"),
    [
        (
            told(0.41, 0.3, 0.52, 0.0002),
            "candidate",
            "pixels answers 41.0 points more often right than random.",
        ),
        (
            told(-0.05, -0.12, 0.02, 0.2),
            "candidate",
            "pixels answers 5.0 points less often right than random. This may be chance.",
        ),
        (
            told(0.2, None, None, 0.01, slice={"specialty": "neuro"}),
            "candidate",
            "pixels answers 20.0 points more often right than random, specialty neuro.",
        ),
        (
            told(0.3, 0.1, 0.5, 0.01, a="as-is", b="swapped", slice={"candidate": "pixels"}),
            "images",
            "pixels, with images as-is, answers 30.0 points more often right than with images swapped.",
        ),
        (
            told(0.1, 0.05, 0.15, 0.01, measure="brier"),
            "candidate",
            "Brier score: pixels is 10.0 points higher than random.",
        ),
    ],
)
def test_sentences(compared: Comparison, between: str, text: str) -> None:
    assert sentence(compared, between) == text


class Drawing(HTMLParser):
    def __init__(self, drawn: str) -> None:
        super().__init__()
        self.shapes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(drawn)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shapes.append((tag, dict(attrs)))

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [told for _, told in self.shapes if told.get("class") == name]


def test_a_dot_lies_where_its_value_is() -> None:
    drawn = Drawing(svg.interval(0.2, 0.1, 0.4, scale=svg.Scale(-1.0, 1.0, marked=0.0), title="<b>"))
    assert drawn.of("dot")[0]["cx"] == "60.00%"
    assert (drawn.of("range")[0]["x1"], drawn.of("range")[0]["x2"]) == ("55.00%", "70.00%")
    assert drawn.of("marked")[0]["x1"] == "50.00%"
    assert "b" not in [tag for tag, _ in drawn.shapes]


def test_what_is_outside_the_scale_lies_on_its_edge() -> None:
    assert svg.Scale().at(1.2) == "100.00%"
    assert svg.Scale().at(-0.1) == "0.00%"


@pytest.mark.parametrize(("values", "reach"), [([], 0.2), ([0.2], 0.2), ([-0.21, 0.1], 0.4), ([1.0], 1.0)])
def test_scale_around_zero(values: list[float], reach: float) -> None:
    scale = svg.around_zero(values)
    assert (scale.low, scale.high) == (pytest.approx(-reach), pytest.approx(reach))


def test_shares_fill_the_bar() -> None:
    drawn = Drawing(svg.shares([("right", 3), ("wrong", 1), ("unparsed", 0)], "counts"))
    rects = [told for tag, told in drawn.shapes if tag == "rect"]
    assert [(told["x"], told["width"]) for told in rects] == [("0.00%", "75.00%"), ("75.00%", "25.00%")]
    assert "rect" not in svg.shares([("right", 0)], "nothing")
