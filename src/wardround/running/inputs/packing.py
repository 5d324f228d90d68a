"""Packing: a copy of everything that marking, reporting and viewing a run needs, inside its folder."""

import os
import shutil
from pathlib import Path

import polars as pl

from wardround.cases.set import FILE_NAME
from wardround.core.errors import BadInput
from wardround.core.files import new_folder, replacement
from wardround.running.inputs.hashes import read_image_hashes
from wardround.running.inputs.run_inputs import PACKED, shows_other_cases, table_files
from wardround.running.store.merging import copy_uses
from wardround.running.store.run_uses import listed_keys, read_uses
from wardround.running.stored_run import ANSWERS, StoredRun
from wardround.running.used_answers import scan_used

COMPANIONS = ("schema.toml",)  # files of a case set that the sections of a report read


def pack_run(run: StoredRun) -> str:
    """Packs a run; says what was packed. Cases keep their lines and images their paths, so that hashes hold."""
    unpack(run.folder)
    with new_folder(run.folder / PACKED) as folder:
        cases = _pack_cases(run, folder / "cases")
        images = _pack_images(run, folder / "cases")
        _pack_texts(run, folder)
    answers = _pack_answers(run)
    return f"{answers:,} answers, {cases:,} cases and {images:,} images packed into {run.folder}"


def unpack(folder: Path) -> bool:
    """Removes the packed cases and prompts of a run that goes on; says whether there were any."""
    was_packed = (folder / PACKED).is_dir()
    shutil.rmtree(folder / PACKED, ignore_errors=True)
    return was_packed


def _pack_cases(run: StoredRun, folder: Path) -> int:
    """Copies the cases that were used; all, if some are shown with others."""
    folder.mkdir()
    used = set(scan_used(run.folder).select(pl.col("case").unique()).collect()["case"])
    takes_all, count = shows_other_cases(run.study), 0
    with (folder / FILE_NAME).open("wb") as file:
        for id, line in run.cases.lines():
            if takes_all or id in used:
                file.write(line.rstrip(b"\r\n") + b"\n")
                count += 1
    for name in COMPANIONS:
        if (run.cases.folder / name).is_file():
            shutil.copyfile(run.cases.folder / name, folder / name)
    return count


def _pack_images(run: StoredRun, folder: Path) -> int:
    """Copies the image files that were shown; equal files are links to one."""
    copies: dict[str, Path] = {}
    images = read_image_hashes(run.folder)
    for path, sha256 in images.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if sha256 in copies:
                os.link(copies[sha256], target)
                continue
        except OSError:  # a file system without links
            pass
        try:
            shutil.copyfile(run.cases.folder / path, target)
        except OSError as error:
            raise BadInput(run.cases.folder / path, f"image cannot be packed: {error.strerror}") from None
        copies[sha256] = target
    return len(images)


def _pack_texts(run: StoredRun, folder: Path) -> None:
    """Copies the prompts of candidates, judge and reader, wardround's own too, and the tables that the study names."""
    judge, reader = run.manifest.get("judge") or {}, run.manifest.get("reader") or {}
    for name in {**run.manifest.get("prompts", {}), **judge.get("prompts", {}), **reader.get("prompts", {})}:
        prompt, _, kind = name.rpartition("/")
        file = folder / "prompts" / prompt / f"{kind}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(run.prompts.read(prompt, kind).encode())
    for name, path in table_files(run.study).items():
        shutil.copyfile(run.study_folder / path, folder / name)


def _pack_answers(run: StoredRun) -> int:
    """Copies what the run used, unless its store is the packed one already."""
    target = run.folder / ANSWERS
    if run.store.is_file(target):
        return len(set(listed_keys(run.folder)))
    with replacement(target, durable=True) as draft:
        copied = copy_uses(run.store.location, draft, [read_uses(run.folder)]).copied
        for ending in ("-wal", "-shm"):  # of the store that is replaced
            target.with_name(target.name + ending).unlink(missing_ok=True)
    return copied
