"""Tables and images in the layouts of other projects, as small as they can be."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

COLUMNS = [
    *("index", "image", "question", "A", "B", "C", "D", "E", "answer"),
    *("modality", "degradation_type", "degradation_severity", "source"),
]


def picture(number: int, size: int = 8, format: str = "PNG") -> bytes:
    """The bytes of an image that no other number gives."""
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(number).integers(0, 255, (size, size), dtype=np.uint8)).save(buffer, format)
    return buffer.getvalue()


def in_base64(number: int, **how: Any) -> str:
    return base64.b64encode(picture(number, **how)).decode()


def row(index: object, image: str, **cells: Any) -> dict[str, Any]:
    """A row of the released layout: a clean CT image by default."""
    defaults = dict.fromkeys(COLUMNS, "") | {
        "question": "What is shown?",
        "A": "a liver",
        "B": "a kidney",
        "C": "a spleen",
    }
    return defaults | {"index": index, "image": image, "answer": "B", "modality": "CT", "source": "OmniMedVQA"} | cells


def degraded(index: object, image: str, type: str = "sparse_view", severity: str = "L1", **cells: Any) -> Any:
    return row(index, image, degradation_type=type, degradation_severity=severity, **cells)


def write_tsv(file: Path, rows: Sequence[dict[str, Any]], columns: Sequence[str] | None = None) -> Path:
    """As pandas writes it: quotes only where a cell needs them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as table:
        writer = csv.DictWriter(table, columns or list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return file
