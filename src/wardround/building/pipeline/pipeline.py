"""A building pipeline: small named steps over records. What a step rejects is kept, with the reason.

A step is made of one of three things: a function of one record (`each`), of all records (`whole`), or a question to a
model about each record (`asked`). `Build` goes through them in order and writes the account of it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from wardround.asking.options import seeded
from wardround.building.pipeline.about import About
from wardround.building.pipeline.models import Told, Writers
from wardround.building.pipeline.records import Record, Spool

MOST_TOLD = 20  # parts of a source that cannot be used, each in a line of its own


class Reject(Exception):
    """This record goes no further."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class Rejected(NamedTuple):
    """A record that was left out: by which step, and why. `detail` is about this record alone."""

    record: str
    step: str
    reason: str
    detail: str = ""


class Passed(NamedTuple):
    """One line of the funnel."""

    step: str
    records_in: int
    records_out: int
    reasons: dict[str, int]
    calls: int = 0
    tokens: int = 0
    money: float = 0.0


class Step(NamedTuple):
    """A named step. `does` yields what goes on; what it rejects it tells the build."""

    name: str
    does: Callable[[Spool, Build], Iterator[Record]]


def each(name: str, change: Callable[[Record, Build], Record]) -> Step:
    """A step that looks at one record at a time; it raises Reject where one goes no further."""

    def does(records: Spool, build: Build) -> Iterator[Record]:
        for record in records:
            try:
                yield change(record, build)
            except Reject as reject:
                build.reject(record, name, reject.reason, reject.detail)

    return Step(name, does)


def whole(name: str, change: Callable[[Spool, Build], Iterable[Record]]) -> Step:
    """A step that looks at all records; it calls `build.reject` for those that it leaves out."""
    return Step(name, lambda records, build: iter(change(records, build)))


def asked(
    name: str,
    role: str,
    prompt: str,
    slots: Callable[[Record, Build], dict[str, str] | None],
    read: Callable[[Record, str, Build], Record],
    *,
    images: Callable[[Record], list[Path]] = lambda record: [],
    max_tokens: int = 1024,
) -> Step:
    """A step that puts a question about each record to the model of a role, and makes something of the answer.

    Where `slots` gives None nothing is asked. A record whose question is not answered is rejected.
    """

    def does(records: Spool, build: Build) -> Iterator[Record]:
        put = ((record["id"], slots(record, build), images(record)) for record in records)
        asked = [(id, filled, shown) for id, filled, shown in put if filled is not None]
        told = build.writers.ask(role, prompt, asked, max_tokens)
        build.spent(name, told)
        for record in records:
            try:
                if slots(record, build) is None:
                    yield record
                elif (answer := told.answers.get(record["id"])) is None:
                    raise Reject("the model gave no answer")
                else:
                    yield read(record, answer, build)
            except Reject as reject:
                build.reject(record, name, reject.reason, reject.detail)

    return Step(name, does)


@dataclass
class Build:
    """One build: where it works, what it draws from, whom it may ask, and its account so far."""

    folder: Path  # a draft, which becomes the case set when all is done
    seed: int
    writers: Writers
    note: Callable[[str], None]
    about: About = field(default_factory=dict)  # what people say of the set: licence, address
    rejected: list[Rejected] = field(default_factory=list)
    funnel: list[Passed] = field(default_factory=list)
    review: dict[str, list[Record]] = field(default_factory=dict)  # queues for people, by name
    _spent: dict[str, Told] = field(default_factory=dict)

    def reject(self, record: Record, step: str, reason: str, detail: str = "") -> None:
        self.rejected.append(Rejected(str(record["id"]), step, reason, detail))

    def unread(self, place: str, reason: str, detail: str = "") -> None:
        """Leaves out a part of the source, and says so at once: a build of which nothing is left keeps no account."""
        self.reject({"id": place}, "read", reason, detail)
        if len(self.rejected) <= MOST_TOLD:
            self.note(f"{place}: {reason}{f': {detail}' if detail else ''}")

    def spent(self, step: str, told: Told) -> None:
        """What the models of a step took."""
        self._spent[step] = told

    def queue(self, name: str, item: Record) -> None:
        """Puts something into a queue for people to look at."""
        self.review.setdefault(name, []).append(item)

    def drawn(self, *names: object) -> random.Random:
        """A stream of random numbers named by what it is for."""
        return seeded(*names, self.seed)

    def through(self, records: Iterable[Record], steps: list[Step]) -> Spool:
        """Takes the records through all steps."""
        spool = Spool(records, self.folder)
        self.funnel.append(Passed("read", len(spool) + len(self.rejected), len(spool), self._reasons("read")))
        for step in steps:
            before = len(spool)
            spool = Spool(step.does(spool, self), self.folder)
            told = self._spent.get(step.name, Told())
            self.funnel.append(
                Passed(step.name, before, len(spool), self._reasons(step.name), told.calls, told.tokens, told.money)
            )
            self.note(f"{step.name}: {before:,} in, {len(spool):,} out")
        return spool

    def holds_cases(self) -> bool:
        """Whether a queue has a whole case that people may let into the set."""
        return any("case" in item for items in self.review.values() for item in items)

    def why(self) -> str:
        """What was left out and why, in one line."""
        reasons = [f"{many} {reason}" for step in self.funnel for reason, many in step.reasons.items()]
        return "; ".join(reasons) or "there is none in it"

    def _reasons(self, step: str) -> dict[str, int]:
        return dict(Counter(each.reason for each in self.rejected if each.step == step).most_common())
