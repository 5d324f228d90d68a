"""Takes the screenshots of the desk: python docs/screenshots/take_desk.py [OUT_DIR] [PAGE...]

A desk is furnished with the demo's starter cases and invented verdicts. Each page is taken at 1280 px, light (the
reading room is dark), and 820 px, dark; pages with images also at 2560 and 390 px.
Needs the extras desk, demo and test, and Chromium.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from PIL import Image

from wardround.building.sources.starter.build import build_starter
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case
from wardround.degrade.types import fits
from wardround.desk import task_store
from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.records import NewItem
from wardround.desk.submit import open_item, submit_verdict
from wardround.desk.tasks.rounds import CRITERIA

sys.path[:0] = [str(Path(__file__).parents[2] / "tests" / place) for place in ("", "desk")]

PASSWORD = "correct horse battery"
PEOPLE = {
    "Amal Haddad": "administrator",
    "Jonas Weiss": "student",
    "Mei Tanaka": "student",
    "Priya Nair": "attending",
    "Tomas Novak": "radiologist",
    "Lena Fischer": "radiologist",
    "Sam Okoro": "radiologist",
    "Ines Costa": "specialist",
    "Omar Said": "specialist",
}
VIEWS = ((1280, 900, "light"), (820, 1180, "dark"))
STUDIES = ("review", "retain", "severity", "exam", "errors")  # with images: also on a large monitor and on a phone
MORE_VIEWS = ((2560, 1440, "dark"), (390, 844, "light"))
COLOURS = 256  # of the files: a fifth of the size
ERRORS = (
    {"project": "Winter benchmark", "kind": "errors", "name": "Why answers were wrong", "source": "starter"}
    | {"settings": {"readers": 2, "many": 0, "seed": 0}},
    [
        NewItem(
            "starter-21/mcq 5f3a",
            "answers",
            {
                "question": "Twelve days after keyhole surgery on his knee an office clerk became breathless.\n"
                "What is the most likely diagnosis?\nA. Pneumonia\nB. Pulmonary embolism\nC. Anxiety",
                "gold": "Pulmonary embolism",
                "answer": "Pneumonia",
                "reasoning": "Sudden breathlessness with a raised heart rate suggests an infection of the lung; "
                "the operation is too long ago to matter.",
            },
            {"reader": 2},
            {"place": {}, "class": "temporal_sequence_confusion", "weight": 1.0},
        )
    ],
)


class Clock:
    """Invented moments of the last days, so that the pages have something to show."""

    def __init__(self) -> None:
        self._moment, self._random = datetime.now(UTC) - timedelta(days=5), random.Random(3)

    def tick(self) -> None:
        """Somebody reads for a while; sometimes a night passes."""
        night = timedelta(hours=14) if self._random.random() < 0.06 else timedelta()
        self._moment = min(self._moment + night + timedelta(seconds=self._random.uniform(25, 180)), datetime.now(UTC))

    def __call__(self) -> str:
        return self._moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


CLOCK = Clock()
REPORT = """A swollen toe: a case report

Patient information
A 40-year-old woman had a painful, swollen toe for two days. She took a diuretic.

Investigations
Urate was 9.1 mg/dl, C-reactive protein 42 mg/l. The radiograph showed a small erosion with a chalky deposit.

Diagnosis
Crystals in the joint fluid proved gout.

