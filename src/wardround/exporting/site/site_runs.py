"""The runs of a leaderboard: what is read of a run folder, and what makes two runs comparable."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.condition import AXES
from wardround.core.errors import BadInput, WardroundError, describe_unreadable
from wardround.measuring.engine.reference import marks_at_reference
from wardround.reporting.reference_condition import score_measures
from wardround.reporting.run_files import RunFiles, read_run
from wardround.running.run_folder import find_run_folders

REPORT = "report.html"
EXPLORER = "explorer"  # the folder of an exported explorer inside a run folder
EXPLORER_RUNS = "data/runs.js"
_RECEIVED = re.compile(rb"^wardround\.receive\(\"runs\",(.*)\);\s*$", re.DOTALL)


@dataclass(frozen=True)
class SiteRun:
    """One run under the name that the site gives it; `explorer` is the folder of an exported explorer."""

    id: str
    files: RunFiles
    explorer: Path | None = None

    @cached_property
    def condition(self) -> dict[str, str]:
        """The reference condition, with the value of every axis."""
        return dict(self.files.study.conditions_from_reference[0].values)

    @cached_property
    def measure(self) -> str | None:
        """The headline measure."""
        return next(iter(score_measures(self.files)), None)

    @cached_property
    def marks(self) -> pl.DataFrame:
        """The marks of the reference condition, without those of people."""
        return marks_at_reference(self.files.marks, self.files.study).collect()

    @cached_property
    def questions(self) -> list[tuple[str, str]]:
        """Case and question of everything asked at the reference condition."""
        return self.marks.select("case", "question").unique().sort("case", "question").rows()

    @property
    def case_set_hash(self) -> str:
        return str((self.files.manifest.get("cases") or {}).get("hash") or "")

    @property
    def case_set_name(self) -> str:
        """The name of the case set, without the folders that it lies in."""
        path = str((self.files.manifest.get("cases") or {}).get("path") or "")
        return path if path.startswith("hf:") else Path(path).name or "unnamed case set"

    @property
    def report(self) -> Path | None:
        file = self.files.folder / REPORT
        return file if file.is_file() else None

    @cached_property
    def versions(self) -> list[str]:
        """How the answers behind the headline measure were marked."""
        lines = (line for line in self.files.measure_lines if line.measure == self.measure and not line.slice)
        return sorted({line.version for line in lines if line.version and line.candidate not in self.files.people})


@dataclass(frozen=True)
class ReadRuns:
    """The runs that could be read, and a line about each folder that could not, by the name of the run."""

    runs: list[SiteRun]
    problems: dict[str, str] = field(default_factory=dict)


def read_runs(paths: Sequence[Path], explorers: Sequence[str], *, is_published: bool) -> ReadRuns:
    """Reads run folders and folders of runs. `explorers`: DIR, or RUN=DIR, of explorers that are to be linked.

    An explorer inside a run folder is linked without being named, unless the site is to be published.
    """
    folders: dict[Path, None] = {}
    problems: dict[str, str] = {}
    for path in paths:
        try:
            folders |= dict.fromkeys(folder.resolve() for folder in find_run_folders(path))
        except WardroundError as error:
            problems[path.name] = str(error)
        problems |= _runs_without_manifest(path)
    files: dict[Path, RunFiles] = {}
    ids = _ids(folders)
    for folder in folders:
        try:
            files[folder] = _read_complete(folder)
        except WardroundError as error:
            problems[ids[folder]] = str(error)
        except (OSError, pl.exceptions.PolarsError, KeyError, TypeError, AttributeError, ValueError) as error:
            problems[ids[folder]] = str(BadInput(folder, f"is damaged ({describe_unreadable(error)})"))
    linked = _explorers(explorers, {ids[folder]: folder for folder in files}, is_published)
    runs = [SiteRun(ids[folder], files[folder], linked.get(ids[folder])) for folder in files]
    return ReadRuns(sorted(runs, key=lambda run: run.id), problems)


def _runs_without_manifest(path: Path) -> dict[str, str]:
    """The folders in a folder of runs that have marks and lost their manifest: what is wrong, by name."""
    folders = [file.parent for file in sorted(path.glob("*/marks.parquet"))]
    reason = "has marks but no manifest.json; run its study again, or remove the folder"
    return {
        folder.name: str(BadInput(folder.resolve(), reason))
        for folder in folders
        if not (folder / "manifest.json").is_file()
    }


def _read_complete(folder: Path) -> RunFiles:
    """Reads all that a page needs, so that a damaged file is noticed before anything is written."""
    run = SiteRun("", read_run(folder))
    if not run.case_set_hash:
        raise BadInput(folder / "manifest.json", "has no hash of the case set; mark the run again", field="cases.hash")
    if run.measure is None:
        raise BadInput(folder / "measures.csv", "has no measures; write them by `wardround mark RUN`")
    _ = (run.questions, run.condition, run.files.comparison_lines, run.files.text_only)
    return run.files


def _ids(folders: Iterable[Path]) -> dict[Path, str]:
    """Names of runs: the folder's, with those of outer folders if two are the same."""
    ids: dict[Path, str] = {}
    paths = list(folders)
    for folder in paths:
        depth = 1
        while depth < len(folder.parts) and any(
            other != folder and other.parts[-depth:] == folder.parts[-depth:] for other in paths
        ):
            depth += 1
        ids[folder] = "/".join(folder.parts[-depth:])
    return ids


