"""Kind: what a task has to know about itself. Each file in tasks/ is one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from wardround.desk.auth.people import Person
from wardround.desk.records import Item, NewItem, Task, Verdict

if TYPE_CHECKING:
    from starlette.datastructures import FormData

    from wardround.desk.desk import Desk

ARBITER = "arbiter"


@dataclass(frozen=True)
class Setting:
    """Something that the administrator chooses when a task is made. The default tells its type."""

    name: str
    label: str
    default: str | int | float | bool
    help: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Export:
    """A file that a task gives away."""

    name: str
    what: str
    make: Callable[[Desk, Task], bytes]


@dataclass(frozen=True)
class Part:
    """A part of the administrator's page about a task."""

    title: str
    body: Markup


class Kind(ABC):
    """The defaults; a kind of task is a subclass with one instance in tasks/__init__.py."""

    name: str
    title: str
    what: str  # one sentence for the administrator
    source: str  # what it is made of, for the form
    roles: tuple[str, ...]  # who may be assigned
    settings: tuple[Setting, ...] = ()
    template: str
    scripts: tuple[str, ...] = ()
    shuffled = True  # every reader has an order of their own
    revisable = True  # a reader may come back to an item and say something else
    classes = True  # what is said is one of a few classes, on which agreement is measured
    arbitrates = False  # disagreements can be given to a third reader

    def levels(self, person: Person, task: Task) -> Sequence[str]:
        """The levels at which somebody reads: of those that items want."""
        return ("reader", ARBITER) if self.arbitrates else ("reader",)

    def standing(self, waiting: int, read: int) -> str:
        """How far somebody is, in words: of items that wait for them and that they have read."""
        return f"{waiting} waiting for you · {read} read"

    def prepare(self, desk: Desk, task: Task, person: Person) -> None:
        """What has to be there before somebody who is given the task sees it; asked each time."""
        return

    def next(self, desk: Desk, task: Task, person: Person) -> int | None:
        """The item that somebody reads now."""
        return desk.work.next(task, person, self.levels(person, task), self.shuffled)

    def may_begin(self, desk: Desk, task: Task, item: int, person: Person) -> bool:
        """Whether an item that waits for somebody may be opened now, or others have to come first."""
        return True

    def may_return(self, desk: Desk, task: Task, item: int, person: Person) -> bool:
        """Whether somebody may come back to an item that they have read."""
        return self.revisable

    @abstractmethod
    def items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        """What is to be read, from the files of the source. Bad input: BadInput, in one line."""

    def view(self, desk: Desk, task: Task, item: Item, person: Person, level: str) -> dict[str, Any]:
        """What the template needs beyond task, item, images, draft and the reader's own last verdict (`mine`)."""
        return {}

    @abstractmethod
    def read(self, form: FormData, item: Item) -> dict[str, Any]:
        """What was said, from the form as the browser sends it."""

    @abstractmethod
    def form(self, said: Mapping[str, Any], item: Item) -> dict[str, list[str]]:
        """The form as it was when this was said: the reverse of `read`."""

    @abstractmethod
    def checked(self, said: Mapping[str, Any], task: Task, item: Item) -> dict[str, Any]:
        """What was said, if it can be said; else WardroundError in words for the reader."""

    @abstractmethod
    def label(self, said: Mapping[str, Any]) -> str | None:
        """The class that agreement is measured on; None counts as not read."""

    def told(self, said: Mapping[str, Any], item: Item) -> Markup:
        """What was said, for the administrator."""
        return Markup("{}").format(self.label(said) or "nothing")

    def after(self, desk: Desk, task: Task, item: Item, verdict: Verdict) -> None:
        """What follows from a verdict, saved together with it."""
        return

    def done(self, desk: Desk, task: Task, item: Item, person: Person) -> str | None:
        """A page to be shown after a verdict and before the next item, by its address; None: go on."""
        return None

    def notes(self, desk: Desk, task: Task, person: Person) -> list[Part]:
        """What a reader is told on the page of the task."""
        return []

    def parts(self, desk: Desk, task: Task) -> list[Part]:
        """What the administrator sees of this kind, beyond progress and agreement."""
        return []

    def exports(self) -> Sequence[Export]:
        """Files beyond verdicts.jsonl, verdicts.csv and agreement.csv, which every task has."""
        return ()
