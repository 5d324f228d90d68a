"""The four protocols crossed in one study: evidence x degradation x chain, in votes, as far as a case set goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.api import Ended, run_study
from wardround.benchmarks.engine.inventory import Holds
from wardround.benchmarks.engine.study_file import as_toml
from wardround.cases.set import CaseSet
from wardround.core.condition import AXES
from wardround.core.errors import WardroundError
from wardround.core.study import study_from
from wardround.literature.index.index import Index
from wardround.literature.index.location import is_address

STUDY_FILE = "grid.toml"  # what was asked for; the run keeps its own copy as study.toml
VOTES = 3
DEGRADED = "gaussian_noise@L2"  # our choice: the type fits every modality


@dataclass(frozen=True)
class Crossing:
    """A grid that was run: its axes, and the axes that the case set does not support, with what it lacks."""

    axes: dict[str, list[str]]
    left_out: dict[str, str]
    ended: Ended

    def told(self) -> dict[str, Any]:
        manifest = self.ended.manifest
        return {
            "run": str(self.ended.folder),
            "report": str(self.ended.folder / "report.html"),
            "axes": self.axes,
            "left_out": self.left_out,
            "status": manifest["status"],
            "why": manifest["why"],
        }


def grid(
    *,
    cases: Path,
    candidates: list[dict[str, Any]],
    axes: Mapping[str, list[str]] | None = None,
    name: str = "grid",
    trials: int = VOTES,
    judge: Mapping[str, Any] | None = None,
    index: str | None = None,
    runs: Path | None = None,
    answers: Path | None = None,
    note: Callable[[str], None] = print,
) -> Crossing:
    """Runs one study that crosses the axes given, or those of the four protocols that the case set supports."""
    if not candidates:
        raise WardroundError("grid needs a candidate: --candidate NAME=PROVIDER, or --candidates FILE")
    held = Holds.of(CaseSet.open(cases))
    crossed, left_out = (dict(axes), {}) if axes else supported(held, index)
    if sum(len(values) > 1 for values in crossed.values()) < 2:
        lacking = "; ".join(f"{axis}: {why}" for axis, why in left_out.items())
        raise WardroundError(
            "grid crosses two axes or more, each with two values or more: "
            + (f"this case set supports too few ({lacking}); name others by --axis" if lacking else "give --axis twice")
        )
    for axis, why in left_out.items():
        note(f"{axis} is not crossed: {why}")
    told = _study(name, cases, candidates, crossed, trials, judge, index, held)
    folder = (runs or Path("runs")) / name
    study_from(told, folder / STUDY_FILE)  # what is wrong with it is said before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STUDY_FILE).write_text(as_toml(told), encoding="utf-8")
    return Crossing(crossed, left_out, run_study(folder / STUDY_FILE, runs=runs, answers=answers, note=note))


def supported(held: Holds, index: str | None) -> tuple[dict[str, list[str]], dict[str, str]]:
    """One axis of each protocol that the case set has what it takes for, and what it lacks for the others."""
    axes, lacking = dict[str, list[str]](), dict[str, str]()
    if index is None:
        lacking["evidence"] = "no --index is given"
    else:
        axes["evidence"] = ["none", "reference" if held.has("references") else "rag"]
    if held.has("images"):
        axes["degradation"] = ["none", DEGRADED]
    else:
        lacking["degradation"] = "no case has an image"
    if held.has("chain"):
        axes["carry"] = list(AXES["carry"].values[:2])
    else:
        lacking["carry"] = "no question belongs to a chain"
    return axes, lacking


def axis_from(text: str) -> tuple[str, list[str]]:
    """`degradation=none,gaussian_noise@L2` as an axis and its values."""
    axis, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise WardroundError(f"axis {text!r}: expected AXIS=VALUE,VALUE")
    return axis.strip(), [value.strip() for value in values.split(",")]


def _study(
    name: str,
    cases: Path,
    candidates: list[dict[str, Any]],
    axes: Mapping[str, list[str]],
    trials: int,
    judge: Mapping[str, Any] | None,
    index: str | None,
    held: Holds,
) -> dict[str, Any]:
    votes = {} if trials < 2 or "confidence" in axes else {"confidence": ["votes"]}
    told = {
        "name": name,
        "cases": str(cases.absolute()),
        "trials": trials,
        "conditions": {**axes, **votes},
        "literature": _literature(index) if index is not None and set(axes.get("evidence", [])) - {"none"} else None,
        "judge": dict(judge) if judge is not None else {"provider": "lexical"} if held.has("kind", "open") else None,
        "candidates": candidates,
    }
    return {key: value for key, value in told.items() if value}


def _literature(index: str) -> dict[str, Any]:
    place = index if is_address(index) else str(Path(index).absolute())
    return {"index": place, "retrievers": Index.open(index).usual}
