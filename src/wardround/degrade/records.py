"""degradations.jsonl, the records of degraded copies: read without loading what draws them."""

import json
from pathlib import Path
from typing import Any

RECORDS_FILE = "degradations.jsonl"


def read_first_record(folder: Path) -> dict[str, Any] | None:
    """The record of one copy in the folder; None if there is none."""
    try:
        with (folder / RECORDS_FILE).open(encoding="utf-8") as file:
            record = json.loads(file.readline())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None
