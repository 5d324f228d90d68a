"""The exam in a real Chromium, by keyboard alone, with the browser closed and opened again in the middle."""

from __future__ import annotations

import csv
import re

import pytest
from chromium import needs_chromium
from desk_browser import PASSWORD, BrowserUser, browser_users
from desk_process import DeskProcess
from desk_site import write_set
from playwright.sync_api import expect
from test_exam import chain_case, exam_case, told_with_an_image

from wardround.candidates.people import COLUMNS

pytestmark = [pytest.mark.slow, needs_chromium]
SECONDS_PASSED = re.compile(r"(0:0[1-9]|0:[1-5]\d|[1-9]\d*:\d\d) on this question")


def press(user: BrowserUser, *keys: str) -> None:
    for key in keys:
        user.page.keyboard.press(key)


def tab_to(user: BrowserUser, name: str, max_tabs: int = 40) -> None:
    """Presses Tab until the element with this label has the focus."""
    label = (
        "e => e === document.body ? '' : (e.ariaLabel || (e.labels && e.labels[0] ? e.labels[0] : e).innerText).trim()"
    )
    for _ in range(max_tabs):
        press(user, "Tab")
        if name in user.page.evaluate(f"({label})(document.activeElement)"):
            return
    raise AssertionError(f"Tab never reaches {name!r}")


def wait_for_page(user: BrowserUser, text: str) -> None:
    """Waits until a page shows a text and its scripts run."""
    expect(user.page.get_by_text(text).first).to_be_visible()
    user.page.wait_for_load_state()


def begin(user: BrowserUser, link: str) -> None:
    """Comes in and agrees to the rules, without a mouse."""
    user.page.goto(link)
    user.page.keyboard.type(user.name)
    for field, text in {"Specialty": "Surgery", "Password": PASSWORD, "The same again": PASSWORD}.items():
        tab_to(user, field)
        user.page.keyboard.type(text)
    press(user, "Enter")
    expect(user.page.get_by_role("heading", name="My tasks")).to_be_visible()
    tab_to(user, "Begin")
    press(user, "Enter")
    expect(user.page.get_by_role("heading", name="Before you begin")).to_be_visible()
    tab_to(user, "I keep to these rules")
    press(user, "Space")
    tab_to(user, "Begin")
    press(user, "Enter")


