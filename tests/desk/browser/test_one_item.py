"""One item of each kind of task in a real Chromium: the page works by keyboard, and its verdict is saved.

The whole way of each task, from the invitation to the export, is in the slow browser tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chromium import CHROMIUM, needs_chromium
from desk_browser import serving, watch
from desk_site import DeskSite, case, write_set
from exam_server import ExamServer
from exam_study import write_cases, write_study
from playwright.sync_api import Page, expect, sync_playwright
from test_construct_task import OTHERS, REPORT
from test_exam import exam_case
from test_retain_task import degraded
from test_severity_task import scan

from wardround.desk.records import Task
from wardround.marking.judges.error_classes import CLASSES
from wardround.pipeline import run_study

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    """A desk with a run below its folder; a run cannot be made while Playwright's event loop runs."""
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    write_cases(site.root / "cases", 2)
    with ExamServer(lambda body, index: "The long course led me to think of this, so: the answer is B.") as server:
        study = write_study(site.root, server.url)
        assert run_study(study, runs=site.root / "runs", quiet=True, note=lambda line: None).exit_code == 0
    return site


@pytest.fixture(scope="module")
def page(site) -> Iterator[Page]:
    """The browser of a reader who has logged in."""
    site.reader = site.add_person("Rae", "radiologist")
    with serving(site.app) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 900})
        cookie = site.desk.visits.sign(site.desk.accounts.open_session(site.reader.person))
        context.add_cookies([{"name": site.desk.visits.cookie, "value": cookie, "url": url}])
        page = context.new_page()
        site.errors = []
        watch(page, site.errors)
        yield page
        browser.close()


def begin(site: DeskSite, page: Page, kind: str, source: str, **settings: str) -> Task:
    """A new task for the reader, and its first item on the screen."""
    site.errors.clear()
    task = site.make_task(kind, source, ["role:radiologist"], **settings)
    page.goto(f"/tasks/{task.id}/next", wait_until="networkidle")
    check_keys(page)
    return task


def check_keys(page: Page) -> None:
    """No key has two meanings: answers, the commands of the viewer and those of the page."""
    answers = page.evaluate("[...document.querySelectorAll('[data-key]')].map(element => element.dataset.key)")
    commands = page.evaluate("[...document.querySelectorAll('.frame')].flatMap(frame => [...frame.commands.keys()])")
    assert len(answers) == len(set(answers)), answers
    assert not set(answers) & {*commands, "?", "Escape"}
    assert all(len(key) == 1 and not (key.isalpha() and key.isupper()) for key in answers)
    letters = [key for key in commands if key.isalpha() and len(key) == 1]
    assert letters == []  # letters of the viewer need Shift, those of answers have none
    assert not {"Shift+D", "Shift+M"} & set(commands)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def submit(page: Page) -> None:
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")


def saved(site: DeskSite, task: Task) -> dict:
    """The verdict that was saved last; the pages had no errors."""
    assert [error for error in site.errors if "422" not in error] == []
    return dict(site.desk.tasks.verdicts(task)[-1].said)


def test_a_case_is_reviewed(site, page):
    write_set(site.root / "review", [case(1, images=[{"path": "images/1.png", "modality": "CT"}])])
    task = begin(site, page, "review", "review", share="1")
    frame = page.locator(".frame").first
    frame.focus()
    press(page, "+", "+")
    expect(frame).to_have_attribute("data-scale", "1.56")
    press(page, "f", "f")  # an answer although the image has the focus: the fourth criterion is not fulfilled
    assert page.locator("[data-key=f] input:checked").get_attribute("value") == "no"
    press(page, "y", "1")
    submit(page)
    expect(page.get_by_text("All done for now")).to_be_visible()
    assert saved(site, task)["verdict"] == "keep"


def test_criteria_have_three_states_by_keys_and_changes_are_taken_back(site, page):
    write_set(site.root / "two", [case(number) for number in range(2)])
    task = begin(site, page, "review", "two", share="1")
    states = "[...document.querySelectorAll('[data-cycle] input:checked')].map(input => input.value)"
    assert page.evaluate(states) == ["", "", "", ""]  # nothing is judged before the reader judges it
    press(page, "a", "s", "s", "y", "z")
    assert page.evaluate(states) == ["yes", "no", "", ""]  # "all fulfilled" was taken back
    press(page, "a", "a", "3")
    assert page.evaluate(states) == ["", "no", "", ""]
    submit(page)
    assert saved(site, task)["criteria"] == {"clarity": None, "rationality": False, "accuracy": None, "options": None}
    expect(page.get_by_text("1 read")).to_be_visible()
    with page.expect_navigation():
        press(page, "p")
    assert page.evaluate(states) == ["", "no", "", ""]
    press(page, "y", "1")
    submit(page)
    assert saved(site, task)["verdict"] == "keep"


