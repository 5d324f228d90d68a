"""A data set of the Hub becomes a case set: fetched, unpacked, read by its map or reader, its licence recorded."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from wardround import __version__
from wardround.cases.conversion import copy_images, require_free
from wardround.cases.hub.download import Snapshot, download
from wardround.cases.hub.hub_name import HubName, is_hub_name, parse_hub_name
from wardround.cases.hub.registry import HubSet, hub_sets, set_of_repo
from wardround.cases.importing.guessing import guess_map
from wardround.cases.importing.mapped_cases import OTHER_SPLITS, import_table
from wardround.cases.readers import CaseSource, reader_for
from wardround.cases.set import CaseSet, write_case_set
from wardround.cases.set_manifest import MANIFEST
from wardround.core.case import Case, Origin
from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.core.files import new_folder

STUDY_SETS = "hub-cases"  # beside a study file: the sets that studies name by hf:
TABLES = ["*.parquet", "*.csv", "*.tsv", "*.jsonl", "*.json", "*.arrow"]  # of a set that the registry does not have
OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS


@dataclass(frozen=True)
class HubCases:
    """A case set that was made of a data set of the Hub."""

    name: HubName
    commit: str
    licence: str | None
    cases: int
    out: Path
    problems: list[Problem]

    @property
    def source_text(self) -> str:
        """Where the cases come from and what may be done with them, in one line."""
        licence = self.licence or "none in its card: ask its authors before you use or share it"
        return f"{self.name.repo} at commit {self.commit}; licence: {licence}"


def get_cases(text: str, out: Path, *, table_map: Path | None = None, offline: bool = False) -> HubCases:
    """Writes the cases of a set of the registry, or of `hf:owner/name@revision#split`, to the new folder `out`."""
    name, entry = _resolve(text)
    require_free(out)
    files = TABLES if entry is None else entry.files
    snapshot = download(name, files, offline=offline)
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".hub-", dir=out.parent.resolve()) as folder:
        _unpack(snapshot.folder, files, Path(folder))
        try:
            cases = _read(Path(folder), entry, table_map)
        except BadInput as error:
            raise WardroundError(f"{name}: {str(error).replace(f'{folder}: ', '').replace(f'{folder}/', '')}") from None
        problems = [_without_folder(problem, Path(folder)) for problem in cases.problems]
        with new_folder(out) as draft:
            selected = _selected(cases, name, snapshot)
            count = write_case_set(copy_images(selected, cases, draft), draft)
            if not count:
                splits = ", ".join(sorted({case.split for case in cases if case.split})) or "none"
                raise WardroundError(f"{name}: has no case of split {name.split!r}; its splits are {splits}")
            (draft / MANIFEST).write_bytes(orjson.dumps(_manifest(draft, name, snapshot, entry), option=OPTIONS))
    return HubCases(name, snapshot.commit, snapshot.licence, count, out, problems)


def cases_of_study(text: str, folder: Path, *, offline: bool = False, note: Callable[[str], None]) -> Path:
    """The folder of the case set that a study in `folder` names by hf:; made if it is not there."""
    out = folder / STUDY_SETS / parse_hub_name(text).folder_name
    if not out.exists():
        note(get_cases(text, out, offline=offline).source_text)
    return out


def _resolve(text: str) -> tuple[HubName, HubSet | None]:
    """The data set and its entry in the registry; a name may also be that of an entry, with @revision and #split."""
    known = re.split("[@#]", text)[0]
    if known in hub_sets():
        entry = hub_sets()[known]
        return parse_hub_name(f"hf:{entry.repo}{text[len(known) :]}"), entry
    if not is_hub_name(text):
        names = ", ".join(sorted(hub_sets()))
        raise WardroundError(f"unknown set {text!r}; expected hf:owner/name, or one of {names}")
    name = parse_hub_name(text)
    return name, set_of_repo(name.repo)


def _unpack(snapshot: Path, patterns: Sequence[str], folder: Path) -> None:
    """Links to the files of a snapshot, and what its archives hold: beside them, or in a folder of the archive's name.

    The cache may hold further files of the same commit, which were fetched for another set.
    """
    for file in sorted(path for path in snapshot.rglob("*") if path.is_file()):
        name = file.relative_to(snapshot)
        if not any(fnmatchcase(name.as_posix(), pattern) for pattern in patterns):
            continue
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix.lower() != ".zip":
            target.symlink_to(file.resolve())
            continue
        try:
            with zipfile.ZipFile(file) as archive:
                top = {name.split("/")[0] for name in archive.namelist()} - {"__MACOSX"}
                archive.extractall(target.parent if top == {file.stem} else target.with_suffix(""))
        except (zipfile.BadZipFile, OSError) as error:
            raise WardroundError(f"{file.name}: cannot be unpacked: {error}") from None
    shutil.rmtree(folder / "__MACOSX", ignore_errors=True)


def _read(folder: Path, entry: HubSet | None, table_map: Path | None) -> CaseSource:
    has_field_map = entry is not None and entry.layout == "xpcr"  # its map names fields of rows, not columns
    if table_map is not None and not has_field_map:
        return import_table(folder, table_map)
    if entry is not None:
        return reader_for(entry.layout, table_map)(folder / entry.folder)
    return import_table(folder, guess_map(folder))


def _selected(cases: CaseSource, name: HubName, snapshot: Snapshot) -> Iterator[Case]:
    """The cases of the split, each with the set's commit and licence in its origin."""
    wanted = OTHER_SPLITS.get(name.split or "", name.split)
    for case in cases:
        if wanted in (None, case.split):
            source = {"hub": f"{name.repo}@{snapshot.commit}", "licence": snapshot.licence}
            origin = case.origin.model_dump(exclude_unset=True) if case.origin else {}
            fields = {key: value for key, value in source.items() if value is not None}
            yield case.model_copy(update={"origin": Origin.model_validate(origin | fields)})


def _manifest(folder: Path, name: HubName, snapshot: Snapshot, entry: HubSet | None) -> dict[str, Any]:
    cases = CaseSet.read(folder)
    about = {"license": snapshot.licence, "url": f"https://huggingface.co/datasets/{name.repo}"}
    return {
        **{key: value for key, value in about.items() if value},
        "name": entry.title if entry else name.repo,
        "hub": {"repo": name.repo, "revision": name.revision, "commit": snapshot.commit, "split": name.split},
        "versions": {"wardround": __version__},
        "cases": {"cases": len(cases), "questions": cases.question_count, "blake2b": cases.hash},
    }


def _without_folder(problem: Problem, folder: Path) -> Problem:
    """A problem whose file is named as in the repository: the folder is removed."""
    file = problem.file.relative_to(folder) if problem.file.is_relative_to(folder) else problem.file
    return Problem(file, problem.line, problem.field, problem.message)