def test_the_exam_by_keyboard_alone(tmp_path):
    root = tmp_path / "desk"
    write_set(root / "set", [exam_case(number, ("Surgery", "Dentistry")[number % 2]) for number in range(6)])
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, expert = new_user("Ada"), new_user("Eve")
        admin.join(served.link)
        link = admin.invite("attending")
        task = admin.make_task(
            "Exam", "Board", "set", ["attending"], cases="4", rules="Only a pocket calculator, please."
        )
        begin(expert, link)
        page = expert.page
        wait_for_page(expert, "Question 1 of 4")
        page.keyboard.press("b")
        page.keyboard.press("7")
        shown = page.locator("label.choice", has=page.locator("input[name=option]:checked")).inner_text()
        assert shown.startswith("B")
        first = shown.split(None, 1)[1].strip()
        expect(page.get_by_role("timer")).to_contain_text(SECONDS_PASSED)
        page.keyboard.press("Control+Enter")
        wait_for_page(expert, "Question 2 of 4")
        page.keyboard.press("d")
        expect(page.get_by_role("status")).to_have_text("Kept")
        begun, second = page.url, page.locator("label.choice", has=page.locator("input:checked")).inner_text()
        page = expert.come_back()
        expect(page.get_by_role("heading", name="My tasks")).to_be_visible()
        tab_to(expert, "Go on")
        press(expert, "Enter")
        page.wait_for_url(begun)
        assert page.locator("label.choice", has=page.locator("input:checked")).inner_text() == second
        tab_to(expert, "10 percent")
        press(expert, "Space", "ArrowRight", "ArrowRight", "ArrowRight")
        tab_to(expert, "Answer and go on")
        press(expert, "Enter")
        for number in (3, 4):
            wait_for_page(expert, f"Question {number} of 4")
            press(expert, "a", "0", "Control+Enter")
        expect(page.get_by_role("heading", name="Thank you: one last thing")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", name="Not here")).to_be_visible()  # no going back
        page.goto(f"{served.url}/")
        tab_to(expert, "Go on")
        press(expert, "Enter")
        expect(page.get_by_role("heading", name="Thank you: one last thing")).to_be_visible()
        tab_to(expert, "no AI tool was used")
        press(expert, "Space")
        press(expert, "Control+Enter")
        expect(page.get_by_text("All done for now")).to_be_visible()
        file = admin.download(task, "answers.csv", tmp_path / "answers.csv")
        assert admin.errors == []
        assert [line for line in expert.errors if "404" not in line] == []
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    assert tuple(rows[0]) == COLUMNS
    assert [row["confidence"] for row in rows] == ["0.7", "0.4", "1.0", "1.0"]
    assert {(row["person"], row["role"], row["specialty"]) for row in rows} == {("Eve", "attending", "Surgery")}
    number = rows[0]["case"].rsplit("-", 1)[1]
    assert first == f"disease {number} {rows[0]['option'].lower()}"  # the case's own order
    assert float(rows[0]["seconds"]) >= 1
    assert all(float(row["seconds"]) >= 0 for row in rows)


def test_a_chain_shows_ones_own_answers_and_not_what_follows(tmp_path):
    root = tmp_path / "desk"
    write_set(root / "set", [chain_case(0)])
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, expert = new_user("Ada"), new_user("Eve")
        admin.join(served.link)
        link = admin.invite("specialist")
        task = admin.make_task("Exam", "Eyes", "set", ["specialist"], cases="1")
        begin(expert, link)
        page, own = expert.page, []
        chosen = page.locator("label.choice", has=page.locator("input[name=option]:checked"))
        for number in (1, 2, 3):
            step = [f"step {number} on this patient"] if number > 1 else []
            expect(page.get_by_text(f"Question {number} of 3")).to_be_visible()
            assert re.findall(r"step .*? on this patient", page.inner_text("main")) == step
            assert page.locator(".earlier dd").all_inner_texts() == own
            page.locator("label.choice", has=page.locator("input[name=option]")).nth(1).click()
            own.append(chosen.inner_text()[1:].strip())
            page.get_by_label("80 percent").check(force=True)
            page.get_by_role("button", name="Answer and go on").click()
        page.locator("label.choice", has_text="I confirm: no AI tool was used.").click()
        page.get_by_role("button", name="Finish").click()
        expect(page.get_by_text("All done for now")).to_be_visible()
        file = admin.download(task, "answers.csv", tmp_path / "answers.csv")
        assert [admin.errors, expert.errors] == [[], []]
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    assert [f"{row['question']} {'xyz'['ABC'.index(row['option'])]} of 0" for row in rows] == own


def test_clinbenchs_exam_from_its_preset(tmp_path):
    """The preset fills the form; two numbers are changed; nobody begins without a promise to use no AI tool."""
    root = tmp_path / "desk"
    write_set(root / "set", [told_with_an_image(number, ("Surgery", "Dentistry")[number % 2]) for number in range(8)])
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, expert = new_user("Ada"), new_user("Eve")
        admin.join(served.link)
        link = admin.invite("attending")
        admin.page.goto(f"{served.url}/admin/tasks/new?kind=exam")
        admin.click_link("clinbench")
        assert admin.page.locator("[name=own]").input_value() == "50"
        for field, value in {"project": "Ward", "name": "Board", "source": "set", "own": "2", "other": "1"}.items():
            admin.page.locator(f"[name={field}]").fill(value)
        admin.click_button("Make the task")
        admin.page.get_by_role("checkbox", name="attending", exact=True).check()
        admin.click_button("Give the task to them")
        expert.page.goto(link)
        expert.page.get_by_label("Specialty if you have one").select_option("Surgery")
        expert.page.get_by_label("Name").fill("Eve")
        expert.page.get_by_label("Password").fill(PASSWORD)
        expert.page.get_by_label("The same again").fill(PASSWORD)
        expert.click_button("Come in")
        expert.click_link("Begin")
        page = expert.page
        expect(page.get_by_text("AI tools of any kind are prohibited")).to_be_visible()
        page.get_by_label("I keep to these rules.").check()
        page.get_by_role("button", name="Begin").click()
        assert page.locator("[name=no_ai]").evaluate("tick => tick.validity.valueMissing"), "the browser asks for it"
        page.get_by_label("I will use no AI tool").check()
        expert.click_button("Begin")
        wait_for_page(expert, "Question 1 of 3")
        assert page.locator("[name=confidence]").count() == 0
        assert admin.errors == expert.errors == []
