"""Sections made from marks: the page prints what the functions of measuring return."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from report_page import Page
from rich_run import CASES, WRONG_KEYS, Rich
from simulated_run import write_run

from wardround.core.study import load_study
from wardround.measuring import (
    first_broken,
    items_to_review,
    letter_bias,
    prompt_sensitivity,
    rank_intervals,
    risk_coverage,
    subgroup_gaps,
    upstream_errors,
)
from wardround.measuring.engine.reference import marks_at_reference
from wardround.measuring.measures.reliability import reliability
from wardround.measuring.modelling.abilities import fit_abilities
from wardround.reporting import compare, report
from wardround.reporting.figures import diagrams
from wardround.reporting.figures.diagrams import BOTTOM, LEFT, RIGHT, TOP
from wardround.reporting.numbers import p_value


def section(html: str, name: str) -> str:
    match = re.search(rf'<section id="{name}".*?</section>', html, re.DOTALL)
    assert match is not None, f"no section {name}"
    return match[0]


def has(html: str, name: str) -> bool:
    return f'<section id="{name}"' in html


def cells(html: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of all tables: what names a row, and the texts of its cells."""
    for row in re.findall(r"<tr\b.*?</tr>", re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL), re.DOTALL):
        page = Page(row)
        head = [text for _, text in page.find("th")]
        if texts := [text for _, text in page.find("td")]:
            yield (head or [""])[0], texts


def hundredfold(value: float | None, decimals: int = 1) -> str:
    """A fraction as a page prints it, made here."""
    assert value is not None
    text = f"{value * 100:.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.replace("-", "")


def reference(marks: pl.DataFrame) -> pl.DataFrame:
    return marks.filter(pl.col("condition").str.contains('"prompt":"paper"'))


def test_reliability_bins_equal_the_function(rich: Rich) -> None:
    study = load_study(rich.run.folder / "study.toml")
    expected = reliability(reference(rich.marks), study).filter(source="stated")
    html = section(rich.page, "confidence")
    figures = re.findall(r'<figure class="calibration" data-candidate="(.*?)">(.*?)</figure>', html, re.DOTALL)
    assert [name for name, _ in figures] == ["sharp-eyed", "steady", "over-sure", "small-model", "coin"]
    for name, figure in figures:
        own = expected.filter(candidate=name).rows(named=True)
        printed = [(head, *texts) for head, texts in cells(figure)]
        assert printed == [
            (
                f"{hundredfold(row['bin_low'], 0)} to {hundredfold(row['bin_high'], 0)}",
                str(row["n"]),
                hundredfold(row["confidence"]),
                f"{hundredfold(row['accuracy'])} "
                + (
                    f"({hundredfold(row['low'])} to {hundredfold(row['high'])})"
                    if row["low"] is not None
                    else "no interval"
                ),
            )
            for row in own
        ]
        assert re.findall(r'class="many".*?>(\d+)<', figure) == [str(row["n"]) for row in own]
        assert f"{sum(row['n'] for row in own)} answers" in figure


def test_calibration_errors_and_accuracy_at_80_are_next_to_the_diagram(rich: Rich) -> None:
    expected = pl.read_csv(rich.run.folder / "measures.csv").filter(
        slice=json.dumps({"prompt": "paper"}, separators=(",", ":"))
    )
    html = section(rich.page, "confidence")
    for name, figure in re.findall(r'data-candidate="(.*?)">(.*?)</figure>', html, re.DOTALL):
        printed = dict(re.findall(r'<dd data-measure="(.*?)"><b>(.*?)</b>', figure))
        for measure in ("ece_stated", "ece_debiased_stated", "ece_if_calibrated_stated"):
            (value,) = expected.filter(measure=measure, candidate=name)["value"]
            assert printed[measure] == hundredfold(value)
        kept = expected.filter(measure="accuracy@80_stated", candidate=name).row(0, named=True)
        interval = f"({hundredfold(kept['low'])} to {hundredfold(kept['high'])})"
        assert f'<b>{hundredfold(kept["value"])}</b> <span class="interval">{interval}</span>' in figure


