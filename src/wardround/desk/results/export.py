"""Exports of everything that people did, as JSONL and CSV."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wardround.core.text import safe_row
from wardround.desk.desk import Desk
from wardround.desk.records import Task
from wardround.desk.results.agreement import ALL, KAPPA, batch_agreements, labels_by_batch, reader_agreements
from wardround.desk.results.progress import seconds_open

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


def to_jsonl(lines: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def to_csv(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> bytes:
    """CSV. A text that a spreadsheet would read as a formula gets a space before it."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(columns), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(dict(zip(row, safe_row(map(_cell, row.values())), strict=True)))
    return buffer.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "" if value != value else round(value, 6)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return value


def verdict_rows(desk: Desk, task: Task) -> list[dict[str, Any]]:
    """Every verdict of a task, with reader and time."""
    kind, items = desk.kind(task), {item.number: item for item in desk.tasks.list_items(task)}
    return [
        {
            "task": task.name,
            "item": items[verdict.item].name,
            "batch": items[verdict.item].batch,
            "reader": verdict.reader,
            "role": verdict.role,
            "level": verdict.level,
            "round": verdict.round,
            "label": kind.label(verdict.said),
            "said": verdict.said,
            "opened": verdict.opened,
            "time": verdict.time,
            "seconds": seconds_open(verdict),
        }
        for verdict in desk.tasks.verdicts(task)
    ]


COLUMNS = (
    *("task", "item", "batch", "reader", "role", "level", "round"),
    *("label", "said", "opened", "time", "seconds"),
)


def agreement_csv(desk: Desk, task: Task) -> bytes:
    """The agreement of each batch, and of each reader with all others."""
    batches = labels_by_batch(desk, task)
    rows = [agreement._asdict() for agreement in batch_agreements(batches)]
    rows += [{"batch": ALL, "figure": KAPPA, **reader._asdict()} for reader in reader_agreements(batches)]
    columns = ("batch", "reader", "readers", "items", "same", "figure", "value", "low", "high")
    return to_csv(rows, columns)


COMMON_FILES: dict[str, Callable[[Desk, Task], bytes]] = {
    "verdicts.jsonl": lambda desk, task: to_jsonl(verdict_rows(desk, task)),
    "verdicts.csv": lambda desk, task: to_csv(verdict_rows(desk, task), COLUMNS),
    "agreement.csv": agreement_csv,
}


def audit_rows(desk: Desk) -> list[dict[str, Any]]:
    return [dict(row) | {"detail": json.loads(row["detail"])} for row in desk.store.rows(AUDIT)]


def export_zip(desk: Desk) -> bytes:
    """All tables as JSONL, and the verdicts of each task as CSV too, in a zip that import_export.py reads."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("desk.json", json.dumps({"format": FORMAT}))
        for name, sql in TABLES.items():
            file.writestr(f"{name}.jsonl", to_jsonl(dict(row) for row in desk.store.rows(sql)))
        for task in desk.tasks.list_tasks():
            file.writestr(f"verdicts-{task.id}.csv", to_csv(verdict_rows(desk, task), COLUMNS))
    return buffer.getvalue()
