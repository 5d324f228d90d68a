"""The report with hostile text, broken folders and sections of plug-ins."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from markupsafe import Markup
from report_page import Page, read_page, unanswered_anchors, written
from simulated_run import views, write_run

from wardround import plugins
from wardround.core.errors import BadInput
from wardround.reporting import Section, read_run, report


def test_pages_load_nothing_and_run_only_their_own_scripts(tmp_path: Path) -> None:
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
                elif tag == "img" and address and not address.startswith("data:"):
                    assert (path.parent / address).is_file(), address  # case pages share image files
                else:
                    assert address == "" or address.startswith("data:"), (tag, address)
        policy = next(attributes["content"] for _, attributes, _ in page.elements if "http-equiv" in attributes)
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy


@pytest.mark.parametrize("where", ["candidate", "manifest"])
def test_markup_in_names_and_notes_is_escaped(tmp_path: Path, where: str) -> None:
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    if where == "candidate":
        rows = write_run(tmp_path, rename={"random": hostile})
    else:
        rows = write_run(tmp_path, notes=[hostile], warnings=[hostile], why=hostile, status="incomplete")
    page = Page(report(tmp_path, cases=views(rows)).read_text(encoding="utf-8"))
    scripts = [text for attributes, text in page.find("script") if attributes.get("type") != "text/plain"]
    assert len(scripts) == 4
    assert "alert(1)" not in "".join(scripts)
    assert not page.find("img")
    assert any(hostile in text for _, text in page.find("body"))
    index = Page((tmp_path / "cases" / "index.html").read_text(encoding="utf-8"))
    assert len(index.find("script")) == 3  # theme, data, filter
    assert not index.find("img")


def test_an_empty_manifest_still_gives_a_report(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    (tmp_path / "comparisons.csv").write_text(
        (tmp_path / "comparisons.csv").read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8"
    )
    page = Page(report(tmp_path).read_text(encoding="utf-8"))
    assert page.find("div", "incomplete"), "a status that is not known to be complete is incomplete"
    assert not any(attributes.get("id") == "comparisons" for attributes, _ in page.find("section"))
    assert unanswered_anchors(page) == []


def test_every_link_inside_the_page_has_a_target(simulated: Path) -> None:
    page = read_page(simulated)
    assert len([1 for attributes, _ in page.find("a") if (attributes["href"] or "").startswith("#")]) > 8
    assert unanswered_anchors(page) == []


def test_plugins_add_sections_and_a_broken_one_shows_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        EntryPoint(name, f"{__name__}:{name}_section", "wardround.sections") for name in ("good", "broken", "silent")
    ]
    monkeypatch.setattr(plugins, "_entry_points", lambda: EntryPoints(entries))
    monkeypatch.setattr(plugins, "_from_packages", plugins._from_packages.__wrapped__)  # what it cached is not patched
    page = written(tmp_path)
    titles = [text for _, text in page.find("h2")]
    assert titles[titles.index("broken") :][:3] == ["broken", "Good", "What was asked"]
    assert page.find("p", "problem")[0][1] == "This section could not be made: ValueError('<b>no</b>')"


def good_section(run: object) -> Section:
    return Section("good", "Good", Markup("<p>kept</p>"))


def broken_section(run: object) -> Section:
    raise ValueError("<b>no</b>")


def silent_section(run: object) -> None:
    return None


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("manifest.json", "{", "manifest.json: is not JSON"),
        ("manifest.json", "[]", "manifest.json: expected one JSON object"),
        ("manifest.json", '{"chance": 0.25}', "was measured by an earlier wardround"),
        ("measures.csv", "measure,candidate\n", "measures.csv: lacks the column 'slice'"),
        ("measures.csv", None, "measures.csv: there is no such table; write it by `wardround mark RUN`"),
        ("measures.csv", "", "measures.csv: is damaged or is not a CSV table"),
        ("study.toml", None, "study.toml: there is no such file"),
        ("study.toml", "name =", "study.toml: is not TOML"),
        ("marks.parquet", None, "marks.parquet: there is no such table; write the marks by `wardround mark RUN`"),
    ],
)
def test_a_broken_file_is_named_in_one_line(tmp_path: Path, file: str, text: str | None, message: str) -> None:
    write_run(tmp_path)
    if text is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read_run(tmp_path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_case_set_is_not_taken_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "cases.jsonl").write_text("")
    with pytest.raises(
        BadInput, match="is not a run folder, but a case set; expected the folder of a run, such as runs/STUDY"
    ):
        read_run(tmp_path)


def test_a_broken_slice_names_its_line(tmp_path: Path) -> None:
    write_run(tmp_path)
    path = tmp_path / "measures.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",{},", ",{,", 1), encoding="utf-8")
    with pytest.raises(BadInput, match=r"measures\.csv:2: slice: expected a JSON object"):
        report(tmp_path)


def test_a_section_of_a_plugin_file_is_in_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_from_files", "_loaded_files"):
        monkeypatch.setattr(plugins, name, {})
    monkeypatch.setenv(plugins.FILES_VARIABLE, "")
    file = tmp_path / "mine.py"
    file.write_text(
        "from markupsafe import Markup\nfrom wardround.plugins import section\n"
        "from wardround.reporting import Section\n"
        'section("mine")(lambda run: Section("mine", "Mine", Markup("<p>{}</p>").format(run.name)))\n',
        encoding="utf-8",
    )
    plugins.load_file(file)
    page = written(tmp_path / "run")
    (text,) = [text for attributes, text in page.find("section") if attributes.get("id") == "mine"]
    assert text == "Mine simulated"
