"""Import of another desk's export: it is added to this desk, with persons and times as they were."""

import json
import secrets
import zipfile
from typing import Any, BinaryIO

from wardround.core.errors import WardroundError
from wardround.desk.auth.accounts import ROLES, Person
from wardround.desk.desk import Desk
from wardround.desk.results.export import FORMAT, TABLES
from wardround.desk.store import now

MAX_TABLE_BYTES = 2**30  # bytes of one table
COLUMNS = {
    "tasks": ("project", "kind", "name", "source", "settings", "open", "round", "made"),
    "items": ("number", "name", "batch", "first", "shown", "hidden"),
    "wanted": ("item", "level", "many", "given", "round"),
    "images": ("item", "name", "image", "degradation"),
    "verdicts": ("item", "level", "round", "said", "opened", "time"),
    "todo": ("item", "round", "why", "made", "done"),
    "drafts": ("item", "form", "time"),
}


def import_everything(desk: Desk, file: BinaryIO, by: Person) -> dict[str, int]:
    """Adds the people, tasks and verdicts of an export; returns their counts. People are matched by name.

    New people have no password: the administrator makes a link for each. Images are looked up below this root.
    """
    tables = _tables(file)
    try:
        with desk.store.transaction():
            people = {row["id"]: _import_person(desk, row) for row in tables["people"]}
            tasks = {row["id"]: _import_task(desk, row, by) for row in tables["tasks"]}
            for name in ("items", "wanted", "images", "verdicts", "todo", "drafts"):
                for row in tables[name]:
                    _import_row(desk, name, row, tasks, people)
            for row in tables["assigned"]:
                who = row["who"]
                if who.startswith("person:"):
                    who = f"person:{people[int(who.partition(':')[2])]}"
                desk.store.write("INSERT OR IGNORE INTO assigned VALUES (?, ?)", tasks[row["task"]], who)
            counts = {"people": len(people), "tasks": len(tasks), "verdicts": len(tables["verdicts"])}
            desk.store.log_action(by.id, "import", None, None, **counts, audit=tables["audit"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WardroundError(f"this is not an export of a desk: {type(error).__name__} {error}") from None
    return counts


def _tables(file: BinaryIO) -> dict[str, list[dict[str, Any]]]:
    try:
        with zipfile.ZipFile(file) as archive:
            if json.loads(_read(archive, "desk.json")).get("format") != FORMAT:
                raise WardroundError("this export was made by another version of the desk")
            return {
                name: [json.loads(line) for line in _read(archive, f"{name}.jsonl").splitlines() if line]
                for name in TABLES
            }
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError, RuntimeError, EOFError, AttributeError):
        raise WardroundError("this is not an export of a desk") from None


def _read(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as stream:
        data = stream.read(MAX_TABLE_BYTES + 1)
    if len(data) > MAX_TABLE_BYTES:
        raise WardroundError(f"{name} is too large")
    return data.decode()


def _import_person(desk: Desk, row: dict[str, Any]) -> int:
    name, role = str(row["name"]), row["role"]
    existing = desk.store.row("SELECT id, role FROM people WHERE name = ?", name)
    if role not in ROLES:
        raise ValueError(f"role {role!r}")
    if existing is not None:
        if existing["role"] != role:
            raise WardroundError(f"{name!r} is {existing['role']} here and {role} in the export")
        return int(existing["id"])
    return desk.store.write(
        "INSERT INTO people (name, role, specialty, active, made) VALUES (?, ?, ?, ?, ?)",
        *(name, role, str(row["specialty"]), bool(row["active"]), now()),
    )


def _import_task(desk: Desk, row: dict[str, Any], by: Person) -> int:
    if row["kind"] not in desk.kinds:
        raise ValueError(f"kind {row['kind']!r}")
    columns = COLUMNS["tasks"]
    placeholders = ", ".join("?" for _ in columns)
    sql = f"INSERT INTO tasks ({', '.join(columns)}, made_by) VALUES ({placeholders}, ?)"
    return desk.store.write(sql, *(row[name] for name in columns), by.id)


def _import_row(desk: Desk, table: str, row: dict[str, Any], tasks: dict[int, int], people: dict[int, int]) -> None:
    values = {name: row[name] for name in COLUMNS[table]} | {"task": tasks[row["task"]]}
    for name in ("shown", "hidden", "image", "said", "why", "form"):
        if name in values:
            json.loads(values[name])
    if table in ("verdicts", "todo", "drafts"):
        values["person"] = people[row["person"]]
    if table == "verdicts":
        values["once"] = secrets.token_urlsafe(16)
    if table == "images":
        values["id"] = secrets.token_urlsafe(12)
    names, placeholders = ", ".join(values), ", ".join(f":{name}" for name in values)
    desk.store.write(f"INSERT INTO {table} ({names}) VALUES ({placeholders})", **values)