Discussion
Septic arthritis, pseudogout, cellulitis and a stress fracture had to be excluded.
"""


def furnish(root: Path) -> dict[str, Any]:
    """A desk in the middle of its work: people, and a task of each kind. Gives the people and the tasks by name."""
    build_starter(root / "starter")
    _degraded(root / "starter", root / "degraded")
    pairs = [
        ("Giant cell arteritis", "temporal arteritis"),
        ("Pulmonary embolism", "Acute heart failure"),
        ("Essential tremor", "Benign familial tremor"),
        ("Transient global amnesia", "Transient ischaemic attack"),
    ]
    lines = [
        {"gold": gold, "diagnosis": said, "same": number % 2 == 0} for number, (gold, said) in enumerate(pairs * 5)
    ]
    lines = [line | {"case": f"case-{number}", "question": "open"} for number, line in enumerate(lines)]
    (root / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (root / "reports").mkdir()
    (root / "reports" / "toe.md").write_text(REPORT)
    desk = Desk(root)
    admin = desk.accounts.join(desk.accounts.invite("administrator"), "Amal Haddad", PASSWORD)
    people = {"Amal Haddad": admin}
    for name, role in PEOPLE.items():
        if name not in people:
            people[name] = desk.accounts.join(desk.accounts.invite(role, admin), name, PASSWORD, "")
    tasks = {}
    for kind, name, source, settings, roles in (
        ("review", "Starter cases, first reading", "starter", {"share": 0.4}, ("student", "attending")),
        ("retain", "Degraded questions", "degraded", {"readers": 3}, ("radiologist",)),
        ("judge", "Open answers, 20 pairs", "pairs.jsonl", {}, ("attending", "radiologist")),
        ("severity", "How far may blur go?", "starter", {"types": "gaussian_blur"}, ("radiologist",)),
        ("grading", "Levels of the starter questions", "starter", {"readers": 3}, ("specialist",)),
        ("exam", "Starter cases, an exam", "starter", {"cases": 6}, ("attending", "student")),
        ("construct", "Questions from reports", "reports", {}, ("student",)),
    ):
        tasks[kind] = make(desk, kind, name, source, settings, admin)
        desk.tasks.assign(desk.tasks.get_task(tasks[kind]), [f"role:{role}" for role in roles], admin)
    tasks["closed"] = make(desk, "judge", "Open answers, a first round", "pairs.jsonl", {"readers": 4}, admin)
    desk.tasks.assign(desk.tasks.get_task(tasks["closed"]), ["role:attending", "role:radiologist"], admin)
    tasks["errors"] = desk.tasks.create(ERRORS[0], ERRORS[1], admin)
    desk.tasks.assign(desk.tasks.get_task(tasks["errors"]), ["role:attending"], admin)
    draw = random.Random(7)
    real_now, task_store.now = task_store.now, CLOCK
    for name in ("Jonas Weiss", "Mei Tanaka"):
        work(desk, tasks["review"], people[name], 14, lambda item: review("student", item.number % 9 != 0))
    work(desk, tasks["review"], people["Priya Nair"], 12, lambda item: review("physician", item.number % 4 != 0))
    for name, slips in (("Tomas Novak", 0.1), ("Lena Fischer", 0.1), ("Sam Okoro", 0.5)):
        work(desk, tasks["retain"], people[name], 30, lambda item, slips=slips: retain(item, draw.random() < slips))
        work(desk, tasks["judge"], people[name], 10, lambda item, slips=slips: judge(item, draw.random() < slips))
        work(desk, tasks["severity"], people[name], 4, lambda item: severity(draw))
    for name, slips in (("Tomas Novak", 0.1), ("Lena Fischer", 0.2), ("Sam Okoro", 0.4), ("Priya Nair", 0.1)):
        work(desk, tasks["closed"], people[name], 20, lambda item, slips=slips: judge(item, draw.random() < slips))
    desk.tasks.set_open(desk.tasks.get_task(tasks["closed"]), False, admin)
    for name, slips in (("Ines Costa", 0.1), ("Omar Said", 0.3)):
        work(desk, tasks["grading"], people[name], 12, lambda item, slips=slips: grade(item, draw.random() < slips))
    desk.kinds["exam"].prepare(desk, desk.tasks.get_task(tasks["exam"]), people["Mei Tanaka"])
    work(desk, tasks["exam"], people["Mei Tanaka"], 3, sit)
    task_store.now = real_now
    invitation = desk.accounts.invite("student", admin)
    desk.close()
    return {"people": people, "tasks": tasks, "invitation": invitation}


def make(desk: Desk, kind: str, name: str, source: str, settings: dict[str, Any], by: Person) -> int:
    """A task of a kind with its usual settings, but for those given."""
    known = desk.kinds[kind]
    settings = {setting.name: setting.default for setting in known.settings} | settings
    task = {"project": "Winter benchmark", "kind": kind, "name": name, "source": source, "settings": settings}
    return desk.tasks.create(task, known.make_items(desk.resolve(source), settings, desk.root), by)


def work(desk: Desk, task: int, person: Person, most: int, say: Any) -> None:
    """Reads so many items."""
    for number in range(most):
        record = desk.tasks.get_task(task)
        next_number = desk.kind(record).next_item(desk, record, person)
        if next_number is None:
            return
        item = desk.tasks.get_item(record, next_number)
        open_item(desk, record, item, person)
        CLOCK.tick()
        submit_verdict(desk, record, item, person, say(item), f"{task}-{person.id}-{number}-once")


def review(level: str, is_fine: bool) -> dict[str, Any]:
    criteria = dict.fromkeys(CRITERIA[level], True)
    if is_fine:
        return {"verdict": "keep", "criteria": criteria, "comment": "", "edits": {}}
    criteria[next(iter(criteria))] = False
    comment = "The duration of the complaint is missing." if level == "student" else "The stem gives the answer away."
    return {"verdict": "discard", "criteria": criteria, "comment": comment, "edits": {}}


def retain(item: Any, slips: bool) -> dict[str, Any]:
    gone = (item.number % 6 == 0) != slips
    return {
        "decision": "discard" if gone else "retain",
        "reasons": ["destroyed"] * gone,
        "comment": "",
        "after_blind": False,
    }


def judge(item: Any, slips: bool) -> dict[str, Any]:
    return {"same": "same" if item.hidden["same"] != slips else "not same", "comment": ""}


def severity(draw: random.Random) -> dict[str, Any]:
    intact = draw.uniform(0.3, 0.7)
    return {"l1": round(intact, 2), "l2": round(intact + draw.uniform(0.3, 0.6), 2)}


def grade(item: Any, slips: bool) -> dict[str, Any]:
    return {"grade": "RAS"[(item.number + slips) % 3], "importance": item.number % 3 + 1, "comment": ""}


def sit(item: Any) -> dict[str, Any]:
    return {"agreed": True} if item.shown["page"] == "rules" else {"option": 1, "confidence": 0.7}


def _degraded(source: Path, target: Path) -> None:
    """The starter's choice questions, each with one degradation at L1 and L2."""
    types, cases = ("gaussian_blur", "reduce_contrast", "motion_blur", "gaussian_noise"), []
    shutil.copytree(source / "images", target / "images")
    for number, case in enumerate(CaseSet.open(source)):
        clean = next(question for question in case.as_written()["questions"] if question["id"] == "mcq")
        type = types[number % len(types)]
        assert fits(type, case.images[0].modality)
        twins = [
            clean | {"id": f"mcq-{type}-{level}", "of": "mcq", "degradations": [f"{type}@{level}"]}
            for level in ("L1", "L2")
        ]
        cases.append(Case.model_validate(case.as_written() | {"questions": [clean, *twins]}))
    write_case_set(cases, target)


