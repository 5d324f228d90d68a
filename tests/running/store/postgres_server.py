"""A PostgreSQL server of the tests: started, killed and started again on a socket of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import psycopg

from wardround.core.store.location import PostgresAddress

USER = "postgres"  # the server refuses to run as root


def find_binaries() -> Path | None:
    """Debian's newest PostgreSQL, or what is on the PATH."""
    found = [*sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))]
    on_path = shutil.which("postgres")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def why_no_server() -> str | None:
    if find_binaries() is None:
        return "there is no PostgreSQL server: apt install postgresql"
    if os.geteuid() == 0 and subprocess.run(["id", USER], capture_output=True).returncode:
        return f"PostgreSQL refuses to run as root, and there is no user {USER}"
    return None


class PostgresServer:
    """One cluster in a folder under /tmp; `new_database` gives each test its own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="wardround-pg-"))
        self._numbers = count()
        if os.geteuid() == 0:
            shutil.chown(self.folder, USER, USER)
        self._run("initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync")
        rules = "local all locked scram-sha-256\nlocal all all trust\n"
        (self.folder / "data" / "pg_hba.conf").write_text(rules)
        self.start()

    def _run(self, command: str, *arguments: str | Path) -> None:
        binaries = find_binaries()
        assert binaries is not None
        user = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run(
            [binaries / command, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120, **user
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Answers when this returns. Without fsync: a killed process, not a machine without power, is tried."""
        options = f"-k {self.folder} -c listen_addresses= -c fsync=off -c max_connections=40"
        log = self.folder / "log"
        self._run("pg_ctl", "start", "-w", "-D", self.folder / "data", "-o", options, "-l", log)

    def kill(self) -> None:
        """All its processes end at once, without a checkpoint, as in a crash."""
        self._run("pg_ctl", "stop", "-m", "immediate", "-D", self.folder / "data")

    def restart(self) -> None:
        self.kill()
        self.start()

    def new_database(self) -> PostgresAddress:
        name = f"test{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name}".encode())
        return PostgresAddress(self.url(name))

    def url(self, database: str, user: str = USER) -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
