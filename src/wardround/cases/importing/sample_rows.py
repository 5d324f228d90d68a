"""Rows of other evaluation programs as plain rows of a table.

Inspect: samples (`input`, `choices`, `target`) and logs (.json, .eval), of which the first epoch is read. lmms-eval:
lines of its sample files, whose `doc` is the row of the data set. What a model replied is left out.
"""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.image_cell import decode_image
from wardround.cases.readers.tables.json_file import JsonObject, PlacedRecord
from wardround.core.errors import BadInput

ZSTANDARD = 93  # a method of compression in a ZIP archive
LOCAL_HEADER = struct.Struct("<26xHH")  # before each entry: at its end the lengths of its name and of an extra field
ATTACHMENT = "attachment://"  # of Inspect's logs: the content stands elsewhere in the sample


def plain_rows(rows: Iterable[PlacedRecord]) -> Iterator[PlacedRecord]:
    """Each row as a row of a table; rows of tables stay as they are."""
    for place, row in rows:
        if isinstance(row.get("samples"), list) and isinstance(row.get("eval"), dict):  # a log of Inspect on one line
            samples = [(replace(place, within=f"samples[{n}]"), sample) for n, sample in enumerate(row["samples"])]
            yield from plain_rows((at, sample) for at, sample in samples if isinstance(sample, dict))
        elif isinstance(row.get("doc"), dict) and "doc_id" in row:
            answer = {} if "target" in row["doc"] or "answer" in row["doc"] else {"target": row.get("target")}
            yield place, {"doc_id": row["doc_id"], **row["doc"], **answer}
        elif "input" in row and "target" in row:
            if row.get("epoch") in (None, 1):
                yield place, _sample_row(row)
        else:
            yield place, row


def eval_log_rows(file: Path) -> Iterator[PlacedRecord]:
    """The samples of a log of Inspect in its own format, a ZIP archive."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = sorted(
                name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")
            )
            for name in names:
                sample = orjson.loads(_read_entry(archive, file, name))
                if isinstance(sample, dict):
                    yield RecordPlace(file, within=name), sample
    except NotImplementedError:
        message = "is compressed in a way that Python cannot read; write it as JSON: inspect log convert --to json"
        raise BadInput(file, message) from None
    except (zipfile.BadZipFile, orjson.JSONDecodeError, pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(file, f"cannot be read as a log of Inspect: {str(error).splitlines()[0]}") from None


def _read_entry(archive: zipfile.ZipFile, file: Path, name: str) -> bytes:
    """An entry of the archive. Inspect compresses by Zstandard, which Python's own module reads from 3.14 on only."""
    entry = archive.getinfo(name)
    if entry.compress_type != ZSTANDARD:
        return archive.read(name)
    with file.open("rb") as opened:
        opened.seek(entry.header_offset)
        header = opened.read(LOCAL_HEADER.size)
        *_, name_length, extra_length = LOCAL_HEADER.unpack(header)
        opened.seek(name_length + extra_length, os.SEEK_CUR)
        compressed = opened.read(entry.compress_size)
    # polars decompresses what it reads; no character of JSON separates columns here, so a line is a row
    lines = pl.read_csv(compressed, has_header=False, separator="\x01", quote_char=None, infer_schema=False)
    return "\n".join(lines.to_series().to_list()).encode()


def _sample_row(sample: JsonObject) -> JsonObject:
    """The id, question, images, options and answer of a sample of Inspect, and its metadata as columns."""
    metadata = sample.get("metadata")
    target = sample["target"]
    row: JsonObject = dict(metadata) if isinstance(metadata, dict) else {}
    row |= {name: sample[name] for name in ("id", "choices") if sample.get(name) is not None}
    row["target"] = target[0] if isinstance(target, list) and len(target) == 1 else target
    text, images = _question(sample["input"], sample.get("attachments"))
    return row | {"input": text} | ({"image": images} if images else {})


def _question(content: Any, attachments: Any) -> tuple[str, list[Any]]:
    """Text and images of the last message of the user; earlier ones are examples."""
    if not isinstance(content, list):
        return str(content), []
    messages = [message for message in content if isinstance(message, dict) and message.get("role") == "user"]
    parts = messages[-1].get("content") if messages else ""
    parts = parts if isinstance(parts, list) else [{"type": "text", "text": parts}]
    items = [part for part in parts if isinstance(part, dict)]
    texts = [str(part["text"]) for part in items if part.get("type") == "text"]
    return "\n\n".join(texts), [
        _image(str(part["image"]), attachments) for part in items if part.get("type") == "image"
    ]


def _image(image: str, attachments: Any) -> Any:
    if image.startswith(ATTACHMENT) and isinstance(attachments, dict):
        image = str(attachments.get(image.removeprefix(ATTACHMENT), image))
    if not image.startswith("data:"):
        return image
    try:
        return {"bytes": decode_image(image), "path": None}
    except ValueError:
        return image
