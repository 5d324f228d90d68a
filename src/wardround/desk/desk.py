"""A desk: one root folder with its accounts, tasks and files."""

from functools import cached_property
from pathlib import Path

from wardround.desk.auth.accounts import Accounts
from wardround.desk.auth.visits import Visits
from wardround.desk.folders import resolve_inside
from wardround.desk.pictures import Pictures
from wardround.desk.records import Task
from wardround.desk.store import DeskStore
from wardround.desk.task_store import TaskStore
from wardround.desk.tasks.task_kind import TaskKind


class Desk:
    """The stores of one root folder, and the kinds of task."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.store = DeskStore(self.root)
        self.accounts = Accounts(self.store)
        self.tasks = TaskStore(self.store)
        self.visits = Visits.load(self.root)
        self.pictures = Pictures(self.store, self.image_folder)

    @cached_property
    def kinds(self) -> dict[str, TaskKind]:
        from wardround.desk.tasks.kinds import KINDS

        return {kind.name: kind for kind in KINDS}

    def kind(self, task: Task) -> TaskKind:
        return self.kinds[task.kind]

    def source_path(self, task: Task) -> Path:
        """The folder or file that a task was made from."""
        return self.resolve(task.source)

    def image_folder(self, task: Task) -> Path:
        """The folder of a task's images."""
        return self.kind(task).image_folder(self.source_path(task), self.root)

    def resolve(self, path: str) -> Path:
        """A typed path, if it is inside the root; otherwise WardroundError."""
        return resolve_inside(self.root, path)

    def close(self) -> None:
        self.store.close()
