"""The report compared with the files that it is made of."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import polars as pl
from report_page import Page, lines, printed, read_page, unanswered_anchors, written
from simulated_run import marks, write_run

from wardround.core.study import OUTCOMES
from wardround.reporting import report

REFERENCE = "{}"


def cells(page: Page) -> list[tuple[tuple[str | None, ...], str]]:
    """Measure, candidate and slice of every cell that has them, and its text."""
    return [
        ((cell["data-measure"], cell["data-candidate"], json.dumps(json.loads(cell["data-slice"] or ""))), text)
        for cell, text in page.find("td", "value")
        if "data-measure" in cell
    ]


def count_text(row: dict[str, str]) -> str:
    """The unparsed rate and n as a compact cell shows them."""
    return f" unparsed {float(row['unparsed']) * 100:.1f} n {row['n']} / {row['clusters']}"


def test_every_figure_equals_the_file_and_has_its_unparsed_rate_and_n(simulated: Path) -> None:
    html = (simulated / "report.html").read_text(encoding="utf-8")
    expected = {(row["measure"], row["candidate"], row["slice"]): row for row in lines(simulated / "measures.csv")}
    forests = re.findall(r'<tr role="row">.*?</tr>', html, re.DOTALL)
    headline = [Page(chunk) for chunk in forests if "data-measure" in chunk]
    for row in headline:
        ((key, text),) = cells(row)
        assert text == printed(expected[key])
        assert [text for _, text in row.find("td", "unparsed")] == [f"{float(expected[key]['unparsed']) * 100:.1f}"]
        assert [text for _, text in row.find("td", "n")] == [f"{expected[key]['n']} / {expected[key]['clusters']}"]
    compact = cells(Page(re.sub(r'<tr role="row">.*?</tr>|<svg.*?</svg>', "", html, flags=re.DOTALL)))
    assert [text for _, text in compact] == [printed(expected[key]) + count_text(expected[key]) for key, _ in compact]
    shown = {key for key, _ in compact}
    measured = {key for key, row in expected.items() if key[0] == "accuracy" and row["n"] != "0"}
    blind = ("longest option", "random")  # asked with their own images only, so that there is nothing to compare
    once = {key for key in measured if key[1] in blind and key[2] == '{"images": "as-is"}'}
    in_headline = {key for row in headline for key, _ in cells(row)}
    assert in_headline == {key for key in measured if key[2] == REFERENCE}
    assert measured - in_headline - once <= shown
    assert "Accuracy: no cases in skin." in html
    others = {key for key in expected if key[0] not in ("accuracy", "accuracy_parsed") and key[2] == REFERENCE}
    assert {key for key in shown if key[0] != "accuracy"} == others
    assert len(headline) == 4


def test_the_headline_shows_and_names_the_reference_condition(simulated: Path) -> None:
    page = read_page(simulated)
    (_, text), *_ = [element for element in page.find("section") if element[0].get("id") == "scores"]
    assert "Asked with images as-is (the case's own images) and options as-given: the reference condition" in text
    html = (simulated / "report.html").read_text(encoding="utf-8")
    first = cells(Page(html[html.index('<table class="forest"') : html.index("</table>")] + "</table>"))
    assert {key[2] for key, _ in first} == {REFERENCE}
    values = [float(text.split()[0]) for _, text in first]
    assert values == sorted(values, reverse=True)


def test_a_score_that_was_not_asked_in_the_reference_condition_is_not_taken_from_elsewhere(tmp_path: Path) -> None:
    write_run(tmp_path)
    path = tmp_path / "measures.csv"
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if ",{}," not in line]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    html = report(tmp_path).read_text(encoding="utf-8")
    first = Page(html[html.index('<table class="forest"') : html.index("</table>")] + "</table>")
    assert cells(first) == []


def test_controls_have_a_section_of_their_own(simulated: Path) -> None:
    blocks: dict[str, list[str | None]] = {"conditions": [], "controls": []}
    html = (simulated / "report.html").read_text(encoding="utf-8")
    for section in blocks:
        start = html.index(f'<section id="{section}"')
        part = Page(html[start : html.index("</section>", start)] + "</section>")
        blocks[section] = [attributes["id"] for attributes, _ in part.find("div", "block")]
    assert blocks == {"conditions": ["conditions-options"], "controls": ["conditions-images"]}


def test_a_control_in_the_reference_condition_is_named_as_one(tmp_path: Path) -> None:
    write_run(tmp_path)
    study = tmp_path / "study.toml"
    study.write_text(study.read_text(encoding="utf-8") + '[reference]\nimages = "swapped"\n', encoding="utf-8")
    html = report(tmp_path).read_text(encoding="utf-8")
    section = html[html.index('<section id="controls"') :].partition("</section>")[0]

    assert "The reference condition is itself a control (images = swapped)" in section
    assert "scores no higher with images = as-is does not rely on what it adds" in section
    assert "is taken away here" not in section


def test_a_key_with_one_group_has_no_breakdown(tmp_path: Path) -> None:
    write_run(tmp_path)
    path = tmp_path / "measures.csv"
    text = path.read_text(encoding="utf-8")
    kinds = [line.replace("{}", '"{""kind"": ""choice""}"') for line in text.splitlines() if ",{}," in line]
    path.write_text(text + "\n".join(kinds) + "\n", encoding="utf-8")
    page = Page(report(tmp_path).read_text(encoding="utf-8"))
    assert [
        attributes["id"] for attributes, _ in page.find("details") if (attributes.get("id") or "").startswith("slices-")
    ] == ["slices-specialty"]


def test_candidates_have_one_order_in_all_tables(simulated: Path) -> None:
    html = (simulated / "report.html").read_text(encoding="utf-8")
    order = [key[1] for key, _ in cells(Page(html[html.index("<table") : html.index("</table>")] + "</table>"))]
    assert len(order) == 4
    tables = re.findall(r'<table class="plain crossed.*?</table>', html, re.DOTALL)
    assert tables
    for table in tables:
        names = [name.removesuffix(" (text only)") for name in re.findall(r'scope="row">(.*?)</th>', table)]
        assert names == [name for name in order if name in names]
        assert names
    counted = html[html.index("<h3>Outcomes</h3>") :].split("</table>")[0]
    assert re.findall(r'scope="row">(.*?)</th>', counted) == order


def test_closed_parts_have_a_summary(tmp_path: Path) -> None:
    page = written(tmp_path, cases=32)
    summaries = {text.split()[0]: text for _, text in page.find("summary")}
    expected = {
        row["slice"]: row
        for row in lines(tmp_path / "measures.csv")
        if (row["measure"], row["candidate"]) == ("accuracy", "sharp-eyed") and "specialty" in row["slice"]
    }
    rows = sorted((row for row in expected.values() if row["low"]), key=lambda row: float(row["value"]))
    low, high = (f"{json.loads(row['slice'])['specialty']} {printed(row)}" for row in (rows[0], rows[-1]))
    assert summaries["Specialty"] == f"Specialty 4 groups, all with an interval; sharp-eyed from {low} to {high}"
    assert "open" not in [name for tag, attributes, _ in page.elements if tag == "details" for name in attributes]
    few = {text.split()[0]: text for _, text in written(tmp_path, cases=24).find("summary")}
    assert few["Specialty"] == "Specialty 4 groups, all with too few cases for an interval"


def test_candidates_asked_under_one_value_are_named_and_have_no_column(simulated: Path) -> None:
    page = read_page(simulated)
    (_, images), *_ = [element for element in page.find("div", "block") if element[0].get("id") == "conditions-images"]
    assert "Asked with only one of these values: longest option and random." in images
    assert "longest option" not in images.split("Asked with")[0]


def test_comparisons_are_printed_as_figures_and_sentences(simulated: Path) -> None:
    page = read_page(simulated)
    expected = lines(simulated / "comparisons.csv")
    shown = [text for cell, text in page.find("td", "value") if "data-family" in cell]
    assert shown == [printed(row) for row in expected]
    sentences = [text for _, text in page.find("th", "sentence")]
    points = f"{float(expected[0]['value']) * 100:.1f}"
    assert sentences[0] == f"sharp-eyed answers {points} points more often right than random."
    assert sentences[1].endswith("This may be chance.")
    assert sentences[3].startswith("sharp-eyed, with images swapped, answers")


def compared(a: str, b: str, p: float, **other: object) -> dict[str, object]:
    base = {"measure": "accuracy", "a": a, "b": b, "slice": "{}", "value": 0.1, "low": 0.0, "high": 0.2, "p": p}
    return base | {"p_adjusted": p, "family": "default", "n": 9, "clusters": 9, "method": "m"} | other


def test_of_many_pairs_only_significant_ones_and_those_of_the_best_are_open(tmp_path: Path) -> None:
    write_run(tmp_path)
    names = ["sharp-eyed", "small-model", "longest option", "random", "other"]
    rows = [compared(a, b, 0.01 if {a, b} == {"small-model", "random"} else 0.5) for a, b in combinations(names, 2)]
    pl.DataFrame(rows).write_csv(tmp_path / "comparisons.csv")
    html = report(tmp_path).read_text(encoding="utf-8")
    section = html[html.index('<section id="comparisons"') :].split("</section>")[0] + "</section>"
    folded = Page(re.findall(r'<details class="fold">.*?</details>', section, re.DOTALL)[0])
    assert "The study declares no comparisons, so all pairs were compared." in Page(section).find("section")[0][1]
    assert folded.find("summary")[0][1].startswith("5 more pairs")
    hidden = {(cell["data-a"], cell["data-b"]) for cell, _ in folded.find("td", "value")}
    every = {(cell["data-a"], cell["data-b"]) for cell, _ in Page(section).find("td", "value")}
    assert every == set(combinations(names, 2))
    assert every - hidden == {*(("sharp-eyed", name) for name in names[1:]), ("small-model", "random")}


def test_what_could_not_be_compared_is_one_sentence(tmp_path: Path) -> None:
    write_run(tmp_path)
    blind = {"value": None, "low": None, "high": None, "p": None, "p_adjusted": None, "n": 0, "clusters": 0}
    rows = [compared("as-is", "swapped", 0.01, family="looking", slice='{"candidate":"sharp-eyed"}')]
    for name in ("random", "longest option"):
        expected = json.dumps({"candidate": name})
        rows.append(compared("as-is", "swapped", 0.5, family="looking", slice=expected) | blind)
    pl.DataFrame(rows).write_csv(tmp_path / "comparisons.csv")
    page = Page(report(tmp_path).read_text(encoding="utf-8"))
    sentence = "Not compared, because only one value was asked: random and longest option."
    assert sentence in [text for _, text in page.find("p", "meaning")]
    assert len(page.find("th", "sentence")) == 1


def test_the_facts_count_examined_training_and_other_cases(tmp_path: Path) -> None:
    training = {"the case is for training, and is not examined": 12 * 4}
    cases = {"path": "forty", "hash": "ab" * 32, "cases": 55, "questions": 55}
    write_run(tmp_path, cases=40, inapplicable=training)
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"cases": cases}), encoding="utf-8")
    page = Page(report(tmp_path).read_text(encoding="utf-8"))
    facts = dict(zip((text for _, text in page.find("dt")), (text for _, text in page.find("dd")), strict=True))
    assert (facts["cases examined"], facts["for training"], facts["not examined"]) == ("40", "12", "3")
    assert (facts["questions"], facts["candidates"]) == ("40", "4")


def test_an_incomplete_run_has_an_alert(tmp_path: Path, simulated: Path) -> None:
    page = written(tmp_path, status="incomplete", why="The budget of 100 requests was reached.")
    (_, text), *_ = page.find("div", "incomplete")
    assert text.startswith("Incomplete run The budget of 100 requests was reached.")
    assert "(incomplete)" in page.find("title")[0][1]
    assert not read_page(simulated).find("div", "incomplete")


def test_notes_warnings_and_deviations_come_before_the_figures(tmp_path: Path) -> None:
    sentinel = {"small-model": {"asked_again": 4, "agree": 1, "p": 0.004, "warning": "the model may have changed"}}
    page = written(tmp_path, exploratory=["comparisons.looking"], sentinel=sentinel)
    (_, header), *_ = page.find("header")
    for expected in ("Simulated answers", "could not be parsed", "temperature 0.7 is fixed", "comparisons.looking"):
        assert expected in header
    assert "small-model: the model may have changed" in header
    assert any("asked again 4, agree 1, p 0.004" in text for _, text in page.find("li"))


def test_outcomes_are_counted_from_the_marks(simulated: Path) -> None:
    page = read_page(simulated)
    row = next(text for _, text in page.find("tr") if text.startswith("small-model small-model:") and "wrong" in text)
    mine = [mark["outcome"] for mark in marks() if mark["candidate"] == "small-model"]
    assert row.endswith(" ".join(str(mine.count(name)) for name in OUTCOMES if name != "graded"))


def test_open_and_choice_questions_each_have_their_score(tmp_path: Path) -> None:
    write_run(tmp_path)
    path = tmp_path / "measures.csv"
    head, *rest = path.read_text(encoding="utf-8").splitlines()
    hits = [line.replace("accuracy,", f"hit@{k},") for k in (3, 1) for line in rest if line.startswith("accuracy,")]
    path.write_text("\n".join([head, *rest, *hits]) + "\n", encoding="utf-8")
    page = Page(report(tmp_path).read_text(encoding="utf-8"))
    assert unanswered_anchors(page) == []
    assert [text for _, text in page.find("h3", "card-title")][:2] == ["Accuracy", "hit@1"]
    (_, specialty), *_ = [element for element in page.find("details") if element[0].get("id") == "slices-specialty"]
    assert specialty.index("Accuracy ") < specialty.index("hit@1 ")
    (_, legend), *_ = page.find("dl", "legend")
    assert "hit@1" in legend
    assert "name the right diagnosis first" in legend
    assert any(text.startswith("hit@3 ") for attributes, text in page.find("th") if attributes.get("scope") == "col")


def test_the_whole_manifest_is_printed(simulated: Path) -> None:
    page = read_page(simulated)
    pre = next("".join(text) for tag, _, text in page.elements if tag == "pre")
    assert json.loads(pre) == json.loads((simulated / "manifest.json").read_text(encoding="utf-8"))


def test_the_same_files_give_the_same_bytes(tmp_path: Path, simulated: Path) -> None:
    first = (simulated / "report.html").read_bytes()
    assert report(simulated, out=tmp_path / "again" / "other.html").read_bytes() == first


def test_a_judged_figure_says_whether_its_judge_was_validated(tmp_path):
    folder = tmp_path / "run"
    write_run(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"judge": {"name": "lexical-4"}}))
    measures = (folder / "measures.csv").read_text().splitlines()
    hit = [line.replace("accuracy,", "hit@1,", 1) for line in measures if line.startswith("accuracy,")]
    (folder / "measures.csv").write_text("\n".join([*measures, *hit]) + "\n")
    assert "judge lexical-4: not validated" in report(folder).read_text()
    kappa = {"value": 0.86, "low": 0.7, "high": 0.95, "clusters": 40}
    hits = [{"candidate": "one", "k": 1, "n": 40, "raw": 0.5, "corrected": 0.455, "low": 0.301, "high": 0.6}]
    (folder / "judge.json").write_text(json.dumps({"judge": "lexical-4", "kappa": kappa, "items": 50, "hits": hits}))
    page = report(folder).read_text()
    assert "kappa 0.86 (0.70 to 0.95)" in page
    assert "Corrected for the judge&#39;s errors: one 45.5 (30.1 to 60.0)." in page
