"""The run folder: locked while a run writes to it, bound to its study, complete at every moment."""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from wardround.core.errors import BadInput, WardroundError, describe_unreadable
from wardround.core.files import write_file
from wardround.core.study import Study
from wardround.running.inputs.changes import InputChanges

CASES_FILE = "cases.jsonl"  # of a case set, which may also have a manifest.json
# the status of a run that was started, until it has ended
UNFINISHED = {"status": "incomplete", "why": "it was stopped before its end"}


def warnings_of(manifest: Mapping[str, Any]) -> list[str]:
    """The distinct warnings about a run's results."""
    changed = manifest.get("changed_inputs")
    changes = [f"changed after the run, and used as it is now: {changed['summary']}"] if changed else []
    sentinels = [
        f"{name}: {result['warning']}" for name, result in manifest.get("sentinel", {}).items() if result.get("warning")
    ]
    sentinels += [
        f"{name}: {warning}"
        for name, result in manifest.get("server_sentinel", {}).items()
        for warning in result["warnings"]
    ]
    return list(dict.fromkeys([*manifest.get("warnings", []), *changes, *sentinels]))


def require_run(folder: Path) -> None:
    """Refuses a path that is not the folder of a run."""
    wanted = "expected the folder of a run, such as runs/STUDY"
    if not folder.exists():
        raise BadInput(folder, f"there is no such folder; {wanted}")
    if not folder.is_dir():
        raise BadInput(folder, f"is a file; {wanted}")
    if (folder / CASES_FILE).is_file():
        raise BadInput(folder, f"is not a run folder, but a case set; {wanted}")
    if not (folder / "manifest.json").is_file():
        raise BadInput(folder, f"is not a run folder, because it has no manifest.json; {wanted}")


def find_run_folders(path: Path) -> list[Path]:
    """The run folder at a path, or the run folders in it, by name. Case sets among them are left out."""
    if (path / "manifest.json").is_file():
        return [path]
    inside = sorted(file.parent for file in path.glob("*/manifest.json")) if path.is_dir() else []
    inside = [folder for folder in inside if not (folder / CASES_FILE).is_file()]
    if not inside and path.is_dir():
        raise BadInput(path, "holds no runs; expected the folder of a run, or a folder of runs such as runs/")
    if not inside:
        require_run(path)
    return inside


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
            manifest: dict[str, Any] = orjson.loads(file.read_bytes())
        except orjson.JSONDecodeError as error:
            raise BadInput(file, f"is not JSON: {error}") from None
        return manifest

    @property
    def has_used(self) -> bool:
        """Whether a run ended in it: its used answers are listed."""
        return (self.path / "used.parquet").exists()

    def lock(self) -> None:
        """Refuses a second run at the same time. The lock ends with the process."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / ".lock").open("ab")
        except OSError as error:
            raise BadInput(self.path, f"the run folder cannot be written: {describe_unreadable(error)}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(self.path, "another run is writing to this folder; wait for it or stop it") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locked as long as the block lasts."""
        self.lock()
        try:
            yield
        finally:
            self.unlock()

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def bind(self, study: Study, amend: bool) -> list[dict[str, Any]]:
        """Refuses another study than the folder's own, unless `amend`. Returns all amendments."""
        manifest = self.manifest
        amendments: list[dict[str, Any]] = manifest.get("amendments", [])
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

    def bind_inputs(self, changes: InputChanges, amend: bool, announcement: str) -> list[dict[str, Any]]:
        """Refuses other cases, images or prompts than the folder's own, unless `amend`. Returns the new amendment."""
        if not changes:
            return []
        if not amend:
            raise WardroundError(
                f"{self.path}: differs from when it was last run: {changes}; {announcement}. "
                "Go on with `wardround run STUDY --amend`, which is recorded, or give the run another folder by --runs"
            )
        return [changes.to_manifest()]

    def freeze(self, frozen: dict[str, str]) -> None:
        """Writes the hashes of what was decided before the first answer, once."""
        file = self.path / "frozen.json"
        if file.exists() and orjson.loads(file.read_bytes()) != frozen:
            raise BadInput(file, "this study is frozen already, with other content")
        if self.has_used:
            raise BadInput(self.path, "cannot freeze a run that has answers; freeze before `wardround run`")
        self.path.mkdir(parents=True, exist_ok=True)
        self.write("frozen.json", orjson.dumps(frozen, option=orjson.OPT_INDENT_2) + b"\n")

    def changed_since_frozen(self, now: dict[str, str]) -> list[str]:
        """What differs from what was frozen: results that depend on it are exploratory."""
        file = self.path / "frozen.json"
        if not file.exists():
            return []
        frozen = orjson.loads(file.read_bytes())
        return [name for name in now | frozen if frozen.get(name) != now.get(name)]

    def write(self, name: str, data: bytes) -> None:
        """Writes a file of the folder, whole or not at all."""
        write_file(self.path / name, data, durable=True)

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        self.write("manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")
