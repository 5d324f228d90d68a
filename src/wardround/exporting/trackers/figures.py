"""The figures of a candidate as flat names and numbers, and its settings as flat names and texts.

Names have only characters that MLflow takes: `accuracy`, `accuracy_low`, `accuracy/images:blank`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from wardround.reporting.reference_condition import score_measures
from wardround.reporting.run_files import MeasureLine, RunFiles

MAX_NAME = 240  # MLflow takes 250 characters


def figures_of(run: RunFiles, candidate: str) -> dict[str, float]:
    """Every measure at the reference condition and the scores of every slice, with the ends of their intervals and n.

    All other slices are in measures.csv.
    """
    scores, figures = set(score_measures(run)), dict[str, float]()
    for line in run.measure_lines:
        if line.candidate != candidate or line.value is None or (line.slice and line.measure not in scores):
            continue
        name = _unused(_name(line), figures)
        values = {"": line.value, "_low": line.low, "_high": line.high, "_n": line.n}
        figures |= {name + suffix: float(value) for suffix, value in values.items() if value is not None}
    return figures


def settings_of(run: RunFiles, candidate: str) -> dict[str, str]:
    """What was asked of whom: the study, its case set, and the candidate's own settings."""
    entry = run.candidate_entries.get(candidate, {})
    names = ("provider", "model", "revision", "sees")
    return study_settings_of(run) | {"candidate": candidate} | _texts({name: entry.get(name) for name in names})


def study_settings_of(run: RunFiles) -> dict[str, str]:
    cases = run.manifest.get("cases") or {}
    facts = {"study": run.name, "study_hash": (run.manifest.get("study") or {}).get("hash")}
    facts |= {f"cases_{name}": cases.get(name) for name in ("hash", "cases", "questions", "images")}
    facts |= {"trials": run.study.trials, "seed": run.study.seed, "parser": run.study.parser}
    facts |= {f"sampling_{name}": value for name, value in run.study.sampling}
    facts |= {f"reference_{axis}": value for axis, value in run.study.reference_condition.items()}
    return _texts(facts | {"wardround": run.manifest.get("wardround")})


def _texts(facts: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in facts.items() if value is not None}


def _name(line: MeasureLine) -> str:
    parts = [line.measure, *(f"{key}:{value}".replace("/", "_") for key, value in line.slice.items())]
    name = "/".join(re.sub(r"[^\w.\- :]", "_", part) for part in parts)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _unused(name: str, figures: Mapping[str, float]) -> str:
    """The name, numbered if another figure has it: `a@b` and `a_b` are both `a_b`."""
    number, unused = 1, name
    while unused in figures:
        number += 1
        unused = f"{name} {number}"
    return unused
