"""Error classes in a real Chromium: from a run with a judge to `wardround judge errors`."""

from __future__ import annotations

import json
import re

import pytest
from desk_browser import Human, humans, needs_chromium
from desk_process import Served
from exam_server import ExamServer, text_of
from exam_study import wardround, write_cases, write_study
from playwright.sync_api import expect
from sklearn.metrics import cohen_kappa_score

from wardround.api import run_study
from wardround.marking.judges.error_classes import CLASSES

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


def read(human: Human, doubts: bool) -> None:
    """One answer, by its key; what the page tells must be the candidate's answer, and not whose it is."""
    shown = human.page.locator("main").inner_text()
    number = patient(shown)
    assert f"disease {number} beta" in human.page.locator(".pair").inner_text()
    assert f"The long course of patient {number}" in shown
    assert "secretive" not in shown
    human.page.wait_for_load_state()
    kind = PEOPLE[number] % 5 + 1 if doubts and number == DISPUTED else PEOPLE[number]
    human.page.locator("body").press(str(kind))
    human.page.keyboard.press("Control+Enter")


def test_error_classes_from_a_run_to_the_judges_kappa(tmp_path):
    root = tmp_path / "desk"
    root.mkdir()
    examined(root)
    with Served(root) as served, humans(served.url) as meet:
        admin, one, other = meet("Ada"), meet("One"), meet("Other")
        admin.join(served.link)
        links = admin.invite("attending"), admin.invite("resident")
        task = admin.make_task("Error classes", "Why", "runs/exam", ["attending", "resident"], many="0")
        for human, link in ((one, links[0]), (other, links[1])):
            human.join(link)
            human.page.get_by_role("link", name="Begin").click()
            for done in range(len(PEOPLE)):
                expect(human.page.get_by_text(f"{done} read, {len(PEOPLE) - done} waiting")).to_be_visible()
                if done == 2:
                    begun = human.page.url
                    human.page.get_by_label("Comment").fill("half a thought")
                    human.page.locator("label.choice", has_text="None of these").click()
                    expect(human.page.get_by_role("status")).to_have_text("Kept")
                    human.come_back()
                    human.page.get_by_role("link", name="Go on").click()
                    assert human.page.url == begun
                    expect(human.page.get_by_label("Comment")).to_have_value("half a thought")
                    expect(human.page.get_by_role("radio", name="None of these")).to_be_checked()
                read(human, doubts=human is other)
            expect(human.page.get_by_text("All done for now")).to_be_visible()
        admin.page.goto(task)
        expect(admin.page.get_by_text("1 open disagreement")).to_be_visible()
        file = admin.download(task, "labels.jsonl", tmp_path / "labels.jsonl")
        assert [admin.wrong, one.wrong, other.wrong] == [[], [], []]
    agreed = sorted(PEOPLE.keys() - {DISPUTED})
    labels = {line["case"]: line["class"] for line in map(json.loads, file.read_text().splitlines())}
    assert labels == {f"case-{number}": CLASSES[PEOPLE[number] - 1] for number in agreed}
    done = wardround("judge", "errors", "runs/exam", "--labels", file, "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["items"], told["unmatched"]) == (len(agreed), [])
    kappa = cohen_kappa_score([PEOPLE[number] for number in agreed], [JUDGE[number] for number in agreed])
    assert told["kappa"]["value"] == pytest.approx(kappa)
