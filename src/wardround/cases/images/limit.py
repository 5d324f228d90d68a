"""The largest image that is decoded: a small file that declares a huge one is refused before it unfolds."""

from __future__ import annotations

from pathlib import Path

from wardround.core.errors import BadInput

MOST_PIXELS = 100_000_000  # 10,000 x 10,000; below Pillow's own limit


def check_size(path: Path, width: int, height: int) -> None:
    """Refuses what declares more pixels than are ever decoded."""
    if width * height > MOST_PIXELS:
        raise too_large(path, f"{width:,} x {height:,}")
    if width * height == 0:
        raise BadInput(path, "has no pixels")


def too_large(path: Path, size: str = "its size") -> BadInput:
    return BadInput(path, f"is too large: {size} is more than {MOST_PIXELS:,} pixels")
