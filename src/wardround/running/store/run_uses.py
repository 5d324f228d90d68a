"""What runs used of an answer store, as their folders list it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from wardround.core.errors import BadInput, WardroundError
from wardround.running.budget import marking_run
from wardround.running.run_folder import UNFINISHED, RunFolder
from wardround.running.store.answers import AnswerKey
from wardround.running.store.database import StoreConnection
from wardround.running.store.rows import IS_RESULT, RESULT_HEAD
from wardround.running.store.writes import insert_into
from wardround.running.used_answers import EVIDENCE, FILE, JUDGE_ANSWERS, READER_ANSWERS, TOOL_RESULTS

LISTS = (FILE, JUDGE_ANSWERS, READER_ANSWERS, TOOL_RESULTS)


@dataclass(frozen=True)
class RunUses:
    """What one run used: the listed answers and, if a list is missing or not complete, all that it bought."""

    folder: Path
    buyers: tuple[str, ...]  # values of the column `run`
    all_results: bool  # whether it may have used any tool result


def run_folders(runs: Path) -> list[Path]:
    """All run folders in a folder, at any depth."""
    if not runs.is_dir():
        raise BadInput(runs, "there is no such folder of runs")
    return sorted(file.parent for file in runs.rglob("study.toml") if file.with_name("manifest.json").is_file())


def read_all_uses(runs: Path) -> list[RunUses]:
    """What all runs in a folder used. Refused while one is under way, and if there is none."""
    folders = run_folders(runs)
    if not folders:
        raise BadInput(runs, "there is no run in it")
    for folder in folders:
        if (folder / ".lock").exists():
            with RunFolder(folder).locked():
                pass
    return [read_uses(folder) for folder in folders]


def read_uses(folder: Path) -> RunUses:
    """Refuses a run that was stopped before its end: nobody knows what it uses."""
    run = RunFolder(folder)
    manifest = run.manifest
    if "study" not in manifest:
        raise BadInput(folder, "is not a run folder: there is no manifest.json of a run in it")
    if not run.has_used or manifest["why"] == UNFINISHED["why"]:
        raise WardroundError(
            f"{folder}: was stopped before its end, so what it uses is not known; complete it by `wardround run`"
        )
    name, is_complete = manifest["study"]["name"], manifest["status"] == "complete"
    buyers = [] if is_complete else [name]
    for role, file in (("judge", JUDGE_ANSWERS), ("reader", READER_ANSWERS)):
        if not (is_complete and (folder / file).exists()):
            buyers.append(marking_run(name, role))
    searched = (folder / EVIDENCE).exists() and not (is_complete and (folder / TOOL_RESULTS).exists())
    return RunUses(folder, tuple(buyers), searched)


def listed_keys(folder: Path) -> Iterator[AnswerKey]:
    """The keys that the lists of a run folder name."""
    for file in (folder / name for name in LISTS):
        if file.exists():
            rows = pl.scan_parquet(file).select("ask", "trial", "turn").unique().collect()
            for ask, trial, turn in rows.iter_rows():
                yield AnswerKey(bytes.fromhex(ask), trial, turn)


@contextmanager
def wanted_rows(connection: StoreConnection, uses: Iterable[RunUses], source: str = "answers") -> Iterator[None]:
    """The temporary table `wanted` with the keys of all that runs used of the answers in the table `source`."""
    with key_table(connection, "wanted"):
        for used in uses:
            _insert_keys(connection, "wanted", listed_keys(used.folder))
            for buyer in used.buyers:
                _insert_rows(connection, source, "run = ?", buyer)
            if used.all_results:
                _insert_rows(connection, source, IS_RESULT, RESULT_HEAD)
        yield


@contextmanager
def key_table(connection: StoreConnection, name: str, keys: Iterable[AnswerKey] = ()) -> Iterator[None]:
    """A temporary table of keys."""
    columns = "ask blob, trial integer, turn integer, primary key (ask, trial, turn)"
    connection.define(f"create temp table {name} ({columns}) without rowid")
    try:
        _insert_keys(connection, name, keys)
        yield
    finally:
        connection.execute(f"drop table {name}")


def _insert_keys(connection: StoreConnection, table: str, keys: Iterable[AnswerKey]) -> None:
    with connection.transaction():
        connection.executemany(f"{insert_into(table, AnswerKey._fields)} on conflict do nothing", keys)


def _insert_rows(connection: StoreConnection, source: str, condition: str, *values: str | bytes) -> None:
    query = f"select ask, trial, turn from {source} where {condition}"
    connection.execute(f"insert into wanted (ask, trial, turn) {query} on conflict do nothing", values)
