"""A run opened again after it ended: its study, manifest, cases, prompts and answers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError
from wardround.core.store.location import StoreLocation
from wardround.running.images import Fingerprints
from wardround.running.inputs.changes import InputChanges
from wardround.running.inputs.run_inputs import MissingInput, RunInputs
from wardround.running.inputs.used_rows import DIGEST_SIZE
from wardround.running.parquet import ROWS, in_parts
from wardround.running.store import AnswerKey, AnswerStore
from wardround.running.used_answers import body_digest, scan_used

ANSWERS = "answers.sqlite"
ANSWER_PLACE = ("candidate", "case", "question", "condition", "trial", "ask")  # columns of used.parquet and of marks


class FewerAnswers(WardroundError):
    """The store lacks answers that were marked before; results stay as they are."""

    exit_code = 3


class OtherAnswers(FewerAnswers):
    """The store has other answers than those that the run used; results stay as they are."""


@dataclass(frozen=True)
class StoredRun(RunInputs):
    """A run folder with everything that its answers can be marked and shown from."""

    store: AnswerStore

    @classmethod
    def open(cls, folder: Path, answers: StoreLocation | None = None, cases: Path | CaseSet | None = None) -> StoredRun:
        """Opens a run; its answers are those packed into it, else those of the store beside the folder of runs."""
        return cls.of(RunInputs.locate(folder, cases), answers)

    @classmethod
    def of(cls, inputs: RunInputs, answers: StoreLocation | None = None) -> StoredRun:
        """The same, with inputs that are located already."""
        location = find_answers(inputs.folder, answers, inputs.study.store)
        store = AnswerStore(location, must_exist=True, keeps_bodies=True)  # for their hash, and to be marked
        return cls(**vars(inputs), store=store)

    def verify_inputs(self, *, accept: bool, as_marked: bool = False) -> InputChanges:
        """`verify` with the hashes of files that the store knows; the answers must be those of the run, too."""
        self.refuse_other_answers()
        fingerprints = Fingerprints(self.store)
        fingerprints.load(os.path.abspath(self.cases.folder))
        changes = self.verify(fingerprints.read, accept=accept, as_marked=as_marked)
        if not self.store.is_file(self.folder / ANSWERS):  # a packed run names no path of this machine
            fingerprints.save()
        return changes

    def refuse_other_answers(self) -> None:
        """Refuses a store that has other answers to the same Asks than those that the run used."""
        used = self.manifest.get("answers_hash")
        if used is not None and self.answers_hash not in (used, None):
            raise OtherAnswers(
                f"{self.folder}: the answers in {self.store.location} are not those that this run used: nothing is "
                "changed; name its own store by --answers PATH, or take these by `wardround run`"
            )

    @cached_property
    def answers_hash(self) -> str | None:
        """The hash of all stored answers that the run used; None if the store lacks some."""
        return hash_answers(self.folder, self.store)

    def missing_answers(self) -> pl.DataFrame:
        """The rows of used.parquet whose answers are not in the store."""
        used = scan_used(self.folder).select(*ANSWER_PLACE, "turn").collect()
        with self.store.snapshot():
            missing = [
                body is None for part in used.iter_slices(ROWS) for body in self.store.bodies(list(used_keys(part)))
            ]
        return used.filter(pl.Series(missing, dtype=pl.Boolean))

    def refuse_fewer(self, marks: Path) -> str | None:
        """Refuses a store that lacks answers which were marked before; says how many others it lacks, if any."""
        if self.answers_hash is not None:  # there is none if an answer is missing
            return None
        missing = self.missing_answers()
        total = scan_used(self.folder).select(pl.len()).collect().item()
        reason = f"{len(missing):,} of {total:,} used answers are not in {self.store.location}"
        if marks.exists():
            marked = pl.scan_parquet(marks).select(ANSWER_PLACE)
            lost = missing.lazy().join(marked, on=ANSWER_PLACE, how="semi").select(pl.len()).collect().item()
            if lost:
                raise FewerAnswers(
                    f"{self.folder}: {reason}, and {lost:,} of these were marked before: nothing is changed; "
                    "name the right store by --answers PATH, or ask again by `wardround run`"
                )
        return reason

    def __enter__(self) -> StoredRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()


def hash_answers(folder: Path, store: AnswerStore) -> str | None:
    """A hash of all answers that a run used; None if the store lacks some."""
    digest = hashlib.blake2b(digest_size=DIGEST_SIZE)
    with store.snapshot():
        for part in in_parts(scan_used(folder).select("ask", "trial", "turn")):
            for body in store.bodies(list(used_keys(part))):
                if body is None:
                    return None
                digest.update(body_digest(body))
    return digest.hexdigest()


def find_answers(
    folder: Path, named: StoreLocation | None = None, of_study: StoreLocation | None = None
) -> StoreLocation:
    """The answer store of a run: the named one, the packed one, the study's, or that beside the folder of runs."""
    packed, workspace_store = folder / ANSWERS, folder.absolute().parent.parent / ANSWERS
    path = named or (packed if packed.exists() else of_study or workspace_store)
    if isinstance(path, Path) and not path.is_file():
        raise MissingInput(f"{path}: there is no such answer store; name that of {folder} by --answers PATH")
    return path


def used_keys(used: pl.DataFrame) -> Iterator[AnswerKey]:
    """The keys of used answers in the store."""
    asks = used["ask"].str.decode("hex").to_list()
    yield from map(AnswerKey, asks, used["trial"].to_list(), used["turn"].to_list())
