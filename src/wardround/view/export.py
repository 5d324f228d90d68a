"""The explorer as static files, for a web server or an archive; its pages also work from a file address.

Data are scripts that hand an object over, because pages from a file address may not fetch. Images are files named by
the hash of their bytes, so that what conditions, questions and candidates share is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from wardround.core.errors import BadInput, WardroundError
from wardround.core.files import new_folder
from wardround.view.explorer import BLOCK, Explorer
from wardround.view.images import SUFFIXES
from wardround.view.page import render_page, static_files
from wardround.view.run_progress import run_states

POLICY = (
    "default-src 'none'; img-src 'self' file:; script-src 'self' file:; style-src 'self' file:; "
    "base-uri 'none'; form-action 'none'"
)
NOTE_EVERY = 1_000  # questions


@dataclass(frozen=True)
class Exported:
    """What an export consists of."""

    index: Path
    questions: int
    images: int
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        return {"index": str(self.index), "questions": self.questions, "images": self.images, "bytes": self.bytes}


def export_runs(paths: Sequence[Path], folder: Path, note: Callable[[str], None] = print) -> Exported:
    """Writes the explorer of these runs into a new or empty folder, which appears when it is complete."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(folder, "is not an empty folder; name a new one by --export")
    explorer = Explorer(paths)
    try:
        with new_folder(folder) as draft:
            images = ImageFiles(explorer, draft)
            questions = _write(explorer, draft, images, note)
            size = sum(file.stat().st_size for file in draft.rglob("*") if file.is_file())
    finally:
        explorer.close()
    return Exported(folder / "index.html", questions, images.written, size)


class ImageFiles:
    """Writes each image once, by the hash of its bytes; gives the name of its file."""

    def __init__(self, explorer: Explorer, folder: Path) -> None:
        self._explorer, self._folder = explorer, folder
        self._names: dict[str, str | None] = {}
        self.written = 0
        for name in ("images", "thumbnails"):
            (folder / name).mkdir()

    def image(self, key: str) -> str | None:
        """The file of an image as sent; None if it cannot be drawn any more."""
        if key not in self._names:
            self._names[key] = self._write("images", key)
        return self._names[key]

    def thumbnail(self, key: str) -> str | None:
        name = f"small {key}"
        if name not in self._names:
            self._names[name] = self._write("thumbnails", key)
        return self._names[name]

    def _write(self, place: str, key: str) -> str | None:
        images = self._explorer.images
        try:
            small = images.thumbnail(key) if place == "thumbnails" else None
            rendered = (small, "image/jpeg") if small else images.rendered(key)
        except WardroundError:
            return None
        if rendered is None:
            return None
        data, media_type = rendered
        file = self._folder / place / f"{sha256(data).hexdigest()[:24]}.{SUFFIXES.get(media_type, 'bin')}"
        if not file.exists():
            file.write_bytes(data)
            self.written += place == "images"
        return file.name


def _write(explorer: Explorer, folder: Path, images: ImageFiles, note: Callable[[str], None]) -> int:
    (folder / "static").mkdir()
    for asset in static_files():
        (folder / "static" / asset.name).write_bytes(asset.read_bytes())
    (folder / "index.html").write_text(render_page(policy=POLICY), encoding="utf-8")
    rows = len(explorer.table)
    _write_document(folder, "table", explorer.table_document())
    _write_document(folder, "diagnoses", explorer.diagnoses_document())
    _write_document(folder, "runs", {"runs": run_states(explorer.runs)})
    for block in range(-(-rows // BLOCK)):
        document = explorer.rows_document(block)
        for row in document["rows"]:
            row["thumb"] = row["thumb"] and images.thumbnail(row["thumb"])
        _write_document(folder, f"rows/{block}", document)
        _write_document(folder, f"texts/{block}", explorer.search_texts(block))
    for row in range(rows):
        document = explorer.question_document(row)
        for part in (part for run in document["runs"] for prompt in run["prompts"] for part in prompt):
            if "image" in part and (name := images.image(part.pop("image"))):
                part["image"] = name
        _write_document(folder, f"question/{row}", document)
        if row and row % NOTE_EVERY == 0:
            note(f"{row:,} of {rows:,} questions written")
    return rows


def _write_document(folder: Path, name: str, document: dict[str, Any]) -> None:
    """A script that hands a document over under its name."""
    file = folder / "data" / f"{name}.js"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"wardround.receive(" + orjson.dumps(name) + b"," + orjson.dumps(document) + b");\n")