def pages(furnished: dict[str, Any]) -> list[tuple[str, str | None, str]]:
    """Name, who looks, address."""
    construct, review, retain, judge, errors, severity, grading, exam = (
        furnished["tasks"][name]
        for name in ("construct", "review", "retain", "judge", "errors", "severity", "grading", "exam")
    )
    return [
        ("login", None, "/login"),
        ("join", None, f"/join/{furnished['invitation']}"),
        ("home", "Tomas Novak", "/"),
        ("queue", "Mei Tanaka", f"/tasks/{review}"),
        ("construct", "Jonas Weiss", f"/tasks/{construct}/next"),
        ("review", "Jonas Weiss", f"/tasks/{review}/next"),
        ("retain", "Tomas Novak", f"/tasks/{retain}/next"),
        ("judge", "Tomas Novak", f"/tasks/{judge}/next"),
        ("errors", "Priya Nair", f"/tasks/{errors}/next"),
        ("severity", "Lena Fischer", f"/tasks/{severity}/next"),
        ("grading", "Ines Costa", f"/tasks/{grading}/next"),
        ("exam-rules", "Priya Nair", f"/tasks/{exam}/next"),
        ("exam", "Mei Tanaka", f"/tasks/{exam}/next"),
        ("not-here", "Mei Tanaka", "/tasks/999"),
        ("admin", "Amal Haddad", "/admin"),
        ("admin-people", "Amal Haddad", "/admin/people"),
        ("admin-person", "Amal Haddad", f"/admin/people/{furnished['people']['Mei Tanaka'].id}"),
        ("results", "Lena Fischer", f"/tasks/{furnished['tasks']['closed']}/results"),
        ("certificate", "Lena Fischer", f"/tasks/{furnished['tasks']['closed']}/certificate"),
        ("admin-files", "Amal Haddad", "/admin/files"),
        ("admin-new-task", "Amal Haddad", "/admin/tasks/new?kind=review"),
        ("admin-review", "Amal Haddad", f"/admin/tasks/{review}"),
        ("admin-retain", "Amal Haddad", f"/admin/tasks/{retain}"),
        ("admin-exam", "Amal Haddad", f"/admin/tasks/{exam}"),
        ("admin-severity", "Amal Haddad", f"/admin/tasks/{severity}"),
        ("admin-grading", "Amal Haddad", f"/admin/tasks/{grading}"),
        ("admin-item", "Amal Haddad", f"/admin/tasks/{review}/items/1"),
    ]


def take(out: Path, only: list[str]) -> None:
    """All the pictures."""
    from desk_process import DeskProcess
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "desk"
        furnished = furnish(root)
        desk = Desk(root)
        with DeskProcess(root) as process, sync_playwright() as player:
            browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, who, address in pages(furnished):
                if only and name not in only:
                    continue
                for width, height, scheme in VIEWS + (MORE_VIEWS if name in STUDIES else ()):
                    seen = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                    if who is not None:
                        cookie = desk.visits.sign(desk.accounts.open_session(furnished["people"][who]))
                        seen.add_cookies([{"name": desk.visits.cookie, "value": cookie, "url": process.url}])
                    page = seen.new_page()
                    page.goto(process.url + address, wait_until="networkidle")
                    file = out / f"desk-{name}-{width}-{scheme}.png"
                    page.screenshot(path=file, full_page=True)
                    Image.open(file).convert("RGB").quantize(COLOURS).save(file, optimize=True)
                    seen.close()
            browser.close()
        desk.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent, sys.argv[2:])