def test_the_curve_runs_through_the_figure_at_80(rich: Rich) -> None:
    """Its last point is the risk of answering all, and at 80% it is what measures.csv says."""
    study = load_study(rich.run.folder / "study.toml")
    expected = risk_coverage(reference(rich.marks), study).filter(source="stated")
    html = section(rich.page, "confidence")
    for name, figure in re.findall(r'data-candidate="(.*?)">(.*?)</figure>', html, re.DOTALL):
        points = [tuple(map(float, point.split(","))) for point in re.findall(r'points="(.*?)"', figure)[0].split()]
        max_risk = 1.0
        last = expected.filter(candidate=name)["risk"][-1]
        assert points[-1] == (RIGHT, pytest.approx(BOTTOM - (BOTTOM - TOP) * last / max_risk, abs=0.06))
        line = rich.run.find_line("accuracy@80", name, {"prompt": "paper"})
        assert line is not None
        assert line.value is not None
        x, y = points[79]
        assert x == pytest.approx(LEFT + 0.8 * (RIGHT - LEFT), abs=0.06)
        assert y == pytest.approx(BOTTOM - (BOTTOM - TOP) * (1 - line.value) / max_risk, abs=0.2)


def test_the_dots_of_a_diagram_are_at_their_values() -> None:
    bins = [diagrams.Bin(0.6, 0.7, 12, 0.65, 0.5, 0.25, 0.75), diagrams.Bin(0.9, 1.0, 3, 1.0, 1.0, None, None)]
    drawn = diagrams.reliability_diagram(bins, "<b>")
    dots = re.findall(r'class="dot" cx="(.*?)" cy="(.*?)"', drawn)
    middle = (TOP + BOTTOM) / 2
    assert [tuple(map(float, dot)) for dot in dots] == [
        (pytest.approx(LEFT + 0.65 * (RIGHT - LEFT), abs=0.06), middle),
        (RIGHT, TOP),
    ]
    assert len(re.findall('class="range"', drawn)) == 1
    assert "<b>" not in drawn
    curve = [(0.5, 0.1), (1.0, 0.4)]
    assert 'class="dot"' not in diagrams.risk_diagram(curve, None, 0.5, "one")


def gap_texts(row: dict[str, object]) -> list[str]:
    """The cells of a gap as a page prints them, from a row of the function."""
    worst, best = (next(iter(json.loads(str(row[name])).values())) for name in ("worst", "best"))
    if row["worst"] == row["best"]:
        worst = best = "all equal"
    expected = {name: hundredfold(value) for name, value in row.items() if isinstance(value, float)}
    return [
        "",
        f"{worst} {expected['worst_value']} ({expected['worst_low']} to {expected['worst_high']}) "
        f"none below {expected['at_least']}",
        f"{best} {expected['best_value']}",
        f"{expected['difference']} ({expected['difference_low']} to {expected['difference_high']}) "
        f"p {p_value(float(str(row['p_adjusted'])))}",
        f"{expected['gap']} by chance up to {expected['gap_within_chance']}",
    ]


def test_group_gaps_equal_the_function(rich: Rich) -> None:
    study = load_study(rich.run.folder / "study.toml")
    for measure, place in (("accuracy", 0), ("hit@1", 1)):
        expected = subgroup_gaps(reference(rich.marks), study, measure=measure)
        for key in ("age_band", "sex", "modality"):
            html = re.search(rf'id="groups-{key}">.*?(?=<div class="block"|</section>)', rich.page, re.DOTALL)
            assert html is not None
            table = re.findall(r'<table class="forest gaps".*?</table>', html[0], re.DOTALL)[place]
            own = {row["candidate"]: gap_texts(row) for row in expected.filter(key=key).iter_rows(named=True)}
            assert dict(cells(table)) == own
            assert len(own) == 5
    rare = re.search(r'id="groups-tag-0">.*?</table>', rich.page, re.DOTALL)
    assert rare is not None
    tagged = subgroup_gaps(reference(rich.marks), study, ["tag"])
    tagged = tagged.filter(pl.col("worst").str.contains("rare"))
    assert dict(cells(rare[0])) == {row["candidate"]: gap_texts(row) for row in tagged.iter_rows(named=True)}


