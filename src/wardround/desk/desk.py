"""Desk: one root folder with its people, its tasks and its files."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from wardround.desk.auth.people import People
from wardround.desk.auth.visits import Visits
from wardround.desk.folders import inside
from wardround.desk.pictures import Pictures
from wardround.desk.records import Task
from wardround.desk.store import Store
from wardround.desk.tasks.task_kind import Kind
from wardround.desk.work import Work


class Desk:
    """Everything that a page needs."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.store = Store(self.root)
        self.people = People(self.store)
        self.work = Work(self.store)
        self.visits = Visits.kept_in(self.root)
        self.pictures = Pictures(self.store, self.source)

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        from wardround.desk.tasks.kinds import KINDS

        return {kind.name: kind for kind in KINDS}

    def kind(self, task: Task) -> Kind:
        return self.kinds[task.kind]

    def source(self, task: Task) -> Path:
        """The folder or file that a task is made of."""
        return self.below(task.source)

    def below(self, path: str) -> Path:
        """A path that somebody typed, if it is inside the root; else a refusal."""
        return inside(self.root, path)

    def close(self) -> None:
        self.store.close()
