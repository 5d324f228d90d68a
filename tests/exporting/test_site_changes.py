"""What changed since the last build of a site: pages, changes.json, the feed; builds replace a site as a whole."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from lab_runs import candidate, lab_cases, make_lab_run

from wardround.exporting.site import build
from wardround.exporting.site.build import build_site
from wardround.exporting.site.pages import describe_detail

MONDAY, TUESDAY, FRIDAY = (datetime(2026, 3, day, 8, 30, tzinfo=UTC) for day in (2, 3, 6))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs; tests work on copies."""
    lab = tmp_path_factory.mktemp("lab")
    lab_cases(lab / "cases", 8)
    make_lab_run(lab, "first", candidate("good", 1.0), candidate("poor", 0.0))
    make_lab_run(lab, "second", candidate("fair", 0.5))
    return lab / "runs"


@pytest.fixture
def runs(planted: Path, tmp_path: Path) -> Path:
    shutil.copytree(planted, tmp_path / "runs")
    return tmp_path / "runs"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def builds(site: Path) -> list[dict[str, Any]]:
    document: dict[str, Any] = json.loads((site / "changes.json").read_text(encoding="utf-8"))
    return list(document["builds"])


def events(site: Path) -> list[tuple[str, str]]:
    """Kind and run of the events of the latest build."""
    return [(event["kind"], event["run"]) for event in builds(site)[0]["events"]]


def set_accuracy(run: Path, name: str, value: str) -> None:
    """Writes another accuracy of a candidate at the reference condition into measures.csv."""
    file = run / "measures.csv"
    lines = file.read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith(f"accuracy,{name},{{}},"))
    fields = lines[place].split(",")
    lines[place] = ",".join([*fields[:3], value, *fields[4:]])
    file.write_text("\n".join(lines) + "\n")


def test_a_rebuild_without_changes_has_the_same_bytes(runs: Path, tmp_path: Path) -> None:
    build_site([runs], tmp_path / "site", built=MONDAY)
    first = contents(tmp_path / "site")
    again = build_site([runs], tmp_path / "site", built=TUESDAY)
    assert again.changes == 0
    assert contents(tmp_path / "site") == first
    build_site([runs], tmp_path / "fresh", built=MONDAY)
    assert contents(tmp_path / "fresh") == first


def test_new_changed_and_removed_runs_are_listed(runs: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site([runs / "first"], site, built=MONDAY)
    assert events(site) == [("added", "first")]
    set_accuracy(runs / "first", "poor", "0.125")
    build_site([runs], site, built=TUESDAY)
    assert events(site) == [("added", "second"), ("changed", "first")]
    detail = next(own for own in builds(site)[0]["events"][1]["details"] if own["what"] == "figure")
    assert (detail["candidate"], detail["measure"]) == ("poor", "accuracy")
    assert (detail["old"]["value"], detail["new"]["value"]) == (0.0, 0.125)
    build_site([runs / "second"], site, built=FRIDAY)
    assert events(site) == [("changed", "second"), ("removed", "first")]  # alone, it has a rank no more
    assert [build["number"] for build in builds(site)] == [3, 2, 1]
    page = (site / "changes.html").read_text(encoding="utf-8")
    for words in ("Removed: first", "poor: Accuracy 0.0", "now 12.5", "2026-03-03"):
        assert words in page


def test_a_run_that_cannot_be_read_any_more_is_not_called_removed(runs: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site([runs], site, built=MONDAY)
    (runs / "second" / "marks.parquet").write_bytes(b"broken")
    build_site([runs], site, built=TUESDAY, note=[].append)
    assert ("unreadable", "second") in events(site)


def feed(site: Path) -> ElementTree.Element:
    return ElementTree.fromstring((site / "feed.xml").read_bytes())


def test_the_feed_is_rss_with_stable_guids(runs: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site([runs / "first"], site, built=MONDAY, title="Lab <1> & co")
    first = [item.findtext("guid") for item in feed(site).iter("item")]
    build_site([runs], site, built=TUESDAY, title="Lab <1> & co")
    root = feed(site)
    assert (root.tag, root.get("version")) == ("rss", "2.0")
    channel = root.find("channel")
    assert channel is not None
    assert channel.findtext("title") == "Lab <1> & co"
    assert all(channel.findtext(name) for name in ("title", "link", "description", "lastBuildDate"))
    items = channel.findall("item")
    guids = [item.findtext("guid") for item in items]
    assert [item.findtext("title") for item in items] == [
        "New run: second, 1 candidate",
        "Changed: first, 2 changes",  # among three, the ranks of both are open
        "New run: first, 2 candidates",
    ]
    assert guids[2:] == first
    assert len(set(guids)) == len(guids)
    for item in items:
        assert item.findtext("title")
        assert item.findtext("description")
        assert item.find("guid").get("isPermaLink") == "false"  # type: ignore[union-attr]
        assert item.findtext("link", "").startswith("changes.html#build-")
    assert parsedate_to_datetime(items[0].findtext("pubDate", "")) == TUESDAY


def test_the_same_run_removed_twice_is_two_items(runs: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for paths in ([runs], [runs / "first"], [runs], [runs / "first"]):
        build_site(paths, site, built=MONDAY)
    guids = [item.findtext("guid") for item in feed(site).iter("item")]
    assert len(set(guids)) == len(guids) == 8  # each time the ranks of the first run change, too


def test_links_of_the_feed_are_absolute_with_an_address(runs: Path, tmp_path: Path) -> None:
    build_site([runs], tmp_path / "site", url="https://lab.example/board/", built=MONDAY)
    links = [link.text or "" for link in feed(tmp_path / "site").iter("link")]
    assert links[0] == "https://lab.example/board/index.html"
    assert all(link.startswith("https://lab.example/board/") for link in links)


def test_an_interrupted_build_leaves_the_old_site_whole(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    build_site([runs / "first"], site, built=MONDAY)
    before = contents(site)

    def interrupt(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "render_feed", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build_site([runs], site, built=TUESDAY)
    assert contents(site) == before
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_a_build_that_was_killed_between_its_renames_is_undone(runs: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site([runs / "first"], site, built=MONDAY)
    before = contents(site)
    site.replace(tmp_path / ".site.previous")
    assert build_site([runs / "first"], site, built=TUESDAY).changes == 0
    assert contents(site) == before
    assert not (tmp_path / ".site.previous").exists()


def test_what_is_not_of_the_site_stays(runs: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / ".git").mkdir(parents=True)
    (site / ".git" / "HEAD").write_text("ref")
    (site / "CNAME").write_text("lab.example")
    for paths in ([runs / "first"], [runs]):
        build_site(paths, site, built=MONDAY)
        assert (site / ".git" / "HEAD").read_text() == "ref"
        assert (site / "CNAME").read_text() == "lab.example"
    stale = [file.name for file in (site / "candidates").iterdir() if file.name.startswith("good-")]
    build_site([runs / "second"], site, built=FRIDAY)
    assert len(stale) == 1
    assert not (site / "candidates" / stale[0]).exists()


def test_a_lost_rank_is_told_with_its_reason() -> None:
    lost = {"rank": None, "ranked": 3, "rank_note": "ranked by its later run second"}
    detail = {"what": "rank", "candidate": "good", "old": {"rank": [1, 2], "ranked": 2}, "new": lost}
    assert describe_detail(detail) == "good: rank 1 to 2 of 2, now none (ranked by its later run second)"
