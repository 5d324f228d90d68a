"""Where an answer store is: an SQLite file, or a database on a PostgreSQL server."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit, urlunsplit

from wardround.core.errors import WardroundError, require_path

SCHEMES = ("postgresql://", "postgres://")
VARIABLE = re.compile(r"\$(\w+|\{\w+\})")


@dataclass(frozen=True)
class PostgresAddress:
    """The address of a database. A password in it is the name of an environment variable: `user:$NAME@host`."""

    url: str

    def __str__(self) -> str:
        """The address without its password."""
        parts = urlsplit(self.url)
        user, _, host = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}@{host}" if user else host))

    def with_password(self) -> str:
        """The address for a connection. Never written or printed."""
        parts = urlsplit(self.url)
        user, _, host = parts.netloc.rpartition("@")
        name, _, password = user.partition(":")
        if not password:
            return self.url
        variable = unquote(password).strip("${}")
        value = os.environ.get(variable)
        if not value:
            raise WardroundError(f"{self}: the environment variable {variable}, which holds its password, is not set")
        return urlunsplit(parts._replace(netloc=f"{name}:{quote(value, safe='')}@{host}"))


StoreLocation = Path | PostgresAddress


def read_location(value: Any) -> StoreLocation:
    """A path, or an address that begins with postgresql://."""
    if isinstance(value, PostgresAddress):
        return value
    if isinstance(value, str) and value.startswith(SCHEMES):
        return _read_address(value)
    path = require_path(value, "an answer store")
    if path.parts and path.parts[0].rstrip(":") in ("postgresql", "postgres") and path.parts[0].endswith(":"):
        raise WardroundError("answers: an address of PostgreSQL is a text, not a path")  # a path loses one of the //
    return path


def _read_address(text: str) -> PostgresAddress:
    try:
        parts: SplitResult = urlsplit(text)
        password = unquote(parts.password or "")
    except ValueError:
        raise WardroundError("answers: expected postgresql://USER@HOST:PORT/DATABASE") from None
    has_plain = password and not VARIABLE.fullmatch(password)
    if has_plain or any(name == "password" for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise WardroundError(
            "answers: a password stands in the address of the answer store; write user:$NAME@host, where NAME is an "
            "environment variable, or leave it out and use ~/.pgpass or PGPASSWORD"
        )
    return PostgresAddress(text)
