"""Where the cases, prompts and tables of a run are now: in a packed run, where they were, or near the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.prompts import Prompts, hash_prompt
from wardround.cases.set import CaseSet, case_file, hash_case_file
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import Study, load_study
from wardround.degrade.severities import load_profile
from wardround.running.inputs.changes import InputChanges, find_changes
from wardround.running.run_folder import RunFolder, require_run
from wardround.running.used_answers import FILE as USED
from wardround.running.used_answers import scan_used

PACKED = "packed"  # the folder of a packed run that holds its cases and takes the place of the study's folder
SEVERITIES, SYNONYMS = "severities.toml", "synonyms"  # in it; the second with the ending of the study's file
MAX_NAMED = 3


class MissingInput(WardroundError):
    """Something that a run was made from is not where it could be."""


@dataclass(frozen=True)
class RunInputs:
    """A run folder with its study, cases and prompts, for which its answers are not needed."""

    folder: Path
    study: Study
    manifest: dict[str, Any]
    cases: CaseSet
    prompts: Prompts

    @property
    def study_folder(self) -> Path:
        """What paths of the study are relative to."""
        return self.prompts.folder

    @classmethod
    def locate(cls, folder: Path, cases: Path | CaseSet | None = None) -> RunInputs:
        """Finds what a run was made from. `cases` is the case set, if it is named or was read already."""
        require_run(folder)
        if not (folder / USED).exists():
            raise BadInput(folder, "this run has not ended and cannot be marked; continue it by `wardround run STUDY`")
        manifest = RunFolder(folder).manifest
        study = load_study(folder / "study.toml")
        study_folder = find_study_folder(folder, study, manifest)
        file = find_cases(folder, manifest, cases.file if isinstance(cases, CaseSet) else cases)
        # which image is swapped for which depends on all usable cases; those of a packed run were usable
        check_images = shows_other_cases(study) and not _is_packed(file, folder)
        if isinstance(cases, CaseSet) and cases.is_current():
            case_set = cases
        else:
            case_set = CaseSet.open(file, check_images=check_images)
        study = _with_packed_files(study, study_folder, folder)
        return cls(folder, study, manifest, case_set, Prompts(study_folder, study.prompts))

    def verify(self, sha256: Callable[[str], str], *, accept: bool, as_marked: bool = False) -> InputChanges:
        """Refuses cases, images or prompts that are not those of the run, unless `accept`. Returns the changes.

        `sha256` gives the hash of a file. A question that is not there any more cannot be accepted. With `as_marked`
        the changes that were accepted when the run was marked are accepted again.
        """
        if self.manifest.get("outdated"):
            raise WardroundError(
                f"{self.folder}: was amended and stopped before its end; continue it by `wardround run`"
            )
        changes = self._changes(sha256)
        if not changes or (as_marked and changes.to_manifest() == self.manifest.get("changed_inputs")):
            return changes
        if lost := self._lost_questions(changes):
            raise BadInput(
                self.cases.file, f"lacks {lost}, which {self.folder} asked; name the run's own case set by --cases PATH"
            )
        if not accept:
            raise WardroundError(
                f"{self.folder}: differs from when it was run: {changes}. Name the run's own case set by --cases PATH, "
                "or go on with what is there now by --accept-changed-cases, which is recorded"
            )
        return changes

    def _changes(self, sha256: Callable[[str], str]) -> InputChanges:
        """Of the cases that the run used; of all, if it shows some with others."""
        profile = load_profile(self.study.severities, self.study_folder) if self.manifest.get("severities") else None
        used = scan_used(self.folder).select(pl.col("case").unique()).collect()
        changes = find_changes(
            self.folder,
            self.manifest,
            self.cases,
            sha256=sha256,
            prompts=prompt_hashes(self.prompts, self.manifest.get("prompts", {})),
            severities=profile.hash if profile else None,
            used=None if shows_other_cases(self.study) else used,
        )
        if not self.prompts.lacks_folder:
            return changes
        return replace(changes, texts=[*changes.texts, f"the folder of prompts {self.study.prompts} (not there)"])

    def _lost_questions(self, changes: InputChanges) -> str:
        """The first questions that the run asked and the case set has not."""
        asked = scan_used(self.folder).select("case", "question").unique(maintain_order=True).collect()
        if not changes.is_unlisted:
            asked = asked.filter(pl.col("case").is_in([*changes.cases, *changes.removed]))
        known = set(self.cases.ids)
        lost = [
            f"case {id}" if id not in known else f"question {question} of case {id}"
            for id, question in asked.iter_rows()
            if id not in known or not self._has_question(id, question)
        ]
        more = f" and {len(lost) - MAX_NAMED:,} more" if len(lost) > MAX_NAMED else ""
        return ", ".join(lost[:MAX_NAMED]) + more

    def _has_question(self, case_id: str, question_id: str) -> bool:
        case = self.cases.case(self.cases.index_of(case_id))
        return any(question.id == question_id for question in case.questions)


def shows_other_cases(study: Study) -> bool:
    """Whether what is asked about a case depends on the others: swapped images, and texts of other cases."""
    return any(condition.images == "swapped" or "-other" in condition.probe for condition in study.all_conditions)


def find_cases(folder: Path, manifest: Mapping[str, Any], named: Path | None = None) -> Path:
    """The file of a run's case set: of several candidates the one with the run's hash, else the first."""
    if named is not None:
        return case_file(named)
    files = list({file.resolve(): file for path in _case_paths(folder, manifest) if (file := _file(path))}.values())
    if not files:
        path = manifest["cases"].get("file") or manifest["cases"]["folder"]
        raise MissingInput(f"{folder}: its case set is not at {path} or near the run; name it by --cases PATH")
    if len(files) == 1 or _is_packed(files[0], folder):
        return files[0]
    return next((file for file in files if hash_case_file(file) == manifest["cases"]["hash"]), files[0])


def _case_paths(folder: Path, manifest: Mapping[str, Any]) -> Iterator[Path]:
    record, workspace = manifest["cases"], folder.absolute().parent.parent
    yield folder / PACKED / "cases"
    if "from_run" in record:
        yield folder / record["from_run"]
    yield Path(record.get("file") or record["folder"])
    if path := record.get("path"):
        for base in (workspace, Path()):
            yield base / path
            yield base / Path(path).name
        yield folder.absolute().parent / Path(path).name


def _is_packed(file: Path, folder: Path) -> bool:
    return file.is_relative_to(folder / PACKED)


def _file(path: Path) -> Path | None:
    try:
        return case_file(path)
    except (BadInput, OSError):
        return None


def find_study_folder(folder: Path, study: Study, manifest: Mapping[str, Any]) -> Path:
    """The folder with the run's own prompts and tables; without one that fits, the first that there is."""
    record: Mapping[str, str] = manifest["study"]
    paths = [folder / PACKED, *([folder / record["from_run"]] if "from_run" in record else []), Path(record["folder"])]
    paths += [folder.absolute().parent.parent, Path().absolute()]
    folders = [path for path in paths if path.is_dir()]
    if folders[0] == folder / PACKED:
        return folders[0]
    return next((path for path in folders if _fits(path, study, manifest)), folders[0])


