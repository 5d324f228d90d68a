"""Error classes in a real Chromium: from a run with a judge to `wardround judge errors`."""

from __future__ import annotations

import json
import re

import pytest
from chromium import needs_chromium
from desk_browser import BrowserUser, browser_users
from desk_process import DeskProcess
from exam_server import ExamServer, text_of
from exam_study import wardround, write_cases, write_study
from playwright.sync_api import expect
from sklearn.metrics import cohen_kappa_score

from wardround.marking.judges.error_classes import CLASSES
from wardround.pipeline import run_study

pytestmark = [pytest.mark.slow, needs_chromium]

PEOPLE = {0: 1, 2: 3, 3: 3, 4: 5, 6: 1, 7: 4}  # patient -> the class that both readers hold for the cause, 1 to 5
JUDGE = PEOPLE | {3: 2}
DISPUTED = 7


def patient(text: str) -> int:
    return int(re.findall(r"What does patient (\d+) have", text)[0])


def reasoned(body, index) -> str:
    return f"The long course of patient {patient(text_of(body))} led me to think of this one, so: the answer is B."


def named(body, index) -> str:
    words = CLASSES[JUDGE[patient(text_of(body))] - 1].replace("_", " ").title()
    return f"Error Category: {words}\nJustification: So it seems."


def examined(root) -> None:
    """A run below the desk's folder whose candidate always says B, with a judge that names its errors."""
    write_cases(root / "cases", 8)
    with ExamServer(reasoned) as candidate, ExamServer(named) as judge:
        settings = {"provider": "openai", "model": "judge", "base_url": judge.url, "errors": True}
        study = write_study(root, candidate.url, candidate={"name": "secretive"}, judge=settings)
        assert run_study(study, runs=root / "runs", quiet=True, note=lambda line: None).exit_code == 0


def read(user: BrowserUser, doubts: bool) -> None:
    """One answer, by its key; what the page tells must be the candidate's answer, and not whose it is."""
    shown = user.page.locator("main").inner_text()
    number = patient(shown)
    assert f"disease {number} beta" in user.page.locator(".pair").inner_text()
    assert f"The long course of patient {number}" in shown
    assert "secretive" not in shown
    kind = PEOPLE[number] % 5 + 1 if doubts and number == DISPUTED else PEOPLE[number]
    user.page.locator("body").press(str(kind))
    user.press_to_submit()


def test_error_classes_from_a_run_to_the_judges_kappa(tmp_path):
    root = tmp_path / "desk"
    root.mkdir()
    examined(root)
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, one, other = new_user("Ada"), new_user("One"), new_user("Other")
        admin.join(served.link)
        links = admin.invite("attending"), admin.invite("resident")
        task = admin.make_task("Error classes", "Why", "runs/exam", ["attending", "resident"], many="0")
        for user, link in ((one, links[0]), (other, links[1])):
            user.join(link)
            user.click_link("Begin")
            for done in range(len(PEOPLE)):
                expect(user.page.get_by_text(f"{done} read, {len(PEOPLE) - done} waiting")).to_be_visible()
                if done == 2:
                    begun = user.page.url
                    user.page.get_by_label("Comment").fill("half a thought")
                    user.page.locator("label.choice", has_text="None of these").click()
                    expect(user.page.get_by_role("status")).to_have_text("Kept")
                    user.come_back()
                    user.click_link("Go on")
                    assert user.page.url == begun
                    expect(user.page.get_by_label("Comment")).to_have_value("half a thought")
                    expect(user.page.get_by_role("radio", name="None of these")).to_be_checked()
                read(user, doubts=user is other)
            expect(user.page.get_by_text("All done for now")).to_be_visible()
        admin.page.goto(task)
        expect(admin.page.get_by_text("1 open disagreement")).to_be_visible()
        file = admin.download(task, "labels.jsonl", tmp_path / "labels.jsonl")
        assert [admin.errors, one.errors, other.errors] == [[], [], []]
    agreed = sorted(PEOPLE.keys() - {DISPUTED})
    labels = {line["case"]: line["class"] for line in map(json.loads, file.read_text().splitlines())}
    assert labels == {f"case-{number}": CLASSES[PEOPLE[number] - 1] for number in agreed}
    done = wardround("judge", "errors", "runs/exam", "--labels", file, "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    validation = json.loads(done.stdout)
    assert (validation["items"], validation["unmatched"]) == (len(agreed), [])
    kappa = cohen_kappa_score([PEOPLE[number] for number in agreed], [JUDGE[number] for number in agreed])
    assert validation["kappa"]["value"] == pytest.approx(kappa)
