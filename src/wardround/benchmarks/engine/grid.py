"""Crosses the protocols in one study: evidence x degradation x chain, with votes, as far as the case set allows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.inventory import SetInventory
from wardround.benchmarks.engine.study_file import write_study
from wardround.cases.set import CaseSet
from wardround.core.condition import AXES
from wardround.core.errors import WardroundError
from wardround.core.store.location import StoreLocation
from wardround.literature.index.index import Index
from wardround.literature.index.location import is_address
from wardround.pipeline import RunOutcome, run_study

STUDY_FILE = "grid.toml"  # what was asked for; the run keeps its own copy as study.toml
VOTES = 3
DEGRADED = "gaussian_noise@L2"  # our choice: the type fits every modality


@dataclass(frozen=True)
class GridResult:
    """A grid that was run: its axes, and why other axes were left out."""

    axes: dict[str, list[str]]
    left_out: dict[str, str]
    ended: RunOutcome

    def to_dict(self) -> dict[str, Any]:
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
    answers: StoreLocation | None = None,
    accept_ignored: bool = False,
    note: Callable[[str], None] = print,
) -> GridResult:
    """Runs one study that crosses `axes`, by default those of the four protocols that the case set supports."""
    if not candidates:
        raise WardroundError("grid needs a candidate: --candidate NAME=PROVIDER, or --candidates FILE")
    inventory = SetInventory.from_cases(CaseSet.open(cases))
    crossed, left_out = (dict(axes), {}) if axes else supported_axes(inventory, index)
    if sum(len(values) > 1 for values in crossed.values()) < 2:
        missing = "; ".join(f"{axis}: {reason}" for axis, reason in left_out.items())
        raise WardroundError(
            "grid crosses two axes or more, each with two values or more: "
            + (f"this case set supports too few ({missing}); name others by --axis" if missing else "give --axis twice")
        )
    for axis, reason in left_out.items():
        note(f"{axis} is not crossed: {reason}")
    lexical = {"provider": "lexical"} if inventory.has("kind", "open") else None
    settings: dict[str, Any] = {
        "name": name,
        "cases": str(cases.absolute()),
        "trials": trials,
        "conditions": crossed if trials < 2 else {**crossed, "confidence": crossed.get("confidence", ["votes"])},
        "literature": _literature(index) if index is not None and set(crossed.get("evidence", [])) - {"none"} else None,
        "judge": lexical if judge is None else dict(judge),
        "candidates": candidates,
    }
    file = (runs or Path("runs")) / name / STUDY_FILE
    write_study({key: value for key, value in settings.items() if value}, file)
    ended = run_study(file, runs=runs, answers=answers, accept_ignored=accept_ignored, note=note)
    return GridResult(crossed, left_out, ended)


def supported_axes(inventory: SetInventory, index: str | None) -> tuple[dict[str, list[str]], dict[str, str]]:
    """One axis of each protocol that the case set supports, and what is missing for the others."""
    axes, missing = dict[str, list[str]](), dict[str, str]()
    if index is None:
        missing["evidence"] = "no --index is given"
    else:
        axes["evidence"] = ["none", "reference" if inventory.has("references") else "rag"]
    if inventory.has("images"):
        axes["degradation"] = ["none", DEGRADED]
    else:
        missing["degradation"] = "no case has an image"
    if inventory.has("chain"):
        axes["carry"] = list(AXES["carry"].values[:2])
    else:
        missing["carry"] = "no question belongs to a chain"
    return axes, missing


def parse_axis(text: str) -> tuple[str, list[str]]:
    """`degradation=none,gaussian_noise@L2` as an axis and its values."""
    axis, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise WardroundError(f"axis {text!r}: expected AXIS=VALUE,VALUE")
    return axis.strip(), [value.strip() for value in values.split(",")]


def _literature(index: str) -> dict[str, Any]:
    location = index if is_address(index) else str(Path(index).absolute())
    return {"index": location, "retrievers": Index.open(index).default_retrievers}
