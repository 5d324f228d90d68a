"""A building pipeline: small named steps over records. What a step rejects is kept, with the reason.

There are three kinds of steps: a function of one record (`record_step`), a function of all records
(`all_records_step`), and a question to a model about each record (`model_step`). `Build` runs them in order and keeps
the account.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from wardround.building.pipeline.about import About
from wardround.building.pipeline.models import BuildModels, StepReplies
from wardround.cases.published_range import PublishedRange
from wardround.core.errors import WardroundError
from wardround.core.random import seeded

MAX_LISTED = 20  # unreadable parts of a source that are noted one by one
Record = dict[str, Any]  # JSON-able; `id` names it in the account


class RecordFile:
    """Records on disk between two steps, so that memory does not grow with the source; iterable more than once."""

    def __init__(self, records: Iterable[Record], folder: Path) -> None:
        self._count = 0
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # deleted with the object
        for record in records:
            self._file.write(orjson.dumps(record) + b"\n")
            self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Record]:
        offset = 0
        while True:
            self._file.seek(offset)  # another iteration may have moved it
            line = self._file.readline()
            if not line:
                return
            offset = self._file.tell()
            yield orjson.loads(line)


class EmptyBuild(WardroundError):
    """No record became a case: what was rejected and why is written nevertheless."""


class Reject(Exception):
    """This record goes no further."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class RejectedRecord(NamedTuple):
    """A record that was left out, by which step and why. `detail` is about this record alone."""

    record: str
    step: str
    reason: str
    detail: str = ""


class StepCount(NamedTuple):
    """One line of the funnel."""

    step: str
    records_in: int
    records_out: int
    reasons: dict[str, int]
    calls: int = 0
    tokens: int = 0
    money: float = 0.0


class Step(NamedTuple):
    """A named step. `run` yields the records that go on, and reports those it rejects to the build."""

    name: str
    run: Callable[[RecordFile, Build], Iterator[Record]]


def record_step(name: str, change: Callable[[Record, Build], Record]) -> Step:
    """A step over one record at a time; `change` raises Reject to leave one out."""

    def run(records: RecordFile, build: Build) -> Iterator[Record]:
        for record in records:
            try:
                yield change(record, build)
            except Reject as reject:
                build.reject(record, name, reject.reason, reject.detail)

    return Step(name, run)


def all_records_step(name: str, change: Callable[[RecordFile, Build], Iterable[Record]]) -> Step:
    """A step over all records; `change` calls `build.reject` for those that it leaves out."""
    return Step(name, lambda records, build: iter(change(records, build)))


def model_step(
    name: str,
    role: str,
    prompt: str,
    slots: Callable[[Record, Build], dict[str, str] | None],
    read: Callable[[Record, str, Build], Record],
    max_tokens: int,
) -> Step:
    """A step that asks the model of a role about each record; `read` makes a record of the reply.

    If `slots` returns None, the record goes on without a question. A record without a reply is rejected.
    """

    def run(records: RecordFile, build: Build) -> Iterator[Record]:
        all_slots = ((record["id"], slots(record, build)) for record in records)
        slots_by_record = {id: filled for id, filled in all_slots if filled is not None}
        replies = build.models.ask(role, prompt, slots_by_record, max_tokens)
        build.usage[name] = replies
        for record in records:
            try:
                if record["id"] not in slots_by_record:
                    yield record
                elif (reply := replies.answers.get(record["id"])) is None:
                    raise Reject("the model gave no answer")
                else:
                    yield read(record, reply, build)
            except Reject as reject:
                build.reject(record, name, reject.reason, reject.detail)

    return Step(name, run)


def published_steps(published: PublishedRange) -> list[Step]:
    """A step that leaves out what was published at another time; none without a limit."""

    def check(record: Record, build: Build) -> Record:
        if reason := published.problem(record["published"]):
            raise Reject(reason, record["published"] or "")
        return record

    return [record_step("published", check)] if published else []


def mark_for_review(record: Record, queue: str, reason: str, **fields: Any) -> Record:
    """The record, marked for `hold_step`: its case goes into the review queue, with the reason and the fields."""
    return record | {"holds": [*record.get("holds", []), [queue, {"reason": reason, **fields}]]}


def hold_step() -> Step:
    """Takes the cases of marked records out of the set and into the review queues."""

    def hold(record: Record, build: Build) -> Record:
        holds = record.get("holds", [])
        for queue, item in holds:
            build.queue(queue, {"id": record["id"], **item, "case": record["case"]})
        if holds:
            raise Reject(holds[0][1]["reason"], "held for review")
        return {"id": record["id"], "case": record["case"]}

    return record_step("hold", hold)


@dataclass
class Build:
    """One build: its folder, seed and models, and its account so far."""

    folder: Path  # a draft; it becomes the case set at the end
    seed: int
    models: BuildModels
    note: Callable[[str], None]
    about: About = field(default_factory=dict)  # the set as a whole: licence, address
    rejected: list[RejectedRecord] = field(default_factory=list)
    funnel: list[StepCount] = field(default_factory=list)
    review: dict[str, list[Record]] = field(default_factory=dict)  # review queues by name
    usage: dict[str, StepReplies] = field(default_factory=dict)  # of models, by step
    counts: Counter[str] = field(default_factory=Counter)  # of other things that were left out or changed
    side_files: dict[str, list[Record]] = field(default_factory=dict)  # JSONL files beside the cases, by name

    def reject(self, record: Record, step: str, reason: str, detail: str = "") -> None:
        self.rejected.append(RejectedRecord(str(record["id"]), step, reason, detail))

    def reject_unreadable(self, place: str, reason: str, detail: str = "") -> None:
        """Rejects a part of the source and notes it at once: a build that ends without a case writes no account."""
        self.reject({"id": place}, "read", reason, detail)
        if len(self.rejected) <= MAX_LISTED:
            self.note(f"{place}: {reason}{f': {detail}' if detail else ''}")

    def queue(self, name: str, item: Record) -> None:
        """Adds an item to a review queue."""
        self.review.setdefault(name, []).append(item)

    def random_stream(self, *names: object) -> random.Random:
        """A random stream named by its purpose."""
        return seeded(*names, self.seed)

    def run_steps(self, records: Iterable[Record], steps: list[Step]) -> RecordFile:
        """Runs all steps; returns the records that remain."""
        remaining = RecordFile(records, self.folder)
        self.funnel.append(
            StepCount("read", len(remaining) + len(self.rejected), len(remaining), self._reasons("read"))
        )
        for step in steps:
            before = len(remaining)
            remaining = RecordFile(step.run(remaining, self), self.folder)
            usage = self.usage.get(step.name, StepReplies())
            reasons = self._reasons(step.name)
            self.funnel.append(
                StepCount(step.name, before, len(remaining), reasons, usage.calls, usage.tokens, usage.money)
            )
            self.note(f"{step.name}: {before:,} in, {len(remaining):,} out")
        return remaining

    def require_case(self, records: RecordFile, source: Path, unit: str) -> None:
        """Refuses a build without a case, in the set or held for review."""
        if not len(records) and not any("case" in item for items in self.review.values() for item in items):
            raise EmptyBuild(f"{source}: no {unit} became a case; {self.summarize_rejections()}")

    def summarize_rejections(self) -> str:
        """What was left out and why, in one line."""
        reasons = [f"{count} x {reason}" for step in self.funnel for reason, count in step.reasons.items()]
        return "; ".join(reasons) or "there is none in it"

    def _reasons(self, step: str) -> dict[str, int]:
        return dict(Counter(rejected.reason for rejected in self.rejected if rejected.step == step).most_common())