def _fits(folder: Path, study: Study, manifest: Mapping[str, Any]) -> bool:
    prompts = manifest.get("prompts", {})
    has_tables = all((folder / file).is_file() for file in table_files(study).values())
    return has_tables and prompt_hashes(Prompts(folder, study.prompts), prompts) == prompts


def prompt_hashes(prompts: Prompts, names: Mapping[str, str]) -> dict[str, str | None]:
    """The hash of each prompt as it is now; None if there is none."""
    hashes: dict[str, str | None] = {}
    for name in names:
        try:
            hashes[name] = hash_prompt(prompts.read(*name.rsplit("/", 1)))
        except WardroundError:
            hashes[name] = None
    return hashes


def table_files(study: Study) -> dict[str, str]:
    """The files that marking and showing a study needs: their paths in the study, by their names in a packed run."""
    files = {}
    if ".toml" in study.severities:
        files[SEVERITIES] = study.severities.rpartition(".toml")[0] + ".toml"
    if study.judge is not None and study.judge.is_rule and isinstance(file := study.judge.synonym_file, str):
        files[SYNONYMS + Path(file).suffix] = file
    return files


def _with_packed_files(study: Study, study_folder: Path, folder: Path) -> Study:
    """The study with the paths of its tables in a packed run, whose prompts are in `prompts`."""
    if study_folder != folder / PACKED:
        return study
    changed: dict[str, Any] = {"prompts": None}
    for name in table_files(study):
        if name == SEVERITIES:
            changed["severities"] = SEVERITIES + study.severities.rpartition(".toml")[2]
        elif study.judge is not None:
            changed["judge"] = study.judge.model_copy(update={"extra_body": {}, "synonyms": name})
    return study.model_copy(update=changed)
