"""Reading phenopackets: one a line (.jsonl), a JSON file with one or many, each also as .gz; or a folder of them."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.cases.set import BYTE_ORDER_MARK
from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput

ENDS = (".json", ".json.gz", ".jsonl", ".jsonl.gz")
LISTS = ("phenopackets", "members")  # of a wrapped list, and of a GA4GH cohort


def packets(source: Path, build: Build) -> Iterator[Record]:
    """Each phenopacket as {"id", "packet"}; what cannot be one is told to the build with its file and line."""
    ids: set[str] = set()
    for place, packet, problem in _found(source):
        id = packet.get("id") if isinstance(packet, dict) else None
        if problem or not isinstance(packet, dict):
            build.unread(place, "not a phenopacket", problem or "is not a JSON object")
        elif not isinstance(id, str) or not id.strip():
            build.unread(place, "not a phenopacket", "has no id")
        elif id in ids:
            build.unread(place, "id is there twice", id)
        else:
            ids.add(id)
            yield {"id": id, "packet": packet}


def hashes(source: Path) -> dict[str, str]:
    """The name of what was read, with its hash."""
    files = _files(source)
    if files == [source]:
        return {source.name: sha256_file(source)}
    told = hashlib.sha256()
    for file in files:
        told.update(f"{file.relative_to(source).as_posix()} {sha256_file(file)}\n".encode())
    return {source.name: told.hexdigest()}


def _files(source: Path) -> list[Path]:
    if not source.exists():
        raise BadInput(source, "there is no such file or folder")
    if not source.is_dir():
        return [source]
    files = sorted(file for end in ENDS for file in source.rglob(f"*{end}"))
    if not files:
        raise BadInput(source, "there is no .json or .jsonl file in it")
    return files


def _found(source: Path) -> Iterator[tuple[str, Any, str | None]]:
    """Each thing that was found: its place, itself, and what is wrong with it."""
    for file in _files(source):
        name = file.relative_to(source).as_posix() if source.is_dir() else file.name
        yield from _in_lines(file, name) if file.name.endswith((".jsonl", ".jsonl.gz")) else _in_file(file, name)


def _in_lines(file: Path, name: str) -> Iterator[tuple[str, Any, str | None]]:
    number = 0
    try:
        with _opened(file) as lines:
            for number, line in enumerate(lines, start=1):  # also used where reading ends early
                if line.strip():
                    yield (f"{name}:{number}", *_parsed(line))
    except (OSError, EOFError, zlib.error) as error:
        yield f"{name}:{number + 1}", None, f"cannot be read further: {error}"


def _in_file(file: Path, name: str) -> Iterator[tuple[str, Any, str | None]]:
    try:
        with _opened(file) as whole:
            packet, problem = _parsed(whole.read())
    except (OSError, EOFError, zlib.error) as error:
        packet, problem = None, f"cannot be read: {error}"
    many = packet
    if isinstance(packet, dict):
        many = next((packet[key] for key in LISTS if isinstance(packet.get(key), list)), packet)
    if not isinstance(many, list):
        yield name, packet, problem
        return
    for number, each in enumerate(many):
        yield f"{name}[{number}]", each, None


def _opened(file: Path) -> IO[bytes]:
    return gzip.open(file) if file.suffix == ".gz" else file.open("rb")


def _parsed(text: bytes) -> tuple[Any, str | None]:
    try:
        return orjson.loads(text.removeprefix(BYTE_ORDER_MARK)), None
    except orjson.JSONDecodeError as error:
        return None, f"is not JSON: {error}"
