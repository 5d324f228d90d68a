"""The report against the files that it is made of."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from markupsafe import Markup
from simulated_run import views, write_run

from wardround.core.errors import BadInput
from wardround.reporting import Section, read_run, report
from wardround.reporting import section as section_module

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Every element with its attributes and text; unbalanced tags fail."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[int] = []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {[self.elements[place][0] for place in self.open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self.open[-1]][0] == tag, f"</{tag}> closes <{self.elements[self.open[-1]][0]}>"
        self.open.pop()
        if tag in ("td", "th", "strong", "title", "figcaption"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        for place in self.open:
            self.elements[place][2].append(data)

    def find(self, tag: str, name: str = "") -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, " ".join("".join(text).split()))
            for found, attributes, text in self.elements
            if found == tag and name in ["", *(attributes.get("class") or "").split()]
        ]


def written(folder: Path, **told: object) -> Page:
    write_run(folder, **told)
    return Page(report(folder).read_text(encoding="utf-8"))


def printed(row: dict[str, str]) -> str:
    """What a cell must show, from the text of the CSV file alone."""
    if row["n"] == "0":
        return "no cases"

    def hundredfold(text: str) -> str:
        return f"{float(text) * 100:.1f}".replace("-", "−")

    interval = f"({hundredfold(row['low'])} to {hundredfold(row['high'])})" if row["low"] else "no interval"
    return f"{hundredfold(row['value'])} {interval}"


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_figure_is_the_files_figure(tmp_path: Path) -> None:
    page = written(tmp_path)
    rows = {(row["measure"], row["candidate"], row["slice"]): printed(row) for row in lines(tmp_path / "measures.csv")}
    shown = {
        (cell["data-measure"], cell["data-candidate"], json.dumps(json.loads(cell["data-slice"]))): text
        for cell, text in page.find("td", "value")
        if "data-measure" in cell
    }
    expected = {
        key: text for key, text in rows.items() if key[0] != "accuracy_parsed" and key[2] != '{"specialty": "skin"}'
    }
    assert shown == expected
    assert any("skin" in text and "no cases" in text for _, text in page.find("div", "card"))


def test_unparsed_and_n_stand_beside_every_score(tmp_path: Path) -> None:
    write_run(tmp_path)
    html = report(tmp_path).read_text(encoding="utf-8")
    told = {(row["measure"], row["candidate"], row["slice"]): row for row in lines(tmp_path / "measures.csv")}
    checked = 0
    for chunk in re.findall(r'<tr role="row">.*?</tr>', html, re.DOTALL):
        row = Page(chunk)
        for cell, text in row.find("td", "value"):
            if "(" in text and "data-measure" in cell:
                slice = json.dumps(json.loads(cell["data-slice"] or ""))
                line = told[cell["data-measure"], cell["data-candidate"], slice]
                assert [text for _, text in row.find("td", "unparsed")] == [f"{float(line['unparsed']) * 100:.1f}"]
                assert [text for _, text in row.find("td", "n")] == [f"{line['n']} / {line['clusters']}"]
                checked += 1
    assert checked == sum(1 for row in told.values() if row["low"] and row["measure"] != "accuracy_parsed")


def test_comparisons_are_printed_and_said_in_words(tmp_path: Path) -> None:
    page = written(tmp_path)
    told = lines(tmp_path / "comparisons.csv")
    shown = [text for cell, text in page.find("td", "value") if "data-family" in cell]
    assert shown == [printed(row) for row in told]
    first = told[0]
    sentences = [text for _, text in page.find("th", "sentence")]
    points, low, high = (f"{float(first[key]) * 100:.1f}" for key in ("value", "low", "high"))
    assert sentences[0] == (
        f"sharp-eyed answers {points} points more often right than random (95% interval {low} to {high})."
    )
    assert sentences[1].endswith("This may be chance.")
    assert sentences[3].startswith("sharp-eyed, with images as-is, answers")


def test_it_loads_nothing_and_runs_only_its_own_script(tmp_path: Path) -> None:
    rows = write_run(tmp_path)
    report(tmp_path, cases=views(rows))
    for path in [tmp_path / "report.html", *(tmp_path / "cases").glob("*.html")]:
        page = Page(path.read_text(encoding="utf-8"))
        for tag, attributes, _ in page.elements:
            assert "style" not in attributes, "the policy forbids style attributes"
            assert not any(name.startswith("on") for name in attributes)
            for name in ("src", "href", "data", "action"):
                address = attributes.get(name) or ""
                if tag == "a":
                    assert "//" not in address, address
                else:
                    assert address == "" or address.startswith("data:"), (tag, address)
        policy = next(told["content"] for tag, told, _ in page.elements if "http-equiv" in told)
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy


@pytest.mark.parametrize("where", ["candidate", "manifest"])
def test_hostile_text_is_shown_and_not_obeyed(tmp_path: Path, where: str) -> None:
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    if where == "candidate":
        rows = write_run(tmp_path, rename={"random": hostile})
    else:
        rows = write_run(tmp_path, notes=[hostile], warnings=[hostile], why=hostile, status="incomplete")
    page = Page(report(tmp_path, cases=views(rows)).read_text(encoding="utf-8"))
    assert len(page.find("script")) == 1
    assert not page.find("img")
    assert any(hostile in text for _, text in page.find("body"))
    index = Page((tmp_path / "cases" / "index.html").read_text(encoding="utf-8"))
    assert len(index.find("script")) == 3  # theme, data, filter
    assert not index.find("img")


def test_incomplete_is_in_plain_sight(tmp_path: Path) -> None:
    page = written(tmp_path, status="incomplete", why="The budget of 100 requests was reached.")
    (_, text), *_ = page.find("div", "incomplete")
    assert text.startswith("Incomplete run The budget of 100 requests was reached.")
    assert "(incomplete)" in page.find("title")[0][1]
    assert not written(tmp_path).find("div", "incomplete")


def test_notes_warnings_and_deviations_come_before_the_figures(tmp_path: Path) -> None:
    sentinel = {"small-model": {"asked_again": 4, "agree": 1, "p": 0.004, "warning": "the model may have changed"}}
    page = written(tmp_path, exploratory=["comparisons.looking"], sentinel=sentinel)
    (_, header), *_ = page.find("header")
    for told in ("Simulated answers", "could not be parsed", "temperature 0.7 is fixed", "comparisons.looking"):
        assert told in header
    assert "small-model: the model may have changed" in header
    assert any("asked again 4, agree 1, p 0.004" in text for _, text in page.find("li"))


def test_outcomes_are_counted_from_the_marks(tmp_path: Path) -> None:
    rows = write_run(tmp_path)
    page = Page(report(tmp_path).read_text(encoding="utf-8"))
    row = next(text for _, text in page.find("tr") if text.startswith("small-model small-model:") and "wrong" in text)
    mine = [mark["outcome"] for mark in rows if mark["candidate"] == "small-model"]
    assert row.endswith(" ".join(str(mine.count(name)) for name in ("right", "wrong", "unparsed", "unscored")))


def test_a_manifest_with_next_to_nothing_still_gives_a_report(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    (tmp_path / "comparisons.csv").write_text(
        (tmp_path / "comparisons.csv").read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8"
    )
    page = Page(report(tmp_path).read_text(encoding="utf-8"))
    assert page.find("div", "incomplete"), "a status that is not known to be complete is incomplete"
    assert not any(told.get("id") == "comparisons" for told, _ in page.find("section"))
    assert unanswered_anchors(page) == []


def unanswered_anchors(page: Page) -> list[str]:
    ids = [told["id"] for _, told, _ in page.elements if told.get("id")]
    assert len(set(ids)) == len(ids)
    links = [told.get("href") or "" for told, _ in page.find("a")]
    return [link for link in links if link.startswith("#") and link[1:] not in ids]


def test_links_inside_the_page_lead_somewhere(tmp_path: Path) -> None:
    page = written(tmp_path)
    assert len([1 for told, _ in page.find("a") if (told["href"] or "").startswith("#")]) > 8
    assert unanswered_anchors(page) == []


def test_open_and_choice_questions_each_have_their_score(tmp_path: Path) -> None:
    write_run(tmp_path)
    path = tmp_path / "measures.csv"
    head, *rest = path.read_text(encoding="utf-8").splitlines()
    hits = [line.replace("accuracy,", f"hit@{k},") for k in (3, 1) for line in rest if line.startswith("accuracy,")]
    path.write_text("\n".join([head, *rest, *hits]) + "\n", encoding="utf-8")
    page = Page(report(tmp_path).read_text(encoding="utf-8"))
    assert unanswered_anchors(page) == []
    titles = [text for _, text in page.find("h3")]
    for title in ("Accuracy", "Right diagnosis among the first 1"):
        assert title in titles
        assert f"Specialty: {title} specialty" in titles
    assert "Right diagnosis among the first 3" in titles  # among the other measures


def test_the_manifest_is_whole(tmp_path: Path) -> None:
    page = written(tmp_path)
    pre = next("".join(text) for tag, _, text in page.elements if tag == "pre")
    assert json.loads(pre) == json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))


def test_same_files_same_bytes(tmp_path: Path) -> None:
    write_run(tmp_path)
    first = report(tmp_path).read_bytes()
    assert report(tmp_path, out=tmp_path / "again" / "other.html").read_bytes() == first


def test_packages_add_sections_and_a_broken_one_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = [
        EntryPoint("good", f"{__name__}:good_section", section_module.GROUP),
        EntryPoint("ill", f"{__name__}:ill_section", section_module.GROUP),
        EntryPoint("silent", f"{__name__}:silent_section", section_module.GROUP),
    ]
    monkeypatch.setattr(section_module, "entry_points", lambda group: added)
    page = written(tmp_path)
    titles = [text for _, text in page.find("h2")]
    assert titles[titles.index("Good") :][:3] == ["Good", "ill", "What was asked"]
    assert page.find("p", "problem")[0][1] == "This section could not be made: ValueError('<b>no</b>')"


def good_section(run: object) -> Section:
    return Section("good", "Good", Markup("<p>kept</p>"))


def ill_section(run: object) -> Section:
    raise ValueError("<b>no</b>")


def silent_section(run: object) -> None:
    return None


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("manifest.json", "{", "manifest.json: is not JSON"),
        ("manifest.json", "[]", "manifest.json: expected one JSON object"),
        ("measures.csv", "measure,candidate\n", "measures.csv: lacks the column 'slice'"),
        ("measures.csv", "", "measures.csv: cannot be read as a table"),
        ("study.toml", None, "study.toml: cannot be read"),
        ("marks.parquet", None, "marks.parquet: there are no marks"),
    ],
)
def test_broken_folders_are_named(tmp_path: Path, file: str, text: str | None, said: str) -> None:
    write_run(tmp_path)
    if text is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read_run(tmp_path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_broken_slice_names_its_line(tmp_path: Path) -> None:
    write_run(tmp_path)
    path = tmp_path / "measures.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",{},", ",{,", 1), encoding="utf-8")
    with pytest.raises(BadInput, match=r"measures\.csv:2: slice: expected a JSON object"):
        report(tmp_path)
