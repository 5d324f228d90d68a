"""Exporting: everything that people did, as JSONL and CSV."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from wardround.desk.desk import Desk
from wardround.desk.records import Task
from wardround.desk.results.agreement import ALL, KAPPA, agreements, labels_by_batch, one_against_others
from wardround.desk.results.progress import seconds_of

FORMAT = 1
TABLES = {  # what leaves the desk: no passwords, no sessions, no invitations
    "people": "SELECT id, name, role, specialty, active, made FROM people ORDER BY id",
    "tasks": "SELECT * FROM tasks ORDER BY id",
    "assigned": "SELECT * FROM assigned ORDER BY task, who",
    "items": "SELECT * FROM items ORDER BY task, number",
    "wanted": "SELECT * FROM wanted ORDER BY task, level, item",
    "images": "SELECT * FROM images ORDER BY task, item, name",
    "verdicts": "SELECT * FROM verdicts ORDER BY id",
    "todo": "SELECT * FROM todo ORDER BY task, person, item, round",
    "drafts": "SELECT * FROM drafts ORDER BY task, item, person",
    "audit": "SELECT * FROM audit ORDER BY id",
}
AUDIT = (
    "SELECT a.id, a.time, a.person, p.name, p.role, a.action, a.task, a.item, a.detail"
    " FROM audit a LEFT JOIN people p ON p.id = a.person ORDER BY a.id"
)


def jsonl(lines: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def table(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> bytes:
    """CSV. A text that a spreadsheet would take for a formula gets a space before it."""
    written = io.StringIO()
    writer = csv.DictWriter(written, list(columns), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _plain(value) for key, value in row.items()})
    return written.getvalue().encode()


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return "" if value != value else round(value, 6)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return f" {value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def said(desk: Desk, task: Task) -> list[dict[str, Any]]:
    """Every verdict of a task, who and when."""
    kind, items = desk.kind(task), {item.number: item for item in desk.work.items(task)}
    return [
        {
            "task": task.name,
            "item": items[each.item].name,
            "batch": items[each.item].batch,
            "reader": each.reader,
            "role": each.role,
            "level": each.level,
            "round": each.round,
            "label": kind.label(each.said),
            "said": each.said,
            "opened": each.opened,
            "time": each.time,
            "seconds": seconds_of(each),
        }
        for each in desk.work.verdicts(task)
    ]


COLUMNS = (
    *("task", "item", "batch", "reader", "role", "level", "round"),
    *("label", "said", "opened", "time", "seconds"),
)


def agreement(desk: Desk, task: Task) -> bytes:
    """The agreement of each batch, and of each reader with all others."""
    batches = labels_by_batch(desk, task)
    rows = [each._asdict() for each in agreements(batches)]
    alone = [each._asdict() for each in one_against_others(batches)]
    rows += [{"batch": ALL, "figure": KAPPA, "value": each.pop("kappa"), **each} for each in alone]
    columns = ("batch", "reader", "readers", "items", "same", "figure", "value", "low", "high")
    return table(rows, columns)


def audit(desk: Desk) -> list[dict[str, Any]]:
    return [dict(row) | {"detail": json.loads(row["detail"])} for row in desk.store.rows(AUDIT)]


def everything(desk: Desk) -> bytes:
    """All tables as JSONL, and the verdicts of each task as CSV too, in a zip that `importing` reads."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("desk.json", json.dumps({"format": FORMAT}))
        for name, sql in TABLES.items():
            file.writestr(f"{name}.jsonl", jsonl(dict(row) for row in desk.store.rows(sql)))
        for task in desk.work.tasks():
            file.writestr(f"verdicts-{task.id}.csv", table(said(desk, task), COLUMNS))
    return packed.getvalue()
