"""manifest.json: what a start of a run was made of, and how it ended."""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from wardround import __version__
from wardround.asking.prompts import Prompts
from wardround.cases.images.recipe import PIXEL_BUDGET
from wardround.cases.set import CaseSet
from wardround.cases.set_manifest import source_of_set
from wardround.core.canonical import blake
from wardround.core.store.location import PostgresAddress
from wardround.core.study import Study
from wardround.degrade.case_images import needs_copy
from wardround.degrade.records import read_first_record
from wardround.degrade.severities import load_profile
from wardround.plugins import installed, package_version
from wardround.running.budget import BudgetTracker
from wardround.running.candidate_run import CandidateRun
from wardround.running.inputs.run_paths import RunPaths
from wardround.running.run_folder import RunFolder
from wardround.running.used_answers import UsedAnswers

if TYPE_CHECKING:
    from wardround.running.literature_tools import LiteratureTools

PACKAGES = ("aiohttp", "numpy", "orjson", "pillow", "polars", "pydicom", "scipy")


@dataclass(frozen=True)
class RunManifest:
    """What the manifest of one start is made from; the candidates' parts change while they are asked."""

    study: Study
    paths: RunPaths
    cases: CaseSet
    prompts: Prompts
    folder: RunFolder
    literature: LiteratureTools | None
    budget: BudgetTracker
    used: UsedAnswers
    candidate_runs: Sequence[CandidateRun]

    def to_dict(self, *, interrupted: bool) -> dict[str, Any]:
        why = self._incomplete_reason(interrupted)
        inapplicable: Counter[str] = Counter()
        for run in self.candidate_runs:
            inapplicable += run.plan.inapplicable + run.outcome.unsupported
        return {
            "wardround": __version__,
            "study": {
                "name": self.study.name,
                "hash": self.study.hash,
                "folder": str(self.paths.study.parent.absolute()),
                "from_run": os.path.relpath(self.paths.study.parent, self.folder.path),
            },
            "status": "incomplete" if why else "complete",
            "why": why,
            "finished": now(),
            "versions": {"python": platform.python_version(), **_package_versions()},
            **({"plugins": plugins} if (plugins := installed()) else {}),
            "cases": {
                "path": str(self.study.cases),
                "folder": str(self.cases.folder.absolute()),
                "file": str(self.cases.file.absolute()),
                "from_run": os.path.relpath(self.cases.file, self.folder.path),
                "hash": self.cases.hash,
                **({"source": source} if (source := source_of_set(self.cases.folder)) else {}),
                "cases": len(self.cases),
                "questions": self.cases.question_count,
                "images": sum(len(self.cases.images_of_modality(modality)) for modality in self.cases.modalities),
                "skipped": [str(problem) for problem in self.cases.problems] + list(self.skipped.values()),
            },
            **({"answers": str(self.paths.answers)} if isinstance(self.paths.answers, PostgresAddress) else {}),
            "exploratory": self.folder.changed_since_frozen(self.frozen_hashes),
            "prompts": dict(sorted(self.prompts.hashes.items())),
            "prompt_sources": dict(sorted(self.prompts.sources.items())),
            "severities": self._severities_of_images(),
            "image_size": "native" if self.study.image_size == "native" else {"max_pixels": PIXEL_BUDGET},
            "literature": self.literature and self.literature.manifest(),
            "candidates": [
                run.to_manifest() | {"cut": self.used.cuts[number], "missing": len(self.used.missing[number])}
                for number, run in enumerate(self.candidate_runs)
            ],
            "inapplicable": dict(inapplicable.most_common()),
            "warnings": self._warnings(),
        }

    @property
    def frozen_hashes(self) -> dict[str, str]:
        """What `check --freeze` fixes before the first answer: hashes of study, cases, comparisons and endpoints."""
        families = {name: family.model_dump() for name, family in self.study.comparisons.items()}
        hashes = {"study": self.study.hash, "cases": self.cases.hash, "comparisons": blake(families).hex()}
        if self.study.acceptance:
            endpoints = {name: endpoint.model_dump() for name, endpoint in self.study.acceptance.items()}
            hashes["acceptance"] = blake(endpoints).hex()
        if self.study.parser != "strict":
            hashes["parser"] = self.study.parser
        return hashes

    @property
    def skipped(self) -> dict[str, str]:
        """The cases that could not be asked, each with what is wrong with it."""
        skipped: dict[str, str] = {}
        for run in self.candidate_runs:
            skipped |= run.plan.skipped | run.outcome.skipped
        return skipped

    @property
    def severities(self) -> dict[str, Any] | None:
        """The severity table of a run with degraded images; None if there are none."""
        if set(self.study.conditions.get("degradation", ["none"])) <= {"none", "stored"}:
            return None
        profile = load_profile(self.study.severities, self.prompts.folder)
        return {"profile": profile.name, "version": profile.version, "hash": profile.hash}

    def _incomplete_reason(self, interrupted: bool) -> str | None:
        if interrupted:
            return "it was interrupted"
        if self.budget.reached and any(run.outcome.stopped for run in self.candidate_runs):
            return self.budget.reached
        return next((reason for run in self.candidate_runs if (reason := run.incomplete_reason)), None)

    def _severities_of_images(self) -> dict[str, Any] | None:
        """The profile with which images are drawn, that with which `wardround degrade` stored them, or both."""
        stored = self._stored_severities()
        drawn = None if stored and not self._draws else self.severities
        return {**drawn, "stored": stored} if drawn and stored else drawn or stored

    def _stored_severities(self) -> dict[str, Any] | None:
        """The profile with which `wardround degrade` made the images of a set, if it did and they are asked."""
        record = read_first_record(self.cases.folder)
        if record is None or not {"stored", "assigned"} & set(self.study.conditions.get("degradation", [])):
            return None
        return {"profile": record.get("profile"), "version": record.get("profile_version")}

    @property
    def _draws(self) -> bool:
        """Whether any image is degraded by the study: `assigned` draws what is not stored already."""
        values = set(self.study.conditions.get("degradation", []))
        if values - {"none", "stored", "assigned"}:
            return True
        return "assigned" in values and any(
            needs_copy(case, question) for case in self.cases for question in case.questions
        )

    def _warnings(self) -> list[str]:
        naming, left_out = Counter[str](), Counter[str]()
        for run in self.candidate_runs:
            naming |= run.plan.naming
            left_out |= run.plan.left_out
        warnings = [
            f"without = {modality}: {count:,} of {left_out[modality]:,} questions asked so still name it in their text"
            for modality, count in naming.items()
            if count
        ]
        return warnings + [warning for run in self.candidate_runs for warning in run.warnings]


@cache
def _package_versions() -> dict[str, str]:
    return {name: package_version(name) for name in PACKAGES}


def now() -> str:
    return datetime.fromtimestamp(int(time.time()), UTC).isoformat()