def test_groups_that_are_too_small_are_named(rich: Rich) -> None:
    assert "Too few cases, left out: under 18 (5)." in section(rich.page, "groups")
    assert "trauma" not in section(rich.page, "groups")  # four cases: nothing can be said of them
    assert "hit@1: judge lexical-4: not validated." in section(rich.page, "groups")


def test_without_two_large_groups_nothing_is_compared(tmp_path: Path, rich: Rich) -> None:
    few = rich.marks.filter(pl.col("case").is_in([f"case-{number:02}" for number in range(10)]))
    for file in ("study.toml", "manifest.json", "measures.csv", "comparisons.csv"):
        (tmp_path / file).write_bytes((rich.run.folder / file).read_bytes())
    few.write_parquet(tmp_path / "marks.parquet")
    html = section(report(tmp_path).read_text(encoding="utf-8"), "groups")
    assert "Too few cases to compare: F (5) and M (5)." in html
    assert "<table" not in html


def test_prompt_gaps_equal_the_function(rich: Rich) -> None:
    expected = prompt_sensitivity(rich.marks, load_study(rich.run.folder / "study.toml"))
    table = re.findall(r"<table.*?</table>", section(rich.page, "prompts"), re.DOTALL)[0]
    assert dict(cells(table)) == {row["candidate"]: gap_texts(row) for row in expected.iter_rows(named=True)}


def test_letter_bias_equals_the_function(rich: Rich) -> None:
    expected = letter_bias(reference(rich.marks), load_study(rich.run.folder / "study.toml"))
    printed = list(cells(section(rich.page, "letters")))
    assert [head.split(" n ")[0] for head, _ in printed] == ["sharp-eyed", "steady", "over-sure", "small-model", "coin"]
    for head, texts in printed:
        name, n = head.rsplit(" n ", 1)
        own = expected.filter(candidate=name).rows(named=True)
        assert int(n) == own[0]["n"]
        assert texts == [
            f"{hundredfold(row['difference'])} ({hundredfold(row['low'])} to {hundredfold(row['high'])}) "
            f"chosen {hundredfold(row['chosen'])} right {hundredfold(row['right'])}"
            for row in own
        ]
    (planted,) = expected.filter(candidate="coin", letter="A")["low"]
    assert planted > 0.2  # it says A wherever that stands


def test_rank_intervals_equal_the_function(rich: Rich) -> None:
    expected = rank_intervals(rich.run.comparisons)
    ends = {row["candidate"]: (row["first"], row["last"]) for row in expected.iter_rows(named=True)}
    printed = {head: texts[1] for head, texts in cells(section(rich.page, "ranks"))}
    assert printed == {n: str(a) if a == b else f"{a} to {b}" for n, (a, b) in ends.items()}
    assert printed["coin"] == "5"
    assert printed["sharp-eyed"] == printed["steady"] == "1 to 2"
    html = section(rich.page, "ranks")
    bars = re.findall(r'class="place" x="(.*?)%" width="(.*?)%"', html)
    assert bars[0] == ("0.00", "40.00")
    assert bars[-1] == ("80.00", "20.00")


