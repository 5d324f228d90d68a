"""Files of phenopackets: one per line (.jsonl), a JSON file with one or more, each also as .gz; or a folder of them."""

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import orjson

from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.pipeline.source_files import list_source_files
from wardround.cases.set import BYTE_ORDER_MARK

SUFFIXES = (".json", ".json.gz", ".jsonl", ".jsonl.gz")
LISTS = ("phenopackets", "members")  # of a wrapped list, and of a GA4GH cohort


def read_packets(source: Path, build: Build) -> Iterator[Record]:
    """Each phenopacket as {"id", "packet"}; anything else is rejected, with its file and line."""
    ids: set[str] = set()
    for place, packet, problem in _read_values(source):
        id = packet.get("id") if isinstance(packet, dict) else None
        if problem or not isinstance(packet, dict):
            build.reject_unreadable(place, "not a phenopacket", problem or "is not a JSON object")
        elif not isinstance(id, str) or not id.strip():
            build.reject_unreadable(place, "not a phenopacket", "has no id")
        elif id in ids:
            build.reject_unreadable(place, "id is there twice", id)
        else:
            ids.add(id)
            yield {"id": id, "packet": packet}


def list_packet_files(source: Path) -> list[Path]:
    return list_source_files(source, lambda file: file.name.endswith(SUFFIXES), ".json or .jsonl")


def _read_values(source: Path) -> Iterator[tuple[str, Any, str | None]]:
    """Each JSON value: its place, itself, and its problem."""
    for file in list_packet_files(source):
        name = file.relative_to(source).as_posix() if source.is_dir() else file.name
        is_jsonl = file.name.endswith((".jsonl", ".jsonl.gz"))
        yield from _read_lines(file, name) if is_jsonl else _read_document(file, name)


def _read_lines(file: Path, name: str) -> Iterator[tuple[str, Any, str | None]]:
    number = 0
    try:
        with _open(file) as lines:
            for number, line in enumerate(lines, start=1):  # also used where reading ends early
                if line.strip():
                    yield (f"{name}:{number}", *_parse(line))
    except (OSError, EOFError, zlib.error) as error:
        yield f"{name}:{number + 1}", None, f"cannot be read further: {error}"


def _read_document(file: Path, name: str) -> Iterator[tuple[str, Any, str | None]]:
    try:
        with _open(file) as whole:
            packet, problem = _parse(whole.read())
    except (OSError, EOFError, zlib.error) as error:
        packet, problem = None, f"cannot be read: {error}"
    values = packet
    if isinstance(packet, dict):
        values = next((packet[key] for key in LISTS if isinstance(packet.get(key), list)), packet)
    if not isinstance(values, list):
        yield name, packet, problem
        return
    for index, value in enumerate(values):
        yield f"{name}[{index}]", value, None


def _open(file: Path) -> BufferedIOBase:
    return gzip.open(file) if file.suffix == ".gz" else file.open("rb")


def _parse(text: bytes) -> tuple[Any, str | None]:
    try:
        return orjson.loads(text.removeprefix(BYTE_ORDER_MARK)), None
    except orjson.JSONDecodeError as error:
        return None, f"is not JSON: {error}"
