"""The run folder: locked while a run writes to it, bound to its study, whole at every moment."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import Study


def warnings_of(manifest: Mapping[str, Any]) -> list[str]:
    """What a reader of a run's figures has to know, each once."""
    sentinels = [
        f"{name}: {told['warning']}" for name, told in manifest.get("sentinel", {}).items() if told.get("warning")
    ]
    return list(dict.fromkeys([*manifest.get("warnings", []), *sentinels]))


class RunFolder:
    """`runs/<name>/`: study.toml, manifest.json and the tables of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: BinaryIO | None = None

    @property
    def manifest(self) -> dict[str, Any]:
        file = self.path / "manifest.json"
        if not file.exists():
            return {}
        try:
            told: dict[str, Any] = orjson.loads(file.read_bytes())
        except orjson.JSONDecodeError as error:
            raise BadInput(file, f"is not JSON: {error}") from None
        return told

    def lock(self) -> None:
        """One run at a time: the second gets a clear refusal. The lock ends with the process, however it ends."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / ".lock").open("ab")
        except OSError as error:
            raise BadInput(self.path, f"the run folder cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(self.path, "another run is writing to this folder; wait for it or stop it") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locked for the time of a `with`."""
        self.lock()
        try:
            yield
        finally:
            self.unlock()

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def bind(self, study: Study, amend: bool) -> list[dict[str, str]]:
        """Goes on only with the study that the folder was made for, unless `amend`. Returns all amendments."""
        manifest = self.manifest
        amendments: list[dict[str, str]] = manifest.get("amendments", [])
        bound = manifest.get("study", {}).get("hash")
        if bound is None or bound == study.hash:
            return amendments
        if not amend:
            raise WardroundError(
                f"{self.path}: holds a run of another version of this study; "
                "give it another folder by --runs or another name, or go on with `wardround run STUDY --amend`, "
                "which is recorded"
            )
        return [*amendments, {"from": bound, "to": study.hash}]

    def freeze(self, frozen: dict[str, str]) -> None:
        """Keeps what was decided before the first answer. It cannot be decided again."""
        file = self.path / "frozen.json"
        if file.exists() and orjson.loads(file.read_bytes()) != frozen:
            raise BadInput(file, "this study is frozen already, as something else")
        if (self.path / "used.parquet").exists():
            raise BadInput(self.path, "has answers already: it is too late to freeze")
        self.path.mkdir(parents=True, exist_ok=True)
        self.write("frozen.json", orjson.dumps(frozen, option=orjson.OPT_INDENT_2) + b"\n")

    def changed_since_frozen(self, now: dict[str, str]) -> list[str]:
        """What is no longer as it was frozen: figures that depend on it are exploratory."""
        file = self.path / "frozen.json"
        if not file.exists():
            return []
        frozen = orjson.loads(file.read_bytes())
        return [name for name, hashed in now.items() if frozen.get(name) != hashed]

    def write(self, name: str, data: bytes) -> None:
        """Writes a file so that it is there whole or as it was before."""
        file = self.path / name
        waiting = file.with_name(f".{name}.new")
        with waiting.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        waiting.replace(file)

    def write_manifest(self, told: dict[str, Any]) -> None:
        self.write("manifest.json", orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")
