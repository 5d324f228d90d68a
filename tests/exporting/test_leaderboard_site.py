"""wardround site: its figures are those of the runs, only comparable runs are ranked together, nothing leaks."""

from __future__ import annotations

import csv
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from exam_study import wardround
from lab_runs import HOSTILE, SECRET

from wardround.core.errors import WardroundError
from wardround.exporting.site.build import build_site


class Page(HTMLParser):
    """Links, ids, tags and the text of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.scripts = 0
        self.words: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.scripts += tag == "script"
        self.ids += [named["id"]] if named.get("id") else []
        self.links += [address for key in ("href", "src") if (address := named.get(key))]

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def runs(lab_runs_folder: Path) -> Path:
    return lab_runs_folder


@pytest.fixture(scope="module")
def site(runs: Path) -> Path:
    out = runs.parent / "site"
    build_site([runs], out, note=[].append)
    return out


def record(site: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((site / "site.json").read_text(encoding="utf-8"))
    return document


def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file) for file in sorted(site.rglob("*.html"))}


def tables_of(site: Path, case_set: str) -> list[dict[str, Any]]:
    found = next(own for own in record(site)["case_sets"] if own["name"] == case_set)
    return list(found["tables"])


def test_every_figure_is_the_line_of_its_run(site: Path, runs: Path) -> None:
    lines = {}
    for name in ("alpha", "beta", "gamma", "odd"):
        with (runs / name / "measures.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                lines[name, row["candidate"], row["measure"], row["slice"]] = row
    figures = record(site)["figures"]
    assert len(figures) > 150
    for figure in figures:
        slice = json.dumps(figure["slice"], separators=(",", ":"))
        if figure["missing"] == "text only":
            assert figure["value"] is None
            continue
        row = lines[figure["run"], figure["candidate"], figure["measure"], slice]
        for field in ("value", "low", "high", "n", "clusters", "unparsed", "refused"):
            assert (figure[field] is None) == (row[field] == ""), (figure, field)
            assert figure[field] is None or figure[field] == float(row[field])


def test_comparable_runs_are_ranked_together(site: Path) -> None:
    """24 cases: best is always right, worst never, the others on about half. So 1 and 4 are sure, 2 and 3 are open."""
    table = tables_of(site, "cases")[0]
    assert table["runs"] == ["alpha", "beta"]
    ranks = {(row["run"], row["candidate"]): row["rank"] for row in table["rows"]}
    assert ranks == {
        ("beta", "best"): [1, 1],
        ("alpha", "best"): None,
        ("alpha", "reads only"): [2, 3],
        ("beta", "middle"): [2, 3],
        ("alpha", "worst"): [4, 4],
    }
    assert table["ranked"] == 4
    repeated = next(row for row in table["rows"] if (row["run"], row["candidate"]) == ("alpha", "best"))
    assert repeated["rank_note"] == "ranked by its later run beta"


def test_one_run_has_the_ranks_of_its_report(runs: Path, tmp_path: Path) -> None:
    build_site([runs / "odd"], tmp_path / "site")
    table = tables_of(tmp_path / "site", "few")[0]
    report = (runs / "odd" / "report.html").read_text(encoding="utf-8")
    drawn = re.findall(r"rank (\d+)(?: to (\d+))? of 4<", report)
    if not drawn:
        assert "no difference between the 4 candidates is shown" in report
        drawn = [("1", "4")] * 4
    expected = sorted([int(first), int(last or first)] for first, last in drawn)
    assert sorted(row["rank"] for row in table["rows"]) == expected


def test_runs_that_differ_are_not_ranked_together_and_the_page_says_why(site: Path) -> None:
    case_set = next(own for own in record(site)["case_sets"] if own["name"] == "cases")
    assert [table["runs"] for table in case_set["tables"]] == [["alpha", "beta"], ["gamma"]]
    reasons = case_set["not_comparable"][0]["reasons"]
    assert "reference condition: images as-is and blank" in reasons
    assert "trials 1 and 2" in reasons
    text = pages(site)[site / "case-sets" / f"{case_set['id']}.html"].text
    assert "reference condition: images as-is and blank" in text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda manifest: manifest.update(status="incomplete", why="stopped"), "is incomplete"),
        (lambda manifest: manifest.update(image_size={"max_pixels": 9}), "image size"),
        (lambda manifest: manifest["prompts"].update({"paper/choice": "f" * 64}), "prompt paper/choice"),
        (lambda manifest: manifest["cases"].update(hash="0" * 64), None),
    ],
)
def test_a_run_made_otherwise_has_a_table_of_its_own(runs: Path, tmp_path: Path, change: Any, reason: Any) -> None:
    for name in ("alpha", "beta"):
        shutil.copytree(runs / name, tmp_path / "runs" / name)
    file = tmp_path / "runs" / "beta" / "manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)
    file.write_text(json.dumps(manifest))
    build_site([tmp_path / "runs"], tmp_path / "site")
    case_sets = record(tmp_path / "site")["case_sets"]
    assert [table["runs"] for own in case_sets for table in own["tables"]] in (
        [["alpha"], ["beta"]],
        [["beta"], ["alpha"]],
    )
    if reason is None:
        assert len(case_sets) == 2
    else:
        assert reason in "; ".join(case_sets[0]["not_comparable"][0]["reasons"])


def test_a_candidate_that_does_not_see_has_no_value_in_figures_about_images(site: Path) -> None:
    own = [figure for figure in record(site)["figures"] if figure["candidate"] == "reads only"]
    about_images = [figure for figure in own if "images" in figure["slice"]]
    assert {figure["slice"]["images"] for figure in about_images} == {"as-is", "swapped"}
    assert {(figure["value"], figure["missing"]) for figure in about_images} == {(None, "text only")}
    assert any(figure["value"] is not None for figure in own)
    page = next(own["page"] for own in record(site)["candidates"] if own["name"] == "reads only")
    assert "Text only" in pages(site)[site / "candidates" / f"{page}.html"].text


def test_every_score_has_its_interval_its_rates_and_its_n(site: Path) -> None:
    for table in (table for own in record(site)["case_sets"] for table in own["tables"]):
        for row in table["rows"]:
            assert row["value"] is not None
            assert None not in (row["n"], row["clusters"], row["unparsed"], row["refused"])
    header = pages(site)[site / "index.html"].text
    for word in ("rank range", "unparsed", "refused", "n / clusters", "95% interval"):
        assert word in header


def test_no_text_of_a_case_no_folder_and_no_address_is_published(site: Path, runs: Path) -> None:
    for file in (file for file in site.rglob("*") if file.is_file()):
        text = file.read_text(encoding="utf-8")
        assert SECRET not in text
        assert "case-1" not in text
        assert "disease" not in text
        assert str(runs.parent) not in text


def test_addresses_and_folders_in_words_of_a_server_are_left_out(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "beta", tmp_path / "runs" / "beta")
    shutil.copytree(runs.parent / "cases", tmp_path / "runs" / "cases")
    (tmp_path / "runs" / "cases" / "manifest.json").write_text("{}")  # as `wardround build` writes it: not a run
    file = tmp_path / "runs" / "beta" / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["candidates"][0] |= {
        "base_url": "http://gpu7.lab.example/v1",
        "reported_models": ["/srv/weights/best"],
        "deviations": ["seed not sent: http://gpu7.lab.example/v1 refused it, see /srv/log/a.txt; 1/2 of calls"],
    }
    file.write_text(json.dumps(manifest))
    built = build_site([tmp_path / "runs"], tmp_path / "site")
    assert (built.runs, built.problems) == (1, [])
    texts = [file.read_text(encoding="utf-8") for file in (tmp_path / "site").rglob("*.*") if file.is_file()]
    assert not any("gpu7" in text or "/srv" in text for text in texts)
    deviation = "seed not sent: [left out] refused it, see [left out]; 1/2 of calls"
    assert any(deviation in text for text in texts)
    assert any("a path, left out" in text for text in texts)


def test_links_lead_to_files_and_ids_are_unique(site: Path) -> None:
    for file, page in pages(site).items():
        assert len(page.ids) == len(set(page.ids)), file
        for link in page.links:
            address = urlsplit(link)
            if link == "data:,":
                continue
            assert not address.scheme, link
            target = (file.parent / unquote(address.path)).resolve() if address.path else file
            assert target.is_file(), (file, link)
            if address.fragment and target.suffix == ".html":
                assert address.fragment in Page(target).ids, link


def test_hostile_names_are_text_and_stay_in_the_folder(site: Path) -> None:
    for page in pages(site).values():
        assert page.scripts == 3
    files = sorted(file.name for file in (site / "candidates").iterdir())
    assert len(files) == len(record(site)["candidates"]) == 4 + len(HOSTILE)
    assert all(re.fullmatch(r"[a-z0-9-]{1,60}\.html", name) for name in files)
    assert HOSTILE[0] in pages(site)[site / "index.html"].text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", (site / "index.html").read_text(encoding="utf-8"))


def test_a_published_site_links_nothing_outside_unless_it_was_named(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "beta", tmp_path / "runs" / "beta")
    exported = wardround("view", "runs/beta", "--export", "runs/beta/explorer", cwd=_with_cases(tmp_path, runs))
    assert exported.returncode == 0, exported.stderr

    def links(**options: Any) -> tuple[Any, Any]:
        build_site([tmp_path / "runs"], tmp_path / "site", **options)
        run = record(tmp_path / "site")["runs"][0]
        return run["report"], run["explorer"]

    explorer = "../runs/beta/explorer/index.html"
    assert links() == ("../runs/beta/report.html", explorer)
    assert links(url="https://lab.example/board") == (None, None)
    assert links(url="https://lab.example", explorers=[str(tmp_path / "runs/beta/explorer")]) == (None, explorer)
    report, _ = links(url="https://lab.example", copy_reports=True)
    copied = (tmp_path / "site" / report).read_bytes()
    assert copied == (tmp_path / "runs/beta/report.html").read_bytes()
    with pytest.raises(WardroundError, match="is not an exported explorer"):
        links(explorers=[str(tmp_path / "runs")])


def _with_cases(folder: Path, runs: Path) -> Path:
    """The folder of a copied run, with the case set and the answers that the explorer reads."""
    shutil.copytree(runs.parent / "cases", folder / "cases")
    shutil.copy(runs.parent / "answers.sqlite", folder / "answers.sqlite")
    return folder


def test_a_broken_run_is_one_line_and_the_others_are_built(runs: Path, tmp_path: Path) -> None:
    for name in ("alpha", "odd"):
        shutil.copytree(runs / name, tmp_path / "runs" / name)
    (tmp_path / "runs" / "odd" / "measures.csv").write_text("nonsense\n1\n")
    built = wardround("site", "runs", "--out", "site", "--json", cwd=tmp_path)
    assert built.returncode == 0
    assert built.stderr.count("\n") == 1
    assert "measures.csv" in built.stderr
    printed = json.loads(built.stdout)
    assert (printed["runs"], len(printed["problems"])) == (1, 1)
    strict = wardround("site", "runs", "--out", "other", "--strict", cwd=tmp_path)
    assert strict.returncode == 1
    assert "measures.csv" in strict.stderr
    assert not (tmp_path / "other").exists()


def test_a_run_that_lost_its_manifest_is_a_problem(runs: Path, tmp_path: Path) -> None:
    for name in ("alpha", "odd"):
        shutil.copytree(runs / name, tmp_path / "runs" / name)
    (tmp_path / "runs" / "odd" / "manifest.json").unlink()
    (tmp_path / "runs" / "notes").mkdir()
    built = build_site([tmp_path / "runs"], tmp_path / "site")
    assert built.runs == 1
    assert [problem.partition(": ")[2] for problem in built.problems] == [
        "has marks but no manifest.json; run its study again, or remove the folder"
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--out", "site"], "there is no such folder"),
        (["runs", "--out", "runs/alpha/site"], "lies inside"),
        (["runs", "--out", "site", "--url", "lab.example"], "expected an address"),
        (["runs", "--out", "taken"], "would be overwritten"),
        (["runs", "--out", "file"], "is a file"),
    ],
)
def test_bad_input_is_one_line(runs: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "runs").symlink_to(runs)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "index.html").write_text("mine")
    (tmp_path / "file").write_text("mine")
    result = wardround("site", *arguments, cwd=tmp_path)
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert (tmp_path / "taken" / "index.html").read_text() == "mine"
