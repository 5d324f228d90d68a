"""Compiled templates, kept where Python keeps compiled modules: compiling took half of the time of a small report."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import __version__ as jinja_version
from jinja2.bccache import Bucket, BytecodeCache

from wardround.core.files import write_file

DIGEST_SIZE = 32


class CompiledTemplates(BytecodeCache):
    """Files in `__pycache__` beside the templates, written by the rules of compiled modules and trusted like them.

    Nothing is kept if Python is not to write compiled modules or the folder cannot be written. What was made from
    another source, by another Jinja or with other `modules` is not used: these set the environment up and hold its
    filters, which Jinja calls while it compiles.
    """

    def __init__(self, modules: Iterable[str]) -> None:
        hasher = hashlib.blake2b(jinja_version.encode())
        for module in modules:
            hasher.update(Path(module).read_bytes())
        self._environment = hasher.digest()

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The path of the template's file."""
        return filename or name

    def get_source_checksum(self, source: str) -> str:
        return hashlib.blake2b(self._environment + source.encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            content = _compiled_file(bucket).read_bytes()
            if content[:DIGEST_SIZE] == _digest(content[DIGEST_SIZE:]):  # else it was written by half
                bucket.bytecode_from_string(content[DIGEST_SIZE:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        bytecode, file = bucket.bytecode_to_string(), _compiled_file(bucket)
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file, _digest(bytecode) + bytecode)


def _compiled_file(bucket: Bucket) -> Path:
    """`__pycache__/report.html.cpython-311.pyc` for `report.html`."""
    return Path(cache_from_source(f"{bucket.key}.py"))


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_SIZE).digest()
