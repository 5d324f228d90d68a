"""A case set in a temporary folder, from the lines that a test gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes lines (dicts become JSON, bytes stay) as a case set with one good image; gives its folder."""

    def write(*lines: dict[str, Any] | bytes) -> Path:
        folder = tmp_path / "set"
        (folder / "images").mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(folder / "images" / "good.png")
        encoded = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        (folder / "cases.jsonl").write_bytes(b"".join(line + b"\n" for line in encoded))
        return folder

    return write
