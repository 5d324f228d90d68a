"""The exam in a real Chromium, by keyboard alone, with the browser closed and opened again in the middle."""

from __future__ import annotations

import csv

import pytest
from desk_browser import PASSWORD, Human, humans, needs_chromium
from desk_process import Served
from desk_room import write_set
from playwright.sync_api import expect
from test_exam import chain_case, exam_case

from wardround.candidates.people import COLUMNS

pytestmark = [pytest.mark.slow, needs_chromium]


def press(human: Human, *keys: str) -> None:
    for key in keys:
        human.page.keyboard.press(key)


def tab_to(human: Human, name: str, most: int = 40) -> None:
    """Tab until what has the focus is called so."""
    said = (
        "e => e === document.body ? '' : (e.ariaLabel || (e.labels && e.labels[0] ? e.labels[0] : e).innerText).trim()"
    )
    for _ in range(most):
        press(human, "Tab")
        if name in human.page.evaluate(f"({said})(document.activeElement)"):
            return
    raise AssertionError(f"Tab never reaches {name!r}")


def begin(human: Human, link: str) -> None:
    """Comes in and agrees to the rules, without a mouse."""
    human.page.goto(link)
    human.page.keyboard.type(human.name)
    press(human, "Tab")
    human.page.keyboard.type("Surgery")
    for _ in range(2):
        press(human, "Tab")
        human.page.keyboard.type(PASSWORD)
    press(human, "Enter")
    expect(human.page.get_by_role("heading", name="My tasks")).to_be_visible()
    tab_to(human, "Begin")
    press(human, "Enter")
    expect(human.page.get_by_role("heading", name="Before you begin")).to_be_visible()
    tab_to(human, "I keep to these rules")
    press(human, "Space")
    tab_to(human, "Begin")
    press(human, "Enter")


def test_the_exam_by_keyboard_alone(tmp_path):
    root = tmp_path / "desk"
    write_set(root / "set", [exam_case(number, ("Surgery", "Dentistry")[number % 2]) for number in range(6)])
    with Served(root) as served, humans(served.url) as meet:
        admin, expert = meet("Ada"), meet("Eve")
        admin.join(served.link)
        link = admin.invite("attending")
        task = admin.make_task(
            "Exam", "Board", "set", ["attending"], cases="4", rules="Only a pocket calculator, please."
        )
        begin(expert, link)
        page = expert.page
        expect(page.get_by_text("Question 1 of 4")).to_be_visible()
        page.keyboard.press("b")
        page.keyboard.press("7")
        shown = page.locator("label.choice", has=page.locator("input[name=option]:checked")).inner_text()
        assert shown.startswith("B")
        first = shown.split(None, 1)[1].strip()
        expect(page.get_by_role("timer")).to_contain_text("on this question")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("Question 2 of 4")).to_be_visible()
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
            expect(page.get_by_text(f"Question {number} of 4")).to_be_visible()
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
        assert admin.wrong == []
        assert [line for line in expert.wrong if "404" not in line] == []
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    assert tuple(rows[0]) == COLUMNS
    assert [row["confidence"] for row in rows] == ["0.7", "0.4", "1.0", "1.0"]
    assert {(row["person"], row["role"], row["specialty"]) for row in rows} == {("Eve", "attending", "Surgery")}
    number = rows[0]["case"].rsplit("-", 1)[1]
    assert first == f"disease {number} {rows[0]['option'].lower()}"  # the case's own order
    assert all(float(row["seconds"]) > 0 for row in rows)


def test_a_chain_shows_ones_own_answers(tmp_path):
    root = tmp_path / "desk"
    write_set(root / "set", [chain_case(0)])
    with Served(root) as served, humans(served.url) as meet:
        admin, expert = meet("Ada"), meet("Eve")
        admin.join(served.link)
        link = admin.invite("specialist")
        task = admin.make_task("Exam", "Eyes", "set", ["specialist"], cases="1")
        begin(expert, link)
        page, own = expert.page, []
        chosen = page.locator("label.choice", has=page.locator("input[name=option]:checked"))
        for number in (1, 2, 3):
            expect(page.get_by_text(f"step {number} of 3 on this patient")).to_be_visible()
            assert page.locator(".earlier dd").all_inner_texts() == own
            page.locator("label.choice", has=page.locator("input[name=option]")).nth(1).click()
            own.append(chosen.inner_text()[1:].strip())
            page.get_by_label("80 percent").check(force=True)
            page.get_by_role("button", name="Answer and go on").click()
        page.locator("label.choice", has_text="I confirm: no AI tool was used.").click()
        page.get_by_role("button", name="Finish").click()
        expect(page.get_by_text("All done for now")).to_be_visible()
        file = admin.download(task, "answers.csv", tmp_path / "answers.csv")
        assert [admin.wrong, expert.wrong] == [[], []]
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    assert [f"{row['question']} {'xyz'['ABC'.index(row['option'])]} of 0" for row in rows] == own
