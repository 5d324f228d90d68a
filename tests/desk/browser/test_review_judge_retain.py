"""Tasks done in a real Chromium from start to export, the browser closed and opened again in the middle."""

from __future__ import annotations

import json

import pytest
from chromium import needs_chromium
from desk_browser import BrowserUser, browser_users
from desk_process import DeskProcess
from desk_site import case, write_set
from playwright.sync_api import expect
from test_retain_task import degraded

from wardround.building.review.review import review
from wardround.measuring.validation.judge_labels import read_labels

pytestmark = [pytest.mark.slow, needs_chromium]


def tick_all(user: BrowserUser) -> None:
    user.page.get_by_role("button", name="All fulfilled").click()


def save(user: BrowserUser) -> None:
    user.click_button("Save and go on")


def choose(user: BrowserUser, name: str) -> None:
    """As a finger would: on the big button around the radio."""
    user.page.locator("label.choice", has_text=name).first.click()


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_review_from_invitation_to_the_new_set(tmp_path):
    root = tmp_path / "desk"
    scan = [{"path": "images/1.png", "modality": "CT"}]
    write_set(root / "set", [case(number, images=scan) for number in range(4)])
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, student, physician = new_user("Ada"), new_user("Stu"), new_user("Phil")
        admin.join(served.link)
        links = admin.invite("student"), admin.invite("attending")
        task = admin.make_task("Review", "First reading", "set", ["student", "attending"], share="0.5", passes="1")
        student.join(links[0])
        student.click_link("Begin")
        frame = student.page.locator(".frame").first
        frame.focus()
        for key in ("+", "+", "ArrowLeft", "ArrowUp"):
            student.page.keyboard.press(key)
        assert float(frame.get_attribute("data-scale")) > 1.5
        student.page.keyboard.press("Home")
        assert frame.get_attribute("data-scale") == "1.00"
        tick_all(student)
        student.page.locator("body").press("1")
        student.press_to_submit()
        expect(student.page.get_by_text("1 read, 3 waiting")).to_be_visible()
        student.page.get_by_label("Comment").fill("half a thought")
        choose(student, "Discard")
        expect(student.page.get_by_role("status")).to_have_text("Kept")
        begun = student.page.url
        student.come_back()
        student.click_link("Go on")
        assert student.page.url == begun
        expect(student.page.get_by_label("Comment")).to_have_value("half a thought")
        expect(student.page.get_by_role("radio", name="Discard")).to_be_checked()
        save(student)
        expect(student.page.get_by_text("2 read, 2 waiting")).to_be_visible()
        student.page.get_by_text("Edit the case").click()
        student.page.get_by_label("History").fill("Another history.")
        expect(student.page.get_by_role("radio", name="Edit")).to_be_checked()
        choose(student, "No")  # to the first criterion
        save(student)
        tick_all(student)
        choose(student, "Keep")
        save(student)
        expect(student.page.get_by_text("All done for now")).to_be_visible()
        physician.join(links[1])
        physician.click_link("Begin")
        for _ in range(2):
            tick_all(physician)
            choose(physician, "Keep")
            save(physician)
        expect(physician.page.get_by_text("All done for now")).to_be_visible()
        admin.page.goto(task)
        expect(admin.page.get_by_role("cell", name="passed")).to_be_visible()
        file = admin.download(task, "review.jsonl", tmp_path / "review.jsonl")
        assert [admin.errors, student.errors, physician.errors] == [[], [], []]
    said = lines(file)
    assert sorted(line["verdict"] for line in said if line["level"] == "student") == ["discard", "edit", "keep", "keep"]
    result = review(root / "set", [file], share=0)
    assert len(result.changes) == 1 or result.to_dict()["states"].get("in arbitration")


def test_judge_validation_from_pairs_to_labels(tmp_path):
    root = tmp_path / "desk"
    root.mkdir()
    pairs = ["gold,diagnosis,same", "gout,podagra,yes", "gout,lupus,no", "angina,stable angina,yes"]
    (root / "pairs.csv").write_text("\n".join(pairs) + "\n")
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, one, other = new_user("Ada"), new_user("One"), new_user("Other")
        admin.join(served.link)
        links = admin.invite("attending"), admin.invite("attending")
        task = admin.make_task("Judge validation", "Pairs", "pairs.csv", ["attending"])
        for user, link in ((one, links[0]), (other, links[1])):
            user.join(link)
            user.click_link("Begin")
            for number in range(3):
                same = "lupus" not in user.page.locator("main").inner_text()
                user.page.locator("body").press("1" if same else "2")
                save(user)
                expect(user.page.get_by_text(f"{number + 1} read")).to_be_visible()
                if number == 0:
                    user.come_back()
                    user.click_link("Go on")
        admin.page.goto(task)
        expect(admin.page.get_by_text("Cohen's kappa").first).to_be_visible()
        file = admin.download(task, "labels.jsonl", tmp_path / "labels.jsonl")
        assert [admin.errors, one.errors, other.errors] == [[], [], []]
    assert {(label.diagnosis, label.same) for label in read_labels(file)} == {
        ("podagra", True),
        ("lupus", False),
        ("stable angina", True),
    }


def test_retain_or_discard_from_set_to_decisions(tmp_path):
    root = tmp_path / "desk"
    write_set(root / "set", [degraded(0)])
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, reader = new_user("Ada"), new_user("Rae")
        admin.join(served.link)
        link = admin.invite("radiologist")
        task = admin.make_task("Retain or discard", "Degraded", "set", ["radiologist"], readers="1")
        reader.join(link)
        reader.click_link("Begin")
        expect(reader.page.locator(".frame img")).to_have_count(3)
        for image in reader.page.locator(".frame img").all():
            assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 96
        reader.page.locator("body").press("2")
        save(reader)
        expect(reader.page.get_by_role("alert")).to_have_text("Say why it is discarded.")
        reader.page.get_by_role("checkbox", name="L2 cannot be distinguished from L0").check()
        expect(reader.page.get_by_role("status")).to_have_text("Kept")
        reader.come_back()
        reader.click_link("Begin")
        expect(reader.page.get_by_role("checkbox", name="L2 cannot be distinguished from L0")).to_be_checked()
        save(reader)
        choose(reader, "Retain")
        save(reader)
        expect(reader.page.get_by_text("All done for now")).to_be_visible()
        admin.page.goto(task)
        expect(admin.page.get_by_text("The paper: about 8.3%")).to_be_visible()
        file = admin.download(task, "decisions.jsonl", tmp_path / "decisions.jsonl")
        assert admin.errors == []
        assert [line for line in reader.errors if "422" not in line] == []
    assert sorted(line["decision"] for line in lines(file)) == ["discard", "discard", "retain", "retain"]
