"""A closed task: people see their own score beside peers and models, their disagreements, and get a certificate."""

from __future__ import annotations

import re

import pytest
from chromium import CHROMIUM, needs_chromium
from desk_browser import serving
from desk_site import DeskSite, Visitor, case, once, read_all, write_set
from playwright.sync_api import sync_playwright

from wardround.desk.results.closed_task import closed_task
from wardround.pipeline import run_study

STUDY = """name = "exam"
cases = "set"
[[candidates]]
name = "always first"
provider = "position"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    """Four people in an exam of four questions: Ann has three right, the others none; a candidate takes option A."""
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    write_set(site.root / "set", [case(number) for number in range(4)])
    (site.root / "study.toml").write_text(STUDY)
    assert (
        run_study(site.root / "study.toml", runs=site.root / "runs", quiet=True, note=lambda line: None).exit_code == 0
    )
    site.task = site.make_task("exam", "set", ["role:student"], cases="4", run="runs/exam")
    site.people = [site.add_person(name, "student") for name in ("Ann", "Łukasz", "Cem", "Dai")]
    for visitor in site.people:
        sit(site, visitor, right=3 if visitor.person.name == "Ann" else 0)
    return site


def sit(site: DeskSite, visitor: Visitor, right: int) -> None:
    answered = 0

    def answer(number: int, page: str) -> dict[str, str]:
        nonlocal answered
        item = site.desk.tasks.get_item(site.task, number)
        if item.shown["page"] != "question":
            return {"agreed": "yes"} if item.shown["page"] == "rules" else {"ai": "no"}
        answered += 1
        option = item.hidden["gold"] if answered <= right else (item.hidden["gold"] + 1) % 3
        return {"option": str(option), "confidence": "70"}

    read_all(visitor, site.task, answer)


def test_nothing_is_shown_before_the_task_is_closed(site):
    ann = site.people[0]
    assert ann.get(f"/tasks/{site.task.id}/results").status_code == 404
    assert ann.get(f"/tasks/{site.task.id}/certificate").status_code == 404


def test_own_score_peers_models_and_disagreements(site):
    """Ann: 3 of 4; the three others: none; the candidate takes A, which is right in all four."""
    ann = site.people[0]
    site.admin.submit(f"/admin/tasks/{site.task.id}/state", {"open": "no"})
    result = closed_task(site.desk, site.reload(site.task), ann.person)
    assert [(score.name, score.share, score.of) for score in result.scores] == [
        ("You", 0.75, 4),
        ("Mean of 3 other people", 0.0, 3),
        ("always first", 1.0, 4),
    ]
    assert [(one.own[:2], one.other) for one in result.differences] == [("B.", "A. gout")]
    assert "Your results and certificate" in ann.get("/").text
    page = ann.get(f"/tasks/{site.task.id}/results").text
    assert "75%" in page
    assert "Łukasz" not in page
    stranger = site.add_person("Eve", "student")
    assert stranger.get(f"/tasks/{site.task.id}/results").status_code == 404


def test_readers_see_where_they_differ_from_the_others(site):
    (site.root / "pairs.csv").write_text("gold,diagnosis\ngout,podagra\ngout,lupus\n")
    task = site.make_task("judge", "pairs.csv", ["role:student"], readers="4")
    for visitor in site.people:
        for number in (1, 2):
            page = visitor.get(f"/tasks/{task.id}/items/{number}")
            is_same = number == 1 and visitor is not site.people[0]
            form = {"once": once(page.text), "same": "same" if is_same else "not same", "comment": ""}
            visitor.submit(str(page.url), form)
    site.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "no"})
    result = closed_task(site.desk, site.reload(task), site.people[0].person)
    assert [(score.name, score.share) for score in result.scores] == [("You", 0.5), ("Mean of 3 other people", 1.0)]
    assert [(one.name, one.own, one.other) for one in result.differences] == [("gout: podagra", "not same", "same")]


@needs_chromium
def test_the_certificate_is_a_pdf_of_one_page(site):
    """Also with letters that are not Latin-1; the browser makes the PDF, as its dialog does."""
    site.admin.submit(f"/admin/tasks/{site.task.id}/state", {"open": "no"})
    person = site.people[1].person
    with serving(site.app) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(base_url=url)
        cookie = site.desk.visits.sign(site.desk.accounts.open_session(person))
        context.add_cookies([{"name": site.desk.visits.cookie, "value": cookie, "url": url}])
        page = context.new_page()
        page.goto(f"/tasks/{site.task.id}/certificate")
        words = page.locator("article").inner_text()
        page.emulate_media(media="print")
        assert not page.get_by_role("button", name="Print or save as PDF").is_visible()
        data = page.pdf(prefer_css_page_size=True)
        browser.close()
    assert "Łukasz" in words
    assert "4 questions answered" in words
    assert data.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) == 1