def test_a_degraded_question_is_discarded_with_a_reason(site, page):
    write_set(site.root / "retain", [degraded(0)])
    task = begin(site, page, "retain", "retain", readers="1")
    expect(page.locator(".frame img")).to_have_count(3)
    for image in page.locator(".frame img").all():
        assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 96
    press(page, "2")
    submit(page)
    expect(page.get_by_role("alert")).to_have_text("Say why it is discarded.")
    page.get_by_role("checkbox", name="Mislabelled").check()
    submit(page)
    assert (saved(site, task)["decision"], saved(site, task)["reasons"]) == ("discard", ["type"])


def test_a_pair_of_diagnoses_is_judged(site, page):
    (site.root / "pairs.csv").write_text("gold,diagnosis\ngout,podagra\n")
    task = begin(site, page, "judge", "pairs.csv")
    expect(page.get_by_text("podagra")).to_be_visible()
    press(page, "1")
    submit(page)
    assert saved(site, task)["same"] == "same"


def test_a_question_is_written_from_a_report(site, page):
    """Digits that are typed into the stem are text, not the keys of buttons."""
    (site.root / "reports").mkdir()
    (site.root / "reports" / "toe.txt").write_text(REPORT)
    task = begin(site, page, "construct", "reports")
    press(page, "1")
    page.locator("[name=stem]").focus()
    page.keyboard.type("A 22-year-old man had a red toe for 2 days.")
    assert page.locator("[name=decision][value=write]").is_checked()
    page.locator("[name=diagnosis]").fill("Gout")
    page.locator("[name=others]").fill("\n".join(OTHERS))
    submit(page)
    expect(page.get_by_role("alert")).to_contain_text("not ticked")
    for box in page.get_by_role("group", name="Checklist").get_by_role("checkbox").all():
        box.check()
    submit(page)
    said = saved(site, task)
    assert (said["stem"], said["others"]) == ("A 22-year-old man had a red toe for 2 days.", OTHERS)


def test_an_error_is_classified(site, page):
    task = begin(site, page, "errors", "runs/exam", many="0")
    expect(page.get_by_text("The long course led me to think of this")).to_be_visible()
    press(page, "3")
    submit(page)
    assert saved(site, task)["class"] == CLASSES[2]


def test_the_levels_of_a_degradation_are_marked(site, page):
    write_set(site.root / "severity", [scan(1)])
    task = begin(site, page, "severity", "severity", types="gaussian_blur", images="1")
    expect(page.get_by_role("slider")).to_be_focused()
    press(page, *["PageUp"] * 5)
    expect(page.locator("img.live[data-at='0.50']")).to_be_visible()
    press(page, "1", *["PageUp"] * 5)
    expect(page.locator("img.live[data-at='1.00']")).to_be_visible()
    press(page, "2")
    expect(page.get_by_role("button", name="still feasible")).to_contain_text("marked")
    submit(page)
    assert (saved(site, task)["l1"], saved(site, task)["l2"]) == (0.5, 1.0)


def test_an_exam_question_is_answered(site, page):
    write_set(site.root / "exam", [exam_case(1, "Surgery")])
    task = begin(site, page, "exam", "exam", cases="1", confidence="yes")
    page.get_by_role("checkbox", name="I keep to these rules").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Question 1 of 1")).to_be_visible()
    expect(page.get_by_role("timer")).to_contain_text("on this question")
    check_keys(page)
    press(page, "b", "7")
    chosen = page.locator("label.choice", has=page.locator("input[name=option]:checked")).inner_text()
    submit(page)
    expect(page.get_by_role("heading", name="Thank you: one last thing")).to_be_visible()
    answer = saved(site, task)
    assert (answer["confidence"], chosen.split()[0]) == (0.7, "B")
    assert chosen.split(None, 1)[1].strip() == f"disease 1 {'abcde'[answer['option']]}"


def test_a_rubric_is_written_and_what_is_wrong_is_said(site, page):
    write_set(site.root / "talks", [case(1, images=[{"path": "images/1.png", "modality": "CT"}])])
    task = begin(site, page, "rubrics", "talks")
    page.get_by_label("Question", exact=False).first.fill("What do you tell the patient?")
    page.get_by_label("Criterion 1", exact=True).fill("Explains the finding")
    page.get_by_label("Points of criterion 1", exact=True).fill("many")
    page.get_by_label("Save this rubric").check()
    submit(page)
    expect(page.get_by_role("alert")).to_contain_text("Criterion 1 has many points")
    expect(page.get_by_label("Criterion 1", exact=True)).to_have_value("Explains the finding")
    page.get_by_label("Points of criterion 1", exact=True).fill("5")
    submit(page)
    expect(page.get_by_text("All done for now")).to_be_visible()
    assert saved(site, task)["criteria"] == [{"id": "c1", "text": "Explains the finding", "points": 5.0, "axis": None}]