def _explorers(named: Sequence[str], folders: Mapping[str, Path], is_published: bool) -> dict[str, Path]:
    linked = {
        name: folder / EXPLORER
        for name, folder in folders.items()
        if not is_published and (folder / EXPLORER / EXPLORER_RUNS).is_file()
    }
    for entry in named:
        name, separator, place = entry.partition("=")
        folder = Path(place if separator and name in folders else entry)
        names = _runs_of_explorer(folder)
        if separator and name in folders:
            linked[name] = folder.resolve()
            continue
        known = [name for name in names if name in folders]
        if not known:
            raise BadInput(folder, f"shows none of the runs of the site, but {', '.join(names) or 'none'}; use RUN=DIR")
        linked |= dict.fromkeys(known, folder.resolve())
    return linked


def _runs_of_explorer(folder: Path) -> list[str]:
    """The names of the runs that an exported explorer shows."""
    try:
        received = _RECEIVED.match((folder / EXPLORER_RUNS).read_bytes())
        return [str(run["name"]) for run in json.loads(received[1])["runs"]] if received else []
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(folder, "is not an exported explorer; write one by `wardround view RUN --export DIR`") from None


def group_comparable(runs: Sequence[SiteRun]) -> list[list[SiteRun]]:
    """Groups of runs in which each is comparable with all others."""
    groups: list[list[SiteRun]] = []
    for run in runs:
        fitting = (group for group in groups if not any(differences(run, other) for other in group))
        group = next(fitting, None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    return groups


def differences(a: SiteRun, b: SiteRun) -> list[str]:
    """Why the scores of two runs cannot be ranked together; empty if they can."""
    one, other = a.files, b.files
    compared: list[tuple[str, Any, Any]] = [
        ("case set", a.case_set_hash[:12], b.case_set_hash[:12]),
        ("headline measure", a.measure, b.measure),
        *(
            (f"reference condition: {axis}", a.condition.get(axis), b.condition.get(axis))
            for axis in dict.fromkeys([*AXES, *a.condition, *b.condition])
        ),
        ("trials", one.study.trials, other.study.trials),
        ("refused questions", one.study.refusals, other.study.refusals),
        ("marking", ", ".join(a.versions), ", ".join(b.versions)),
        ("image size", *_both("image_size", one, other)),
        *_prompts(one, other),
    ]
    if a.condition.get("evidence") != "none":
        compared.append(("literature", *_both("literature", one, other)))
    reasons = [f"{name} {_shown(left)} and {_shown(right)}" for name, left, right in compared if left != right]
    if a.questions != b.questions:
        shared = len(set(a.questions) & set(b.questions))
        reasons.append(f"questions: {len(a.questions):,} and {len(b.questions):,}, of which {shared:,} are the same")
    reasons += [f"{run.id} is incomplete" for run in (a, b) if not run.files.is_complete]
    return reasons


def _both(key: str, one: RunFiles, other: RunFiles) -> tuple[str, str]:
    """A part of both manifests as text; what is long is shown by its hash, and folders are never shown."""
    a, b = (canonical_json(_without_places(run.manifest.get(key))) for run in (one, other))
    return (
        (a, b)
        if max(len(a), len(b)) <= 60
        else (sha256(a.encode()).hexdigest()[:8], sha256(b.encode()).hexdigest()[:8])
    )


def _without_places(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: item for key, item in value.items() if key not in ("index", "folder", "path", "file")}
    return value


def _prompts(one: RunFiles, other: RunFiles) -> list[tuple[str, Any, Any]]:
    """The prompts that both runs used, by their hashes."""
    a, b = (run.manifest.get("prompts") or {} for run in (one, other))
    return [(f"prompt {name}", str(a[name])[:8], str(b[name])[:8]) for name in a if name in b and a[name] != b[name]]


def _shown(value: Any) -> str:
    return "none" if value in (None, "", "null") else str(value)


def relative_link(target: Path, page_folder: Path) -> str:
    """The address of a file for a page in a folder; both are paths on this machine."""
    return Path(os.path.relpath(target, page_folder)).as_posix()
