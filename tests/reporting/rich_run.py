"""A run folder in which every section of a report has something to say.

The marks are drawn from planted facts; measures.csv and comparisons.csv are what wardround makes of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.condition import DEFAULTS
from wardround.core.study import load_study
from wardround.marking.marks import MARKS_SCHEMA, write_marks
from wardround.measuring import write_measures
from wardround.reporting import AskView, CaseView, PromptPart, RunFiles, TrialView, report

# how often right, and how far confidence lies above that
CANDIDATES = {
    "sharp-eyed": (0.84, 0.0),
    "steady": (0.84, 0.05),
    "over-sure": (0.62, 0.25),
    "small-model": (0.45, 0.15),
    "coin": (0.25, 0.0),
}
CASES, CHAINS, TRIALS = 96, 36, 3
PROMPTS = ("paper", "short")
STAGES = ("IQA", "AL", "DD")
WRONG_KEYS = (5, 17, 41)  # cases whose key is wrong: the better a candidate, the surer it misses them
LISTED = ("glioma", "abscess", "infarct", "metastasis")
STUDY = "\n".join(
    [
        'name = "rich"\ncases = "rich"\ntrials = 3\nquestions = "all"',
        '[conditions]\nprompt = ["paper", "short"]\noptions = ["rotated"]\nconfidence = ["verbal"]',
        '[comparisons]\ncandidates = { measure = "accuracy", between = "candidate" }',
        'wording = { measure = "accuracy", between = "prompt", reference = "paper" }',
        '[judge]\nprovider = "lexical"',
        *(f'[[candidates]]\nname = "{name}"\nprovider = "simulated"\nmodel = "{name}"' for name in CANDIDATES),
    ]
)


@dataclass(frozen=True)
class Rich:
    """A run with its marks, its page without case pages, and the page that links to them: made when first wanted."""

    run: RunFiles
    marks: pl.DataFrame

    @cached_property
    def file(self) -> Path:
        """The page, made once for all tests."""
        return report(self.run.folder)

    @cached_property
    def page(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @cached_property
    def linked_file(self) -> Path:
        folder = self.run.folder
        return report(folder, cases=rich_views(self.marks), out=folder / "linked" / "report.html")

    @cached_property
    def linked(self) -> str:
        return self.linked_file.read_text(encoding="utf-8")


def about(case: int) -> dict[str, Any]:
    """Who the patient is; one age band and one tag are too small to say anything about."""
    return {
        "specialty": ("neuro", "chest", "abdomen")[case % 3],
        "sex": "FM"[case % 2],
        "age_band": "under 18" if case < 5 else ("18 to 39", "40 to 64", "65 and over")[case % 3],
        "modality": [("CT", "MR", "US")[case % 3]] + (["XR"] if case % 4 == 0 else []),
        "tag": (["rare"] if case % 4 == 1 else []) + (["trauma"] if case < 4 else []),
    }


def marks() -> pl.DataFrame:
    """Choices with stated confidence, lists that a judge marked, and chains of three stages."""
    random = np.random.default_rng(11)
    harder = random.normal(0, 0.12, CASES)
    rows: list[dict[str, Any]] = []
    for name, (skill, above) in CANDIDATES.items():
        for prompt in PROMPTS:
            condition = canonical_json({**DEFAULTS, "prompt": prompt, "options": "rotated", "confidence": "verbal"})
            for case in range(CASES):
                fields = {"candidate": name, "case": f"case-{case:02}", "cluster": f"case-{case:02}"}
                fields |= {"condition": condition, "ask": f"{case:064x}", "parser": "strict-2", **about(case)}
                chance = float(np.clip(skill - harder[case] - 0.2 * (case % 4 == 1) - 0.06 * (prompt == "short"), 0, 1))
                if case in WRONG_KEYS:
                    chance = 0.0 if skill > 0.5 else 0.5
                for trial in range(TRIALS):
                    fields["trial"] = trial
                    rows.append(fields | choice(random, case, trial, chance, above, name))
                    rows.append(fields | listing(random, chance))
                    if case < CHAINS:
                        rows += [fields | stage for stage in chain(random, case, chance)]
    return pl.DataFrame(rows, schema=MARKS_SCHEMA)


def choice(
    random: np.random.Generator, case: int, trial: int, chance: float, above: float, name: str
) -> dict[str, Any]:
    gold, unparsed = case % 4, name == "small-model" and random.random() < 0.08
    right = random.random() < chance
    option = gold if right else (gold + 1 + (0 if case in WRONG_KEYS else int(random.integers(3)))) % 4
    if name == "coin" and random.random() < 0.4:
        option = (-trial) % 4  # the letter A, wherever it stands
    sure = float(np.clip(chance + above + random.normal(0, 0.08), 0.05, 1.0))
    outcome = "unparsed" if unparsed else "right" if option == gold else "wrong"
    fields = {"question": "mcq", "kind": "choice", "gold": gold, "k": 4, "outcome": outcome, "grade": "RAS"[case % 3]}
    fields |= {"gold_place": (gold + trial) % 4, "rule": None if unparsed else "letter alone"}
    if unparsed:
        return fields
    return fields | {"option": option, "place": (option + trial) % 4, "confidence": round(sure, 2)}


def listing(random: np.random.Generator, chance: float) -> dict[str, Any]:
    hits = [bool(random.random() < share * chance) for share in (0.6, 0.3, 0.2)]
    outcome = "right" if hits[0] else "wrong"
    return {"question": "open", "kind": "open", "hits": hits, "outcome": outcome, "judge": "lexical-4"}


def chain(random: np.random.Generator, case: int, chance: float) -> Iterator[dict[str, Any]]:
    """Each stage is given the one before, and is more often wrong after a wrong one."""
    given: list[str] = []
    well = True
    for stage in STAGES:
        well = bool(random.random() < (chance + 0.1 if well else chance - 0.35))
        fields = {"question": stage.lower(), "stage": stage, "chain": "c", "given": given, "kind": "choice"}
        gold = (case + len(stage)) % 4
        fields |= {"gold": gold, "k": 4, "option": gold if well else (gold + 1) % 4, "rule": "letter alone"}
        yield fields | {"outcome": "right" if well else "wrong"}
        given = [stage.lower()]


def write_rich_run(folder: Path, **manifest: Any) -> pl.DataFrame:
    """Writes the folder and returns the marks; keywords replace keys of the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    table = marks()
    write_marks(folder, table)
    write_measures(folder, table, load_study(folder / "study.toml"))
    asks = len(table) // len(CANDIDATES)
    fields = {
        "study": {"name": "rich", "hash": "5c" * 32},
        "status": "complete",
        "finished": "2025-11-15T09:12:41Z",
        "cases": {"path": "rich", "hash": "ab" * 32, "cases": CASES, "questions": 2 * CASES + 3 * CHAINS},
        "candidates": [
            {"name": name, "provider": "simulated", "sees": True, "asks": asks, "new": asks, "failed": 0}
            for name in CANDIDATES
        ],
        "judge": {"name": "lexical-4", "warnings": []},
        "notes": ["Simulated answers, made to test this page. Nothing here says anything about a real model."],
        "chance": 0.25,
        "reference": load_study(folder / "study.toml").reference_condition,
        **manifest,
    }
    (folder / "manifest.json").write_text(json.dumps(fields), encoding="utf-8")
    return table


def rich_views(table: pl.DataFrame) -> Iterator[CaseView]:
    """The choices of the marks as case pages show them."""
    chosen = table.filter(question="mcq")
    for (case,), mine in chosen.group_by("case", maintain_order=True):
        asks = []
        for (name, condition), trials in mine.group_by("candidate", "condition", maintain_order=True):
            shown = tuple(
                TrialView(row["trial"], "ABCD"[row["place"]] if row["place"] is not None else "?", row["outcome"])
                for row in trials.iter_rows(named=True)
            )
            prompt = (PromptPart(text="What is the diagnosis?"),)
            axes = json.loads(str(condition))
            asks.append(AskView(str(name), "mcq", axes, prompt, int(str(case)[-2:]) % 4, shown, LISTED))
        yield CaseView(str(case), tuple(asks))