def test_chains_and_their_association_equal_the_functions(rich: Rich) -> None:
    html = section(rich.page, "chains")
    expected = upstream_errors(reference(rich.marks), load_study(rich.run.folder / "study.toml"))
    first, second, broken, *_ = re.findall(r"<table.*?</table>", html, re.DOTALL)
    headings = [text for attributes, text in Page(first).find("th") if attributes.get("scope") == "col"]
    assert [head.split(" Share")[0].split(" Unw")[0] for head in headings[1:]] == [
        "Complete chains",
        "Stage IQA",
        "Stage AL",
        "Stage DD",
        "Mean over stages",
    ]
    for name, texts in cells(second):
        own = expected.filter(candidate=name).rows(named=True)
        assert [row["stage"] for row in own] == ["", "AL", "DD"]
        assert texts == [
            f"{hundredfold(row['difference'])} ({hundredfold(row['low'])} to {hundredfold(row['high'])}) "
            f"wrong {hundredfold(row['after_wrong'])} after wrong {hundredfold(row['after_right'])} after right "
            f"earlier error {row['n_after_wrong']} of {row['n']}"
            for row in own
        ]
    assert "This is an association, not an effect:" in html
    first_at = first_broken(reference(rich.marks), load_study(rich.run.folder / "study.toml"))
    printed = [(name, texts) for name, texts in cells(broken) if len(texts) > 1]
    assert len(printed) == len(rich.run.candidates)
    for name, texts in printed:
        own = first_at.filter(candidate=name).rows(named=True)
        assert [row["stage"] for row in own] == ["IQA", "AL", "DD", ""]
        assert [text.split()[0] for text in texts[:4]] == [hundredfold(row["share"]) for row in own]


def test_items_to_review_equal_the_function_and_link_to_their_cases(rich: Rich) -> None:
    expected = items_to_review(reference(rich.marks))
    written = pl.read_csv(rich.run.folder / "items_to_review.csv")
    assert written.select("case", "question", "reason").rows() == expected.select("case", "question", "reason").rows()
    keys = dict(zip(rich.marks["case"] + rich.marks["question"], rich.marks["gold"], strict=True))
    assert written["gold"].to_list() == [
        keys[case + question] for case, question in expected.select("case", "question").rows()
    ]
    missed = expected.filter(reason="all strong candidates miss it")
    assert {f"case-{number:02}" for number in WRONG_KEYS} <= set(missed.filter(question="mcq")["case"])
    html = section(rich.page, "review")
    table = re.findall(r"<table.*?</table>", html, re.DOTALL)[0]
    assert [(head, texts[0]) for head, texts in cells(table)] == missed.select("case", "question").rows()
    for (_, texts), row in zip(cells(table), missed.iter_rows(named=True), strict=True):
        assert texts[3:5] == [hundredfold(row["right"]), hundredfold(row["strong_right"])]
        if row["favourite"] is not None:
            assert texts[2] == f"{'ABCD'[row['favourite']]} ({hundredfold(row['favourite_share'])})"
    assert f"Of {CASES * 2 + 36 * 3} questions" in html
    assert "<a" not in table
    linked = re.findall(r'<a href="(cases/.*?)">(.*?)</a>', section(rich.linked, "review"))
    assert {(rich.run.folder / "linked" / address).is_file() for address, _ in linked} == {True}
    assert {name for _, name in linked} == set(expected["case"])


def test_sections_without_content_are_omitted(tmp_path: Path) -> None:
    write_run(tmp_path)
    html = report(tmp_path).read_text(encoding="utf-8")
    for name in ("ranks", "groups", "letters", "prompts", "chains", "option-tests"):
        assert not has(html, name), name
    assert has(html, "confidence")


