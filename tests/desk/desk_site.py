"""A desk for tests: people who are logged in, small case sets, and the way through a task."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from argon2 import PasswordHasher
from PIL import Image
from starlette.testclient import TestClient

from wardround.desk.app import desk_app
from wardround.desk.auth import accounts
from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.records import Task

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "correct horse battery"
ADDRESS = "http://127.0.0.1"
SCRIPT = "<script>alert(1)</script>"
FINE = {
    "student": ["complete", "images", "distinct", "answer"],
    "physician": ["clarity", "rationality", "accuracy", "options"],
}


class Visitor(TestClient):
    """A person's browser: every form that it sends has the right token."""

    def __init__(self, site: DeskSite, person: Person | None = None) -> None:
        super().__init__(site.app, base_url=ADDRESS, raise_server_exceptions=False)
        self.desk, self.person = site.desk, person
        if person is not None:
            id = site.desk.accounts.open_session(person)
            self.cookies.set(site.desk.visits.cookie, site.desk.visits.sign(id), domain="127.0.0.1")
        else:
            self.request("GET", "/login")

    @property
    def token(self) -> str:
        id = self.desk.visits.verify(self.cookies.get(self.desk.visits.cookie))
        return self.desk.visits.form_token(id or "")

    def submit(self, path: str, form: dict[str, Any] | None = None, **more: Any):
        return self.post(path, data={"csrf": self.token, **(form or {})}, **more)

    def submit_json(self, path: str, body: Any):
        return self.post(path, json=body, headers={"x-csrf-token": self.token})


class DeskSite:
    """A desk with an administrator."""

    def __init__(self, root: Path, **addresses: Any) -> None:
        accounts._hasher = lambda: QUICK  # argon2 as it should be takes half a second for each person
        self.root = root
        self.desk = Desk(root)
        self.app = desk_app(self.desk, **addresses)
        self.admin = self.add_person("Ada", "administrator")

    def add_person(self, name: str, role: str) -> Visitor:
        token = self.desk.accounts.invite(role, self.admin.person if role != "administrator" else None)
        return Visitor(self, self.desk.accounts.join(token, name, PASSWORD))

    def make_task(self, kind: str, source: str, who: list[str], **settings: Any) -> Task:
        """A task as the administrator makes it, by the form."""
        form = {"kind": kind, "project": "Ward", "name": kind.capitalize(), "source": source, **settings}
        created = self.admin.submit("/admin/tasks/new", form, follow_redirects=False)
        assert created.status_code == 303, re.findall(r'role="alert">(.*?)</p>', created.text)
        id = int(created.headers["location"].rsplit("/", 1)[1])
        assigned = self.admin.submit(f"/admin/tasks/{id}/assign", {"who": who}, follow_redirects=False)
        assert assigned.status_code == 303, assigned.text
        task = self.desk.tasks.get_task(id)
        assert task is not None
        return task

    def reload(self, task: Task) -> Task:
        current = self.desk.tasks.get_task(task.id)
        assert current is not None
        return current


def case(number: int, **more: Any) -> dict[str, Any]:
    choice = {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": ["gout", "lupus", "angina"], "gold": 0}
    return {"id": f"c{number}", "history": f"Patient {number} had pain.", "questions": [choice], **more}


def write_set(folder: Path, cases: list[dict[str, Any]], queues: dict[str, list[dict[str, Any]]] | None = None) -> Path:
    """A case set, with every image that its cases name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.jsonl").write_text("".join(json.dumps(record) + "\n" for record in cases))
    for record in cases:
        for image in record.get("images", []):
            (folder / image["path"]).parent.mkdir(parents=True, exist_ok=True)
            shades = np.add.outer(np.arange(64), np.arange(96)).astype(np.uint8)
            Image.fromarray(shades).save(folder / image["path"])
    for name, lines in (queues or {}).items():
        (folder / "review").mkdir(exist_ok=True)
        (folder / "review" / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def once(page: str) -> str:
    return re.findall(r'name="once" value="([^"]+)"', page)[0]


def opinion(verdict: str, level: str = "student", **more: Any) -> dict[str, Any]:
    """The form of a review."""
    states = {f"is:{name}": "yes" for name in FINE[level]} | (
        {} if verdict == "keep" else {f"is:{FINE[level][0]}": "no"}
    )
    return {"verdict": verdict, "criterion": FINE[level], "comment": "", **states, **more}


def read_all(visitor: Visitor, task: Task, answer: Any, max_items: int = 200) -> list[str]:
    """Reads item after item until nothing waits; `answer(number, page)` gives the form. Returns the names."""
    read = []
    for _ in range(max_items):
        page = visitor.get(f"/tasks/{task.id}/next")
        address = re.search(r"/items/(\d+)$", str(page.url))
        if address is None:
            return read
        number = int(address[1])
        sent = visitor.submit(
            str(page.url), {"once": once(page.text), **answer(number, page.text)}, follow_redirects=False
        )
        assert sent.status_code == 303, re.findall(r'role="alert">(.*?)</p>', sent.text) or sent.text[:500]
        item = visitor.desk.tasks.get_item(task, number)
        assert item is not None
        read.append(item.name)
    raise AssertionError("more items than expected")
