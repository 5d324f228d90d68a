"""Importing: what another desk exported comes in beside what is here, with who and when as they were."""

from __future__ import annotations

import json
import secrets
import zipfile
from typing import Any, BinaryIO

from wardround.core.errors import WardroundError
from wardround.desk.auth.people import ROLES, Person
from wardround.desk.desk import Desk
from wardround.desk.results.export import FORMAT, TABLES
from wardround.desk.store import now

LARGEST = 2**30  # bytes of one table
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
    """Adds the people, tasks and verdicts of an export; says how many. People who are here already are the same ones.

    New people have no password: the administrator makes a link for each. Images are found below this desk's root.
    """
    tables = _tables(file)
    try:
        with desk.store.saving():
            people = {each["id"]: _person(desk, each) for each in tables["people"]}
            tasks = {each["id"]: _task(desk, each, by) for each in tables["tasks"]}
            for name in ("items", "wanted", "images", "verdicts", "todo", "drafts"):
                for each in tables[name]:
                    _add(desk, name, each, tasks, people)
            for each in tables["assigned"]:
                who = each["who"]
                if who.startswith("person:"):
                    who = f"person:{people[int(who.partition(':')[2])]}"
                desk.store.write("INSERT OR IGNORE INTO assigned VALUES (?, ?)", tasks[each["task"]], who)
            told = {"people": len(people), "tasks": len(tasks), "verdicts": len(tables["verdicts"])}
            desk.store.record(by.id, "import", None, None, **told, audit=tables["audit"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WardroundError(f"this is no export of a desk: {type(error).__name__} {error}") from None
    return told


def _tables(file: BinaryIO) -> dict[str, list[dict[str, Any]]]:
    try:
        with zipfile.ZipFile(file) as packed:
            if json.loads(_read(packed, "desk.json")).get("format") != FORMAT:
                raise WardroundError("this export was made by another version of the desk")
            return {
                name: [json.loads(line) for line in _read(packed, f"{name}.jsonl").splitlines() if line]
                for name in TABLES
            }
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError, RuntimeError, EOFError, AttributeError):
        raise WardroundError("this is no export of a desk") from None


def _read(packed: zipfile.ZipFile, name: str) -> str:
    with packed.open(name) as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise WardroundError(f"{name} is too large")
    return data.decode()


def _person(desk: Desk, told: dict[str, Any]) -> int:
    name, role = str(told["name"]), told["role"]
    here = desk.store.row("SELECT id, role FROM people WHERE name = ?", name)
    if role not in ROLES:
        raise ValueError(f"role {role!r}")
    if here is not None:
        if here["role"] != role:
            raise WardroundError(f"{name!r} is {here['role']} here and {role} in the export")
        return int(here["id"])
    return desk.store.write(
        "INSERT INTO people (name, role, specialty, active, made) VALUES (?, ?, ?, ?, ?)",
        *(name, role, str(told["specialty"]), bool(told["active"]), now()),
    )


def _task(desk: Desk, told: dict[str, Any], by: Person) -> int:
    if told["kind"] not in desk.kinds:
        raise ValueError(f"kind {told['kind']!r}")
    columns = COLUMNS["tasks"]
    marks = ", ".join("?" for _ in columns)
    sql = f"INSERT INTO tasks ({', '.join(columns)}, made_by) VALUES ({marks}, ?)"
    return desk.store.write(sql, *(told[name] for name in columns), by.id)


def _add(desk: Desk, table: str, told: dict[str, Any], tasks: dict[int, int], people: dict[int, int]) -> None:
    values = {name: told[name] for name in COLUMNS[table]} | {"task": tasks[told["task"]]}
    for name in ("shown", "hidden", "image", "said", "why", "form"):
        if name in values:
            json.loads(values[name])
    if table in ("verdicts", "todo", "drafts"):
        values["person"] = people[told["person"]]
    if table == "verdicts":
        values["once"] = secrets.token_urlsafe(16)
    if table == "images":
        values["id"] = secrets.token_urlsafe(12)
    names, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    desk.store.write(f"INSERT INTO {table} ({names}) VALUES ({marks})", **values)