def test_every_judged_figure_names_its_judge(rich: Rich, tmp_path: Path) -> None:
    """By section: wherever hit@k is printed, the judge's kappa or `not validated` is too."""
    for name in ("scores", "conditions", "slices", "groups", "prompts", "measures", "review"):
        assert "judge lexical-4: not validated" in section(rich.page, name), name
    assert "judge" not in section(rich.page, "comparisons")  # only accuracy is compared
    assert "judge" not in section(rich.page, "option-tests")
    for file in ("study.toml", "manifest.json", "measures.csv", "comparisons.csv", "marks.parquet"):
        (tmp_path / file).write_bytes((rich.run.folder / file).read_bytes())
    expected = pl.read_csv(tmp_path / "comparisons.csv")
    expected.with_columns(measure=pl.lit("hit@1")).write_csv(tmp_path / "comparisons.csv")
    kappa = {"value": 0.86, "low": 0.7, "high": 0.95, "clusters": 40}
    (tmp_path / "judge.json").write_text(json.dumps({"judge": "lexical-4", "kappa": kappa, "items": 50}))
    html = report(tmp_path).read_text(encoding="utf-8")
    for name in ("scores", "ranks", "conditions", "comparisons", "slices", "groups", "prompts", "measures", "review"):
        assert "kappa 0.86 (0.70 to 0.95), 50 labels of 40 cases" in section(html, name), name
    both = compare([rich.run.folder, tmp_path], tmp_path / "both.html").read_text(encoding="utf-8")
    assert "judge lexical-4: not validated; rich (2), judge lexical-4: kappa 0.86" in section(both, "hit@1")
    assert "Judged" not in section(both, "accuracy")


def test_a_measure_by_key_has_a_column_per_value(rich: Rich) -> None:
    expected = {
        row["slice"]: row
        for row in pl.read_csv(rich.run.folder / "measures.csv")
        .filter(measure="esa", candidate="coin")
        .iter_rows(named=True)
    }
    table = next(
        t
        for t in re.findall(r"<table.*?</table>", section(rich.page, "measures"), re.DOTALL)
        if "Accuracy by grade" in t
    )
    headings = [text.split()[0] for attributes, text in Page(table).find("th") if attributes.get("scope") == "col"]
    figures = dict(cells(table))["coin"]
    printed = {heading: text.split()[0] for heading, text in zip(headings[1:], figures, strict=True)}
    assert printed == {
        grade: hundredfold(expected[json.dumps({"grade": grade, "prompt": "paper"}, separators=(",", ":"))]["value"])
        for grade in ("R", "A", "S", "mean")
    }


def test_the_scores_name_the_best_case_of_unread_answers(rich: Rich) -> None:
    scores = section(rich.page, "scores")
    lines = rich.run.measures.filter(measure="accuracy_if_unparsed_right", slice="{}")
    for line in lines.iter_rows(named=True):
        printed = f'data-candidate="{line["candidate"]}">{hundredfold(line["value"])}</b>'
        assert (printed in scores) == bool(line["unparsed"] or line["refused"])
    assert lines["unparsed"].max() > 0


def test_abilities_are_those_of_the_model(rich: Rich) -> None:
    study = load_study(rich.run.folder / "study.toml")
    fitted = fit_abilities(marks_at_reference(rich.run.marks, study), study)
    assert fitted is not None
    printed = section(rich.page, "abilities")
    for name, ability in zip(fitted.candidates, fitted.fit.abilities, strict=True):
        assert f'data-ability="{name}">{hundredfold(float(ability) / 100, 2)} (' in printed
    written = pl.read_csv(rich.run.folder / "item_response.csv")
    assert written["easiness"].to_list() == pytest.approx(fitted.items["easiness"].to_list(), abs=1e-8)


def test_the_decision_curve_prints_the_net_benefits(rich: Rich) -> None:
    printed = section(rich.page, "option-tests")
    lines = rich.run.measures.filter(pl.col("measure").str.starts_with("net_benefit@"), pl.col("slice") == "{}")
    assert len(lines)
    for line in lines.iter_rows(named=True):
        cell = f'data-measure="{line["measure"]}" data-candidate="{line["candidate"]}"'
        assert re.search(rf"{re.escape(cell)}[^>]*>.*?<b>{hundredfold(line['value'])}</b>", printed, re.DOTALL)
