"""Output of commands: one JSON document on stdout with --json, text otherwise."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

if TYPE_CHECKING:
    from wardround.reporting.tables.table import Table

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout; progress goes to stderr.")]


def print_result(result: dict[str, Any], as_json: bool, text: str) -> None:
    """Prints the result of a command; called once, at its end."""
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY) + b"\n")
        sys.stdout.flush()
    else:
        print(text)


def run_record(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    from wardround.running.closing import closing_lines

    return {
        "run": str(folder),
        "report": str(folder / "report.html"),
        "status": manifest["status"],
        "why": manifest["why"],
        "closing": closing_lines(manifest),
    }


def print_run(record: dict[str, Any], as_json: bool) -> None:
    """Prints why a run is incomplete if it is, its commonest faults and its bill, and the path of its report."""
    reason = [f"incomplete: {record['why']}"] if record["status"] == "incomplete" else []
    print_result(record, as_json, "\n".join([*reason, *record.get("closing", []), record["report"]]))


def terminal_width() -> int:
    return shutil.get_terminal_size((120, 40)).columns


def table_text(table: Table) -> str:
    from wardround.reporting.tables.terminal import as_text

    return as_text(table, terminal_width())


def note(text: str) -> None:
    """Prints progress on stderr, so that stdout remains one document; in place of a progress line, if there is one."""
    clear_line = "\r\x1b[2K" if sys.stderr.isatty() else ""
    print(f"{clear_line}{text}", file=sys.stderr, flush=True)
