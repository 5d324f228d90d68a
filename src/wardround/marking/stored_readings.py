"""What the parser read in long replies, kept with a run: marking it again parses only replies that are new or changed.

A reading depends on the reply, the options as shown, the mode, and the files of the parser. All of them are in its key,
so a reading that is found is the one that parsing would give.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import orjson
import polars as pl

import wardround
from wardround.marking.parser.choice import Reading, parse_choice
from wardround.running.parquet import write_in_parts

READINGS_FILE = "readings.parquet"
READINGS_SCHEMA = {"key": pl.Binary, "option": pl.Int16, "rule": pl.String, "confidence": pl.Float64}
LONG = 300  # characters of a reply; a shorter one is parsed sooner than looked up
MAX_STORED = 500_000  # of a run, in memory and in its file
PARSER_FILES = ("marking/parser/**/*", "asking/reasoning.py", "core/text.py")


class StoredReadings:
    """Reads choices, and keeps what it read in long replies."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / READINGS_FILE
        self._stored = _read(self._file)
        self._used: dict[bytes, Reading] = {}

    def parse(self, reply: str, options: Sequence[str], mode: str = "strict") -> Reading:
        """The same as `parse_choice`."""
        if len(reply) < LONG:
            return parse_choice(reply, options, mode)
        key = hashlib.blake2b(orjson.dumps([parser_files_hash(), mode, reply, list(options)]), digest_size=16).digest()
        reading = self._used.get(key) or self._stored.get(key) or parse_choice(reply, options, mode)
        if len(self._used) < MAX_STORED:
            self._used[key] = reading
        return reading

    def save(self) -> None:
        """Keeps the readings that were used; without any there is no file."""
        if not self._used:
            self._file.unlink(missing_ok=True)
        elif self._used.keys() != self._stored.keys():
            rows = [(key, *reading) for key, reading in self._used.items()]
            write_in_parts(self._file, [pl.DataFrame(rows, schema=READINGS_SCHEMA, orient="row")])


def _read(file: Path) -> dict[bytes, Reading]:
    """The readings of a file; none if it is missing or damaged, for they can be made again."""
    try:
        rows = pl.read_parquet(file).select(READINGS_SCHEMA.keys()).iter_rows()
    except (OSError, pl.exceptions.PolarsError):
        return {}
    return {key: Reading(*values) for key, *values in rows}


@cache
def parser_files_hash() -> str:
    """A hash of all files that decide what the parser reads."""
    folder = Path(wardround.__file__).parent
    hasher = hashlib.blake2b(digest_size=16)
    files = (file for pattern in PARSER_FILES for file in folder.glob(pattern) if file.suffix in (".py", ".toml"))
    for file in sorted(files):
        hasher.update(file.read_bytes())
    return hasher.hexdigest()
