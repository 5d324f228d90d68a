"""The report stands by itself, whatever it is made of: hostile text, broken folders, sections of others."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from markupsafe import Markup
from report_page import Page, unanswered_anchors, written
from simulated_run import views, write_run

from wardround.core.errors import BadInput
from wardround.reporting import Section, read_run, report
from wardround.reporting.sections import section as section_module


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


def test_links_inside_the_page_lead_somewhere(tmp_path: Path) -> None:
    page = written(tmp_path)
    assert len([1 for told, _ in page.find("a") if (told["href"] or "").startswith("#")]) > 8
    assert unanswered_anchors(page) == []


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
        ("study.toml", "name =", "study.toml: is not TOML"),
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
