"""The largest image that is decoded. A small file that declares a huge image is refused before it is decompressed."""

from pathlib import Path

from wardround.core.errors import BadInput

MAX_PIXELS = 100_000_000  # 10,000 x 10,000; below Pillow's own limit


def check_size(path: Path, width: int, height: int) -> None:
    """Refuses an image that declares too many pixels, or none."""
    if width * height > MAX_PIXELS:
        raise size_error(path, f"{width:,} x {height:,}")
    if width * height == 0:
        raise BadInput(path, "has no pixels")


def size_error(path: Path, size: str = "its size") -> BadInput:
    return BadInput(path, f"is too large: {size} is more than {MAX_PIXELS:,} pixels")
