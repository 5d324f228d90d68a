"""What changed in the cases, images and prompts since a run was made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from wardround.cases.set import CaseSet
from wardround.core.canonical import blake
from wardround.core.errors import BadInput
from wardround.running.inputs.hashes import PARTS, hash_cases, read_case_hashes, read_image_hashes

MAX_NAMED = 5
UNLISTED = "the case set changed; which cases cannot be said, because this run has no case_hashes.parquet"


@dataclass(frozen=True)
class InputChanges:
    """The differences between what a run was made from and what is there now."""

    cases: Mapping[str, Sequence[str]] = field(default_factory=dict)  # id -> its changed parts
    added: Sequence[str] = ()
    removed: Sequence[str] = ()
    texts: Sequence[str] = ()  # prompts, and the severity table
    is_unlisted: bool = False  # the set changed, and the run has no hash of each case
    hash: str = ""  # of the set as it is now

    def __bool__(self) -> bool:
        return bool(self.cases or self.added or self.removed or self.texts or self.is_unlisted)

    def __str__(self) -> str:
        changed = [f"{id} ({', '.join(parts)})" for id, parts in self.cases.items()]
        sentences = [
            UNLISTED if self.is_unlisted else "",
            f"{_count(self.cases)} changed: {_first_few(changed)}" if self.cases else "",
            f"{_count(self.added)} added: {_first_few(self.added)}" if self.added else "",
            f"{_count(self.removed)} missing: {_first_few(self.removed)}" if self.removed else "",
            f"changed: {_first_few(self.texts)}" if self.texts else "",
        ]
        return "; ".join(filter(None, sentences))

    def to_manifest(self) -> dict[str, Any]:
        """All that changed, by name."""
        lists = {"added": self.added, "removed": self.removed, "texts": self.texts}
        record: dict[str, Any] = {name: list(values) for name, values in lists.items() if values}
        if self.cases:
            record["cases"] = {id: list(parts) for id, parts in self.cases.items()}
        if self.is_unlisted:
            record["unlisted"] = True
        return record | {"summary": str(self), "hash": self.hash}

    def with_images(self, paths: Mapping[str, str | None], cases: CaseSet) -> InputChanges:
        """The same, with the cases of these image files, which have other hashes now."""
        if not paths:
            return self
        by_case = {id: list(parts) for id, parts in self.cases.items()}
        for case in cases:
            if any(os.path.normpath(image.path) in paths for image in case.images) and "images" not in by_case.get(
                case.id, ()
            ):
                by_case.setdefault(case.id, []).append("images")
        return replace(self, cases=by_case, hash=blake([self.hash, paths]).hex())


def find_changes(
    folder: Path,
    manifest: Mapping[str, Any],
    cases: CaseSet,
    *,
    sha256: Callable[[str], str],
    prompts: Mapping[str, str | None],
    severities: str | None,
    used: pl.DataFrame | None = None,
) -> InputChanges:
    """What differs from the manifest and the hashes of a run folder; of `used` cases only, if these are given.

    `sha256` gives the hash of an image file as it is now, or raises KeyError if it does not matter. `prompts` and
    `severities` are hashes as they are now.
    """
    if not manifest:
        return InputChanges()
    texts = [f"prompt {name}" for name, hash in manifest.get("prompts", {}).items() if prompts.get(name, hash) != hash]
    earlier = (manifest.get("severities") or {}).get("hash")  # none if the images were stored degraded
    if earlier and severities and earlier != severities:
        texts.append("the severity table")
    changes = replace(_changed_cases(folder, manifest["cases"], cases, used), texts=texts, hash=cases.hash)
    return changes.with_images(changed_images(read_image_hashes(folder), cases, sha256), cases)


def _changed_cases(folder: Path, record: Mapping[str, Any], cases: CaseSet, used: pl.DataFrame | None) -> InputChanges:
    if cases.hash == record["hash"] and (used is not None or len(cases) == record["cases"]):
        return InputChanges()
    before = read_case_hashes(folder)
    if before is None:
        return InputChanges(is_unlisted=True)
    if used is None:
        return compare_cases(before, hash_cases(cases))
    before = before.join(used, on="case", how="semi", maintain_order="left")
    return replace(compare_cases(before, hash_cases(cases)), added=())


def compare_cases(before: pl.DataFrame, now: pl.DataFrame) -> InputChanges:
    """The differences between two tables of hashes."""
    both = before.join(now, on="case", suffix=" now", maintain_order="left")
    differing = both.filter(pl.any_horizontal(pl.col(part) != pl.col(f"{part} now") for part in PARTS))
    return InputChanges(
        cases={
            row["case"]: [part for part in PARTS if row[part] != row[f"{part} now"]]
            for row in differing.iter_rows(named=True)
        },
        added=now.join(before, on="case", how="anti", maintain_order="left")["case"].to_list(),
        removed=before.join(now, on="case", how="anti", maintain_order="left")["case"].to_list(),
    )


def changed_images(before: Mapping[str, str], cases: CaseSet, sha256: Callable[[str], str]) -> dict[str, str | None]:
    """The paths of images whose files have another hash now, with this; None for a file that cannot be read."""
    changed: dict[str, str | None] = {}
    for path, earlier in before.items():
        try:
            current: str | None = sha256(cases.absolute_path(path))
        except KeyError:
            continue
        except (OSError, BadInput):
            current = None
        if current != earlier:
            changed[path] = current
    return changed


def _first_few(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _count(cases: Sequence[str] | Mapping[str, Any]) -> str:
    return f"{len(cases):,} {'case' if len(cases) == 1 else 'cases'}"
