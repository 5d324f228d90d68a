"""What the manifest beside a case set says of its source: licence, address, and the commit of the Hub."""

from pathlib import Path
from typing import Any

import orjson

MANIFEST = "manifest.json"
KEYS = ("name", "license", "url", "hub")


def source_of_set(folder: Path) -> dict[str, Any]:
    """Empty for a set without a manifest, or with one that cannot be read."""
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return {}
    return {key: manifest[key] for key in KEYS if manifest.get(key)} if isinstance(manifest, dict) else {}
