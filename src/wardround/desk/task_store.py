"""The tasks of a desk: items are handed out to readers, and their verdicts are saved."""

import json
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from wardround.core.errors import WardroundError
from wardround.desk.auth.accounts import Person
from wardround.desk.records import DeskItem, DeskVerdict, NewItem, ReturnedItem, Task, from_row
from wardround.desk.store import DeskStore, now

CLAIM_SECONDS = 1800  # an item that somebody opened is not handed to others meanwhile
VERDICTS = "SELECT v.*, p.name AS reader, p.role FROM verdicts v JOIN people p ON p.id = v.person WHERE v.task = :task"
CLAIMED_BY_OTHERS = """
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
_LEVEL_OF_ITEM = f"{CLAIMED_BY_OTHERS} SELECT w.level FROM wanted w {WAITING} AND w.item = :item"


class TaskStore:
    """Tasks, items, assignments, claims, drafts and verdicts."""

    def __init__(self, store: DeskStore) -> None:
        self._store = store

    # tasks

    def create(self, task: Mapping[str, Any], items: Iterable[NewItem], by: Person) -> int:
        """A new task with its items; all of it or nothing."""
        with self._store.transaction():
            id = self._store.write(
                "INSERT INTO tasks (project, kind, name, source, settings, made_by, made) VALUES (?, ?, ?, ?, ?, ?, ?)",
                *(task[name] for name in ("project", "kind", "name", "source")),
                *(json.dumps(task["settings"]), by.id, now()),
            )
            for number, item in enumerate(items, 1):
                self._add(id, number, item)
            self._store.log_action(by.id, "make task", id, kind=task["kind"], name=task["name"], source=task["source"])
        return id

    def _add(self, task: int, number: int, item: NewItem) -> None:
        self._store.write(
            "INSERT INTO items (task, number, name, batch, first, shown, hidden) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(task, number, item.name, item.batch, item.first, _json(item.shown), _json(item.hidden)),
        )
        self._store.write_many(
            "INSERT INTO wanted (task, item, level, many) VALUES (?, ?, ?, ?)",
            [(task, number, level, count) for level, count in item.wants.items()],
        )
        self._store.write_many(
            "INSERT INTO images (id, task, item, name, image, degradation) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (secrets.token_urlsafe(12), task, number, image.name, image.image.model_dump_json(), image.degradation)
                for image in item.images
            ],
        )

    def list_tasks(self) -> list[Task]:
        return [from_row(Task, row) for row in self._store.rows("SELECT * FROM tasks ORDER BY project, id")]

    def get_task(self, id: int) -> Task | None:
        row = self._store.row("SELECT * FROM tasks WHERE id = ?", id)
        return None if row is None else from_row(Task, row)

    def open_tasks_of(self, person: Person) -> list[Task]:
        return [task for task in self.list_tasks() if task.open and self.is_assigned(task, person)]

    def set_open(self, task: Task, is_open: bool, by: Person) -> None:
        with self._store.transaction():
            self._store.write("UPDATE tasks SET open = ? WHERE id = ?", is_open, task.id)
            self._store.log_action(by.id, "open task" if is_open else "close task", task.id)

    # assignments

    def assign(self, task: Task, assignees: Iterable[str], by: Person) -> None:
        """Replaces the assignees of a task: `person:7`, `role:student`."""
        who = sorted(set(assignees))
        with self._store.transaction():
            self._store.write("DELETE FROM assigned WHERE task = ?", task.id)
            self._store.write_many("INSERT INTO assigned VALUES (?, ?)", [(task.id, assignee) for assignee in who])
            self._store.log_action(by.id, "assign", task.id, who=who)

    def assignees(self, task: Task) -> set[str]:
        return {row["who"] for row in self._store.rows("SELECT who FROM assigned WHERE task = ?", task.id)}

    def is_assigned(self, task: Task, person: Person) -> bool:
        return bool(
            self._store.value(
                "SELECT 1 FROM assigned WHERE task = ? AND who IN (?, ?)",
                *(task.id, f"person:{person.id}", f"role:{person.role}"),
            )
        )

    # items

    def get_item(self, task: Task, number: int) -> DeskItem | None:
        row = self._store.row("SELECT * FROM items WHERE task = ? AND number = ?", task.id, number)
        return None if row is None else from_row(DeskItem, row)

    def list_items(self, task: Task) -> list[DeskItem]:
        rows = self._store.rows("SELECT * FROM items WHERE task = ? ORDER BY number", task.id)
        return [from_row(DeskItem, row) for row in rows]

    def request_readings(self, task: Task, items: Iterable[int], level: str, round: int = 1) -> None:
        """One more reading of these items at a level; inside `transaction`."""
        self._store.write_many(
            "INSERT INTO wanted (task, item, level, many, round) VALUES (?, ?, ?, 1, ?)"
            " ON CONFLICT DO UPDATE SET many = many + 1, round = excluded.round",
            [(task.id, item, level, round) for item in items],
        )

    def count_waiting(self, task: Task, person: Person, levels: Sequence[str]) -> int:
        """The number of items that wait for this person."""
        sql = f"{CLAIMED_BY_OTHERS} SELECT count(DISTINCT w.item) FROM wanted w {WAITING}"
        return int(self._store.value(sql, **self._query_values(task, person, levels)))

    def next_item(self, task: Task, person: Person, levels: Sequence[str]) -> int | None:
        """The item to read now: first those sent back, then those begun, then new ones."""
        returned = self._store.value(
            "SELECT item FROM todo WHERE task = ? AND person = ? AND done IS NULL ORDER BY made, item",
            *(task.id, person.id),
        )
        if returned is not None:
            return int(returned)
        values = self._query_values(task, person, levels)
        drafts = self._store.rows(
            "SELECT item FROM drafts WHERE task = ? AND person = ? ORDER BY time DESC", task.id, person.id
        )
        for row in drafts:  # unless others have read it since
            if self._store.value(_LEVEL_OF_ITEM, item=row["item"], **values):
                return int(row["item"])
        urgent = f"items i JOIN wanted w ON w.task = i.task AND w.item = i.number {WAITING} AND i.task = :task"
        sql = f"{CLAIMED_BY_OTHERS} SELECT w.item FROM {urgent} AND i.first > 0 ORDER BY i.first DESC, i.number LIMIT 1"
        first = self._store.value(sql, **values)
        if first is not None:
            return int(first)
        start = self._random_start(task, person)
        for level in levels:  # from a random start to the end, then from the beginning
            for part in ("w.item >= :start", "w.item < :start"):
                sql = f"{CLAIMED_BY_OTHERS} SELECT w.item FROM wanted w {WAITING} AND {part} ORDER BY w.item LIMIT 1"
                item = self._store.value(sql, **values | {"levels": json.dumps([level]), "start": start})
                if item is not None:
                    return int(item)
        return None

    def _random_start(self, task: Task, person: Person) -> int:
        """A pseudo-random item number, which changes with each verdict of the person."""
        highest = self._store.value("SELECT max(number) FROM items WHERE task = ?", task.id) or 1
        digest = blake2b(f"{task.id}:{person.id}:{self.count_read(task, person)}".encode(), digest_size=8).digest()
        return 1 + int.from_bytes(digest) % int(highest)

    def _query_values(self, task: Task, person: Person, levels: Sequence[str]) -> dict[str, Any]:
        return {"task": task.id, "me": person.id, "levels": json.dumps(levels), "fresh": time.time() - CLAIM_SECONDS}

    def claim(self, task: Task, item: int, person: Person, levels: Sequence[str], revisable: bool) -> str | None:
        """Claims an item for a reader for a while; returns the level, or None if they may not read it."""
        with self._store.transaction(durable=False):  # looked up and claimed at once: nobody comes between
            last = self.last_verdict(task, item, person)
            if last is not None:
                if not revisable and not self.returned_to(task, item, person):
                    return None
                level: str | None = last.level
            else:
                level = self._store.value(_LEVEL_OF_ITEM, item=item, **self._query_values(task, person, levels))
            if level is not None:
                self._store.write(
                    "INSERT INTO claims (task, item, person, level, opened, seen) VALUES (?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET seen = excluded.seen",
                    *(task.id, item, person.id, level, now(), time.time()),
                )
            return level

    def release_items(self, person: Person, grace: float = 0.0) -> None:
        """Frees the items that a reader has open, after `grace` seconds unless they come back to them."""
        with self._store.transaction(durable=False):
            self._store.write(
                "UPDATE claims SET seen = min(seen, ?) WHERE person = ?",
                *(time.time() - CLAIM_SECONDS + grace, person.id),
            )

    def may_see(self, task: Task, item: int, person: Person, levels: Sequence[str]) -> bool:
        """Whether somebody has read this item, has it open, or may open it."""
        sql = "SELECT 1 FROM {} WHERE task = ? AND item = ? AND person = ?"
        place = (task.id, item, person.id)
        return any(self._store.value(sql.format(table), *place) for table in ("verdicts", "claims")) or bool(
            self._store.value(_LEVEL_OF_ITEM, item=item, **self._query_values(task, person, levels))
        )

    # verdicts and drafts

    def save_verdict(
        self, task: Task, item: DeskItem, person: Person, said: Mapping[str, Any], once: str
    ) -> tuple[DeskVerdict, bool]:
        """Saves a verdict, inside `transaction`. A repeated `once` saves nothing: then the second value is False."""
        if self.is_saved(once):
            earlier = self._store.row(f"{VERDICTS} AND v.once = :once", task=task.id, once=once)
            if earlier is None or (earlier["item"], earlier["person"]) != (item.number, person.id):
                raise WardroundError("this page was used for something else: open the item again")
            return from_row(DeskVerdict, earlier), False
        claim = self._store.row(
            "SELECT * FROM claims WHERE task = ? AND item = ? AND person = ?", task.id, item.number, person.id
        )
        if claim is None:
            raise WardroundError("this item is not open any more: open it again")
        place = (task.id, item.number, person.id)
        if not self._store.value("SELECT 1 FROM verdicts WHERE task = ? AND item = ? AND person = ?", *place):
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
            self._store.write(f"DELETE FROM {table} WHERE task = ? AND item = ? AND person = ?", *place)
        self._store.write(
            "UPDATE todo SET done = ? WHERE task = ? AND item = ? AND person = ? AND done IS NULL", now(), *place
        )
        self._store.log_action(person.id, "verdict", task.id, item.number, verdict=id, said=said)
        row = self._store.row(f"{VERDICTS} AND v.id = :id", task=task.id, id=id)
        assert row is not None
        return from_row(DeskVerdict, row), True

    def is_saved(self, once: str) -> bool:
        return bool(self._store.value("SELECT 1 FROM verdicts WHERE once = ?", once))

    def last_verdict(self, task: Task, item: int, person: Person) -> DeskVerdict | None:
        """A person's latest verdict on an item."""
        row = self._store.row(
            f"{VERDICTS} AND v.person = :me AND v.item = :item ORDER BY v.id DESC LIMIT 1",
            task=task.id,
            me=person.id,
            item=item,
        )
        return None if row is None else from_row(DeskVerdict, row)

    def verdicts(self, task: Task, item: int | None = None, person: Person | None = None) -> list[DeskVerdict]:
        """All verdicts (on an item, by a person), in the order in which they were given."""
        filters = {"item": item, "person": person and person.id}
        filters = {name: value for name, value in filters.items() if value is not None}
        sql = VERDICTS + "".join(f" AND v.{name} = :{name}" for name in filters)
        return [from_row(DeskVerdict, row) for row in self._store.rows(f"{sql} ORDER BY v.id", task=task.id, **filters)]

    def items_read_by(self, task: Task, person: Person) -> list[tuple[int, str, str]]:
        """Number, name and time of the items that a person has read, the latest first."""
        rows = self._store.rows(
            "SELECT i.number, i.name, max(v.time) AS time FROM verdicts v JOIN items i ON i.task = v.task"
            " AND i.number = v.item WHERE v.task = ? AND v.person = ? GROUP BY i.number ORDER BY time DESC",
            *(task.id, person.id),
        )
        return [(row["number"], row["name"], row["time"]) for row in rows]

    def previous_item(self, task: Task, item: int, person: Person) -> int | None:
        """The item that a person read before this one; the last one, if they have not read this one yet."""
        sql = (
            "WITH mine AS (SELECT item, min(id) AS first FROM verdicts WHERE task = ? AND person = ? GROUP BY item)"
            " SELECT item FROM mine WHERE first < coalesce((SELECT first FROM mine WHERE item = ?), first + 1)"
            " ORDER BY first DESC LIMIT 1"
        )
        number = self._store.value(sql, task.id, person.id, item)
        return None if number is None else int(number)

    def count_read(self, task: Task, person: Person) -> int:
        """The number of items that a person has read."""
        sql = "SELECT count(DISTINCT item) FROM verdicts WHERE task = ? AND person = ?"
        return int(self._store.value(sql, task.id, person.id))

    def save_draft(self, task: Task, item: int, person: Person, form: Mapping[str, Any]) -> str:
        """Saves a form that is not submitted yet; only while the item is open."""
        moment = now()
        with self._store.transaction():
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

    def load_draft(self, task: Task, item: int, person: Person) -> dict[str, Any] | None:
        form = self._store.value(
            "SELECT form FROM drafts WHERE task = ? AND item = ? AND person = ?", task.id, item, person.id
        )
        return None if form is None else json.loads(form)

    # items sent back

    def send_back(self, task: Task, item: int, person: int, why: Mapping[str, Any]) -> None:
        """Sends an item back to a reader, inside `transaction`."""
        self._store.write(
            "INSERT INTO todo (task, item, person, round, why, made) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET why = excluded.why, made = excluded.made, done = NULL",
            *(task.id, item, person, task.round, _json(why), now()),
        )

    def returned_to(self, task: Task, item: int, person: Person) -> list[ReturnedItem]:
        return [returned for returned in self.list_returned(task, person) if returned.item == item]

    def was_ever_returned(self, task: Task, item: int, person: int) -> bool:
        sql = "SELECT 1 FROM todo WHERE task = ? AND person = ? AND item = ?"
        return bool(self._store.value(sql, task.id, person, item))

    def list_returned(self, task: Task, person: Person | None = None) -> list[ReturnedItem]:
        """The items that were sent back to a person, or to anybody, and are not read again yet."""
        rows = self._store.rows(
            "SELECT t.*, i.name FROM todo t JOIN items i ON i.task = t.task AND i.number = t.item"
            " WHERE t.task = ? AND (? IS NULL OR t.person = ?) AND t.done IS NULL ORDER BY t.made, t.item",
            *(task.id, person and person.id, person and person.id),
        )
        return [from_row(ReturnedItem, row) for row in rows]


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
