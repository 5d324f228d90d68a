"""The interface of a kind of task. Each kind is a file in this folder, listed in kinds.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from wardround.core.errors import WardroundError
from wardround.desk.auth.accounts import Person
from wardround.desk.folders import case_set_folder
from wardround.desk.pages import render_fragment
from wardround.desk.records import DeskItem, DeskVerdict, NewItem, Task

if TYPE_CHECKING:
    from starlette.datastructures import FormData

    from wardround.desk.desk import Desk

ARBITER = "arbiter"


@dataclass(frozen=True)
class Setting:
    """A setting that the administrator chooses for a new task. Its type is that of the default."""

    name: str
    label: str
    default: str | int | float | bool
    help: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Export:
    """A file that a task exports."""

    name: str
    description: str
    make: Callable[[Desk, Task], bytes]


@dataclass(frozen=True)
class PageSection:
    """A section of a task's page."""

    title: str
    body: Markup

    @classmethod
    def render(cls, title: str, template: str, **context: Any) -> PageSection:
        return cls(title, render_fragment(template, **context))


def checked_comment(said: Mapping[str, Any], max_length: int = 5_000) -> str:
    """The comment of a verdict, if it is a text of at most `max_length` characters."""
    comment = said.get("comment", "")
    if not isinstance(comment, str) or len(comment) > max_length:
        raise WardroundError(f"a comment has at most {max_length:,} characters")
    return comment


class TaskKind(ABC):
    """A kind of task: a subclass with one instance in kinds.py."""

    name: str
    title: str
    summary: str  # one sentence for the administrator
    source: str  # what a task is made from, for the form
    roles: tuple[str, ...]  # who may be assigned
    settings: tuple[Setting, ...] = ()
    presets: Mapping[str, Mapping[str, str | int | float | bool]] = {}  # by name: values of settings for a new task
    template: str
    scripts: tuple[str, ...] = ()
    classes = True  # a verdict is one of a few classes, on which agreement is measured
    arbitrates = False  # disagreements can go to one more reader

    def levels(self, person: Person, task: Task) -> Sequence[str]:
        """The levels at which a person reads, of those that items request."""
        return ("reader", ARBITER) if self.arbitrates else ("reader",)

    def progress_text(self, waiting: int, read: int) -> str:
        """A person's progress in words."""
        return f"{waiting} waiting for you · {read} read"

    def prepare(self, desk: Desk, task: Task, person: Person) -> None:
        """Called each time before a reader sees the task."""
        return

    def next_item(self, desk: Desk, task: Task, person: Person) -> int | None:
        """The item that a person reads next."""
        return desk.tasks.next_item(task, person, self.levels(person, task))

    def may_begin(self, desk: Desk, task: Task, item: int, person: Person) -> bool:
        """Whether a waiting item may be opened now, or others come first."""
        return True

    def may_return(self, desk: Desk, task: Task, item: int, person: Person) -> bool:
        """Whether a person may reopen an item that they have read."""
        return True

    def image_folder(self, source: Path, root: Path) -> Path:
        """The folder that the paths of a task's images are below."""
        return case_set_folder(source)

    @abstractmethod
    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        """The items of a new task, from the files of its source. BadInput if the source cannot be used."""

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Person, level: str) -> dict[str, Any]:
        """Context of the template beyond task, item, images, draft and the reader's own last verdict (`mine`)."""
        return {}

    @abstractmethod
    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        """The verdict in a form as the browser sends it."""

    @abstractmethod
    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        """The form of a verdict: the reverse of `parse_form`."""

    @abstractmethod
    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        """The verdict, checked; WardroundError in words for the reader if it is not valid."""

    @abstractmethod
    def label(self, said: Mapping[str, Any]) -> str | None:
        """The class that agreement is measured on; None counts as not read."""

    def render_verdict(self, said: Mapping[str, Any], item: DeskItem) -> Markup:
        """A verdict as HTML, for the administrator."""
        return Markup("{}").format(self.label(said) or "nothing")

    def after_verdict(self, desk: Desk, task: Task, item: DeskItem, verdict: DeskVerdict) -> None:
        """Consequences of a verdict, saved together with it."""
        return

    def page_after(self, desk: Desk, task: Task, item: DeskItem, person: Person) -> str | None:
        """The address of a page to show before the next item; None for none."""
        return None

    def reader_notes(self, desk: Desk, task: Task, person: Person) -> list[PageSection]:
        """Sections on the reader's page of the task."""
        return []

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        """Sections on the administrator's page of the task, beyond progress and agreement."""
        return []

    def exports(self) -> Sequence[Export]:
        """Files beyond verdicts.jsonl, verdicts.csv and agreement.csv, which every task has."""
        return ()
