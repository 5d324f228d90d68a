"""The data card: a case set as a whole, from its manifest and its files."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.building.pipeline.about import KEYS
from wardround.cases.set import CaseSet
from wardround.core.canonical import sha256_file
from wardround.reporting.tables.table import Cell, Column, Table, TableRow


@dataclass(frozen=True)
class DataCard:
    """The manifest's metadata under Croissant's names, and its sources and settings."""

    name: str
    about: dict[str, Any]
    sources: dict[str, str]
    settings: dict[str, Any]
    files: dict[str, tuple[str, int]]  # SHA-256 and size by path
    funnel: Table | None


def make_card(cases: CaseSet, images: dict[str, tuple[str, int]]) -> DataCard:
    """The card of a set; `images` are the hashes and sizes of its image files."""
    manifest = _manifest(cases.folder / "manifest.json")
    about = {key: manifest[key] for key in KEYS if manifest.get(key)}
    name = str(about.get("name") or cases.folder.resolve().name)
    files = {cases.file.name: (sha256_file(cases.file), cases.file.stat().st_size), **dict(sorted(images.items()))}
    sources, settings = (
        value if isinstance(value := manifest.get(key), dict) else {} for key in ("sources", "settings")
    )
    return DataCard(name, about, sources, settings, files, _funnel(cases.folder / "funnel.csv"))


def _manifest(file: Path) -> dict[str, Any]:
    """The manifest of a build; empty if the file is none."""
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _funnel(file: Path) -> Table | None:
    """The funnel of the build, if there is one."""
    if not file.is_file():
        return None
    with file.open(encoding="utf-8", newline="") as lines:
        steps = list(csv.DictReader(lines))
    if not steps or not {"step", "records_in", "records_out", "reasons"} <= set(steps[0]):
        return None
    rows = [
        TableRow((step["step"], step["reasons"]), [Cell(text=step["records_in"]), Cell(text=step["records_out"])])
        for step in steps
    ]
    return Table("Funnel", ("Step", "Left out"), [Column("in", unit="text"), Column("out", unit="text")], rows)
