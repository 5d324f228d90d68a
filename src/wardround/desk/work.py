"""Work: tasks are made and handed out, and what people say is kept."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from wardround.core.errors import WardroundError
from wardround.desk.auth.people import Person
from wardround.desk.records import Item, NewItem, Task, Todo, Verdict, item_of, task_of, verdict_of
from wardround.desk.store import Store, now

HELD = 1800  # seconds for which an item that somebody opened is not handed to others
VERDICTS = "SELECT v.*, p.name AS reader, p.role FROM verdicts v JOIN people p ON p.id = v.person WHERE v.task = :task"
HELD_BY_OTHERS = """
WITH held AS MATERIALIZED (
  SELECT item, level, count(*) AS many FROM claims c WHERE task = :task AND person != :me AND seen > :fresh
    AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.task = c.task AND v.person = c.person AND v.item = c.item)
  GROUP BY item, level)
"""
WAITING = """
LEFT JOIN held h ON h.item = w.item AND h.level = w.level
WHERE w.task = :task AND w.level IN (SELECT value FROM json_each(:levels)) AND w.many > w.given
  AND w.many > w.given + coalesce(h.many, 0)
  AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.task = w.task AND v.person = :me AND v.item = w.item)
"""
_ONE = f"{HELD_BY_OTHERS} SELECT w.level FROM wanted w {WAITING} AND w.item = :item"


class Work:
    """The tasks of a desk."""

    def __init__(self, store: Store) -> None:
        self._store = store

    # tasks

    def make(self, task: Mapping[str, Any], items: Iterable[NewItem], by: Person) -> int:
        """A new task with its items; all of it or nothing."""
        with self._store.saving():
            id = self._store.write(
                "INSERT INTO tasks (project, kind, name, source, settings, made_by, made) VALUES (?, ?, ?, ?, ?, ?, ?)",
                *(task[name] for name in ("project", "kind", "name", "source")),
                *(json.dumps(task["settings"]), by.id, now()),
            )
            for number, item in enumerate(items, 1):
                self._add(id, number, item)
            self._store.record(by.id, "make task", id, kind=task["kind"], name=task["name"], source=task["source"])
        return id

    def _add(self, task: int, number: int, item: NewItem) -> None:
        told = (_json(item.shown), _json(item.hidden))
        self._store.write(
            "INSERT INTO items (task, number, name, batch, first, shown, hidden) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(task, number, item.name, item.batch, item.first, *told),
        )
        self._store.write_many(
            "INSERT INTO wanted (task, item, level, many) VALUES (?, ?, ?, ?)",
            [(task, number, level, many) for level, many in item.wants.items()],
        )
        self._store.write_many(
            "INSERT INTO images (id, task, item, name, image, degradation) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (secrets.token_urlsafe(12), task, number, each.name, each.image.model_dump_json(), each.degradation)
                for each in item.images
            ],
        )

    def tasks(self) -> list[Task]:
        return [task_of(row) for row in self._store.rows("SELECT * FROM tasks ORDER BY project, id")]

    def task(self, id: int) -> Task | None:
        row = self._store.row("SELECT * FROM tasks WHERE id = ?", id)
        return None if row is None else task_of(row)

    def tasks_of(self, person: Person) -> list[Task]:
        return [task for task in self.tasks() if task.open and self.is_assigned(task, person)]

    def set_open(self, task: Task, is_open: bool, by: Person) -> None:
        with self._store.saving():
            self._store.write("UPDATE tasks SET open = ? WHERE id = ?", is_open, task.id)
            self._store.record(by.id, "open task" if is_open else "close task", task.id)

    # who

    def assign(self, task: Task, who: Sequence[str], by: Person) -> None:
        """From now on these and nobody else: `person:7`, `role:student`."""
        with self._store.saving():
            self._store.write("DELETE FROM assigned WHERE task = ?", task.id)
            self._store.write_many("INSERT INTO assigned VALUES (?, ?)", [(task.id, each) for each in sorted(set(who))])
            self._store.record(by.id, "assign", task.id, who=sorted(set(who)))

    def assigned(self, task: Task) -> set[str]:
        return {row["who"] for row in self._store.rows("SELECT who FROM assigned WHERE task = ?", task.id)}

    def is_assigned(self, task: Task, person: Person) -> bool:
        return bool(
            self._store.value(
                "SELECT 1 FROM assigned WHERE task = ? AND who IN (?, ?)",
                *(task.id, f"person:{person.id}", f"role:{person.role}"),
            )
        )

    # items

    def item(self, task: Task, number: int) -> Item | None:
        row = self._store.row("SELECT * FROM items WHERE task = ? AND number = ?", task.id, number)
        return None if row is None else item_of(row)

    def items(self, task: Task) -> list[Item]:
        return [item_of(row) for row in self._store.rows("SELECT * FROM items WHERE task = ? ORDER BY number", task.id)]

    def want(self, task: Task, items: Iterable[int], level: str, round: int = 1) -> None:
        """One more reading of these items at a level; inside `saving`."""
        self._store.write_many(
            "INSERT INTO wanted (task, item, level, many, round) VALUES (?, ?, ?, 1, ?)"
            " ON CONFLICT DO UPDATE SET many = many + 1, round = excluded.round",
            [(task.id, item, level, round) for item in items],
        )

    def waiting(self, task: Task, person: Person, levels: Sequence[str]) -> int:
        """How many items wait for this person."""
        sql = f"{HELD_BY_OTHERS} SELECT count(DISTINCT w.item) FROM wanted w {WAITING}"
        return int(self._store.value(sql, **self._asked(task, person, levels)))

    def next(self, task: Task, person: Person, levels: Sequence[str], shuffled: bool) -> int | None:
        """The item to read now: what came back, what was begun, then what is wanted."""
        back = self._store.value(
            "SELECT item FROM todo WHERE task = ? AND person = ? AND done IS NULL ORDER BY made, item",
            task.id,
            person.id,
        )
        if back is not None:
            return int(back)
        asked = self._asked(task, person, levels)
        drafts = self._store.rows(
            "SELECT item FROM drafts WHERE task = ? AND person = ? ORDER BY time DESC", task.id, person.id
        )
        for row in drafts:  # begun; unless others have read it since
            if self._store.value(_ONE, item=row["item"], **asked):
                return int(row["item"])
        joined = f"items i JOIN wanted w ON w.task = i.task AND w.item = i.number {WAITING} AND i.task = :task"
        sql = f"{HELD_BY_OTHERS} SELECT w.item FROM {joined} AND i.first > 0 ORDER BY i.first DESC, i.number LIMIT 1"
        urgent = self._store.value(sql, **asked)
        if urgent is not None:
            return int(urgent)
        start = self._lot(task, person) if shuffled else 0
        for level in levels:  # from a place drawn by lot to the end, then from the beginning
            for end in ("w.item >= :start", "w.item < :start"):
                sql = f"{HELD_BY_OTHERS} SELECT w.item FROM wanted w {WAITING} AND {end} ORDER BY w.item LIMIT 1"
                found = self._store.value(sql, **asked | {"levels": json.dumps([level]), "start": start})
                if found is not None:
                    return int(found)
        return None

    def _lot(self, task: Task, person: Person) -> int:
        """A number among the items of a task: another one after each verdict, the same until then."""
        most = self._store.value("SELECT max(number) FROM items WHERE task = ?", task.id) or 1
        drawn = blake2b(f"{task.id}:{person.id}:{self.many_read(task, person)}".encode(), digest_size=8).digest()
        return 1 + int.from_bytes(drawn) % int(most)

    def _asked(self, task: Task, person: Person, levels: Sequence[str]) -> dict[str, Any]:
        return {"task": task.id, "me": person.id, "levels": json.dumps(levels), "fresh": time.time() - HELD}

    def open(self, task: Task, item: int, person: Person, levels: Sequence[str], revisable: bool) -> str | None:
        """The level at which somebody may read an item now, and it is theirs for a while; None: not theirs."""
        with self._store.saving(durably=False):  # looked up and claimed at once: nobody comes between
            mine = self.mine(task, item, person)
            if mine is not None:
                if not revisable and not self.came_back(task, item, person):
                    return None
                level: str | None = mine.level
            else:
                level = self._store.value(_ONE, item=item, **self._asked(task, person, levels))
            if level is not None:
                self._store.write(
                    "INSERT INTO claims (task, item, person, level, opened, seen) VALUES (?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET seen = excluded.seen",
                    *(task.id, item, person.id, level, now(), time.time()),
                )
            return level

    def may_see(self, task: Task, item: int, person: Person, levels: Sequence[str]) -> bool:
        """Whether somebody has read this item, has it open, or may open it."""
        mine = "SELECT 1 FROM {} WHERE task = ? AND item = ? AND person = ?"
        here = (task.id, item, person.id)
        return any(self._store.value(mine.format(table), *here) for table in ("verdicts", "claims")) or bool(
            self._store.value(_ONE, item=item, **self._asked(task, person, levels))
        )

    # what people say

    def say(self, task: Task, item: Item, person: Person, said: Mapping[str, Any], once: str) -> tuple[Verdict, bool]:
        """Keeps a verdict; inside `saving`. Sent twice it is kept once: False says that it was there."""
        if self.was_said(once):
            there = self._store.row(f"{VERDICTS} AND v.once = :once", task=task.id, once=once)
            if there is None or (there["item"], there["person"]) != (item.number, person.id):
                raise WardroundError("this page was used for something else: open the item again")
            return verdict_of(there), False
        claim = self._store.row(
            "SELECT * FROM claims WHERE task = ? AND item = ? AND person = ?", task.id, item.number, person.id
        )
        if claim is None:
            raise WardroundError("this item is not open any more: open it again")
        here = (task.id, item.number, person.id)
        if not self._store.value("SELECT 1 FROM verdicts WHERE task = ? AND item = ? AND person = ?", *here):
            self._store.write(
                "UPDATE wanted SET given = given + 1 WHERE task = ? AND level = ? AND item = ?",
                *(task.id, claim["level"], item.number),
            )
        id = self._store.write(
            "INSERT INTO verdicts (task, item, person, level, round, said, opened, time, once)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(task.id, item.number, person.id, claim["level"], task.round, _json(said), claim["opened"], now(), once),
        )
        for table in ("claims", "drafts"):
            self._store.write(f"DELETE FROM {table} WHERE task = ? AND item = ? AND person = ?", *here)
        self._store.write(
            "UPDATE todo SET done = ? WHERE task = ? AND item = ? AND person = ? AND done IS NULL", now(), *here
        )
        self._store.record(person.id, "verdict", task.id, item.number, verdict=id, said=said)
        row = self._store.row(f"{VERDICTS} AND v.id = :id", task=task.id, id=id)
        assert row is not None
        return verdict_of(row), True

    def was_said(self, once: str) -> bool:
        return bool(self._store.value("SELECT 1 FROM verdicts WHERE once = ?", once))

    def mine(self, task: Task, item: int, person: Person) -> Verdict | None:
        """What somebody last said of an item."""
        row = self._store.row(
            f"{VERDICTS} AND v.person = :me AND v.item = :item ORDER BY v.id DESC LIMIT 1",
            task=task.id,
            me=person.id,
            item=item,
        )
        return None if row is None else verdict_of(row)

    def verdicts(self, task: Task, item: int | None = None, person: Person | None = None) -> list[Verdict]:
        """Everything that was said (of an item, by a person), in the order in which it was said."""
        told = {"item": item, "person": person and person.id}
        named = {name: value for name, value in told.items() if value is not None} | {"task": task.id}
        only = "".join(f" AND v.{name} = :{name}" for name in named if name != "task")
        return [verdict_of(row) for row in self._store.rows(f"{VERDICTS}{only} ORDER BY v.id", **named)]

    def read_by(self, task: Task, person: Person) -> list[tuple[int, str, str]]:
        """Number, name and time of the items that somebody has read, the latest first."""
        rows = self._store.rows(
            "SELECT i.number, i.name, max(v.time) AS time FROM verdicts v JOIN items i ON i.task = v.task"
            " AND i.number = v.item WHERE v.task = ? AND v.person = ? GROUP BY i.number ORDER BY time DESC",
            *(task.id, person.id),
        )
        return [(row["number"], row["name"], row["time"]) for row in rows]

    def many_read(self, task: Task, person: Person) -> int:
        """How many items somebody has read."""
        sql = "SELECT count(DISTINCT item) FROM verdicts WHERE task = ? AND person = ?"
        return int(self._store.value(sql, task.id, person.id))

    def keep_draft(self, task: Task, item: int, person: Person, form: Mapping[str, Any]) -> str:
        """What is typed and not yet said; only while the item is open."""
        moment = now()
        with self._store.saving():
            if not self._store.value(
                "SELECT 1 FROM claims WHERE task = ? AND item = ? AND person = ?", task.id, item, person.id
            ):
                raise WardroundError("this item is not open any more: open it again")
            self._store.write(
                "INSERT INTO drafts VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET form = excluded.form, time = excluded.time",
                *(task.id, item, person.id, _json(form), moment),
            )
            self._store.write(
                "UPDATE claims SET seen = ? WHERE task = ? AND item = ? AND person = ?",
                *(time.time(), task.id, item, person.id),
            )
        return moment

    def draft(self, task: Task, item: int, person: Person) -> dict[str, Any] | None:
        found = self._store.value(
            "SELECT form FROM drafts WHERE task = ? AND item = ? AND person = ?", task.id, item, person.id
        )
        return None if found is None else json.loads(found)

    # what comes back

    def send_back(self, task: Task, item: int, person: int, why: Mapping[str, Any]) -> None:
        """Puts an item on somebody's list; inside `saving`."""
        self._store.write(
            "INSERT INTO todo (task, item, person, round, why, made) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET why = excluded.why, made = excluded.made, done = NULL",
            *(task.id, item, person, task.round, _json(why), now()),
        )

    def came_back(self, task: Task, item: int, person: Person) -> list[Todo]:
        return [each for each in self.todo(task, person) if each.item == item]

    def ever_came_back(self, task: Task, item: int, person: int) -> bool:
        sql = "SELECT 1 FROM todo WHERE task = ? AND person = ? AND item = ?"
        return bool(self._store.value(sql, task.id, person, item))

    def todo(self, task: Task, person: Person | None = None) -> list[Todo]:
        """What waits on somebody's list, or on anybody's."""
        rows = self._store.rows(
            "SELECT t.*, i.name FROM todo t JOIN items i ON i.task = t.task AND i.number = t.item"
            " WHERE t.task = ? AND (? IS NULL OR t.person = ?) AND t.done IS NULL ORDER BY t.made, t.item",
            *(task.id, person and person.id, person and person.id),
        )
        return [Todo(row["item"], row["name"], row["round"], json.loads(row["why"])) for row in rows]


def _json(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False)
