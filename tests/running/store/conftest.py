"""The PostgreSQL server that tests of the answer store share."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wardround.core.store.location import PostgresAddress

if TYPE_CHECKING:
    from postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed: pip install 'wardround[postgres]'")
    from postgres_server import PostgresServer, why_no_server

    if reason := why_no_server():
        pytest.skip(reason)
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def address(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PostgresAddress:
    """A new database; what is not sent is kept in the test's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return postgres.new_database()
