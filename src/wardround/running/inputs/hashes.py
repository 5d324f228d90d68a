"""The hashes of what a run was made from: every case by its parts, and every image file that was shown."""

import os
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from wardround.cases.images.file_hash import FileHash
from wardround.cases.set import BYTE_ORDER_MARK, CaseSet
from wardround.core.files import replacement

CASE_HASHES, IMAGE_HASHES = "case_hashes.parquet", "image_hashes.parquet"
PARTS = ("questions", "images", "other fields")
CASE_SCHEMA = {"case": pl.String, **dict.fromkeys(PARTS, pl.Binary)}
IMAGE_SCHEMA = {"path": pl.String, "sha256": pl.String}  # the path is relative to the folder of the case set


def hash_cases(cases: CaseSet) -> pl.DataFrame:
    """One row per usable case: its id and the hash of each of its parts."""
    return pl.DataFrame([(id, *_hash_parts(line)) for id, line in cases.lines()], schema=CASE_SCHEMA, orient="row")


def write_case_hashes(folder: Path, cases: CaseSet) -> None:
    _write(folder / CASE_HASHES, hash_cases(cases))


def write_image_hashes(folder: Path, cases: CaseSet, hash_by_file: Mapping[str, FileHash]) -> None:
    """Writes the hashes of image files, which are named by their absolute paths."""
    inside = os.path.join(os.path.abspath(cases.folder), "")
    rows = sorted(
        (file.removeprefix(inside) if file.startswith(inside) else os.path.relpath(file, inside), known.sha256)
        for file, known in hash_by_file.items()
    )
    columns = {"path": [path for path, _ in rows], "sha256": [sha256 for _, sha256 in rows]}
    _write(folder / IMAGE_HASHES, pl.DataFrame(columns, schema=IMAGE_SCHEMA))  # in a third of the time of rows


def read_case_hashes(folder: Path) -> pl.DataFrame | None:
    """None for a run that was made before each case was hashed."""
    file = folder / CASE_HASHES
    return pl.read_parquet(file) if file.exists() else None


def read_image_hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every image shown in a run, by its path in the case set."""
    file = folder / IMAGE_HASHES
    if not file.exists():
        return {}
    table = pl.read_parquet(file)
    return dict(zip(table["path"].to_list(), table["sha256"].to_list(), strict=True))  # rows one by one take longer


def _hash_parts(line: bytes) -> Iterable[bytes]:
    """The order of keys and spaces do not matter."""
    try:
        record: dict[str, Any] = orjson.loads(line.removeprefix(BYTE_ORDER_MARK))
    except orjson.JSONDecodeError:  # lone surrogates, which only the reader of cases accepts
        return [_digest(line.strip())] * len(PARTS)
    parts = (record.pop("questions", None), record.pop("images", None), record)
    return [_digest(orjson.dumps(part, option=orjson.OPT_SORT_KEYS)) for part in parts]


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _write(file: Path, table: pl.DataFrame) -> None:
    with replacement(file, durable=True) as draft:
        table.write_parquet(draft)
