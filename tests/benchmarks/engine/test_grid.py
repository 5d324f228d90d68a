"""`wardround grid`: axes crossed in one study; an interaction is found where it is planted and nowhere else."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bench_cases import cure_cases, xpcr_cases

from wardround.benchmarks.engine.grid import DEGRADED, GridResult, grid, parse_axis, supported_axes
from wardround.benchmarks.engine.inventory import SetInventory
from wardround.building.sources.starter.build import build_starter
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError

AXES = {"degradation": ["none", DEGRADED], "inputs": ["history+images", "images"]}


def planted(name: str, both: float) -> dict[str, Any]:
    """Right in 95% of cases, in 75% if degraded, in 65% without the history; and where it is both, as told."""
    rows = [
        {"when": {"degradation": DEGRADED}, "accuracy": 0.75},
        {"when": {"inputs": "images"}, "accuracy": 0.65},
        {"when": {"degradation": DEGRADED, "inputs": "images"}, "accuracy": both},
    ]
    return {"name": name, "provider": "simulated", "extra_body": {"accuracy": 0.95, "by": rows, "seed": len(name)}}


def crossed(cases: Path, folder: Path, *candidates: dict[str, Any], **more: Any) -> GridResult:
    return grid(cases=cases, candidates=list(candidates), runs=folder / "runs", note=lambda text: None, **more)


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> GridResult:
    folder = tmp_path_factory.mktemp("grid")
    candidates = planted("breaks together", 0.0), planted("adds up", 0.45)
    return crossed(build_starter(folder / "starter"), folder, *candidates, axes=AXES)


def effects(ran: GridResult, candidate: str) -> pl.DataFrame:
    table = pl.read_csv(ran.ended.folder / "effects.csv")
    return table.filter(candidate=candidate, measure="accuracy").sort("with_axis", nulls_last=False)


def test_a_planted_interaction_is_found(ran):
    *_, both = effects(ran, "breaks together").iter_rows(named=True)
    assert (both["axis"], both["with_axis"]) == ("degradation", "inputs")
    assert both["low"] <= 0.0 - 0.75 - 0.65 + 0.95 <= both["high"] < 0


def test_effects_that_add_up_have_none(ran):
    degraded, without, both = effects(ran, "adds up").iter_rows(named=True)
    assert degraded["low"] <= -0.2 <= degraded["high"] < 0
    assert without["low"] <= -0.3 <= without["high"] < 0
    assert both["low"] <= 0 <= both["high"]


def test_the_report_states_the_interaction_in_words(ran):
    report = (ran.ended.folder / "report.html").read_text(encoding="utf-8")
    assert "Effects of the conditions" in report
    assert f"breaks together: the effect of degradation {DEGRADED} is" in report
    assert "points lower with inputs images than with history+images." in report


@pytest.mark.parametrize(
    ("made", "index", "axes"),
    [
        (xpcr_cases, None, {"degradation": ["none", DEGRADED], "carry": ["own", "gold"]}),
        (cure_cases, "index", {"evidence": ["none", "reference"], "degradation": ["none", DEGRADED]}),
    ],
)
def test_without_axes_it_crosses_what_the_set_supports(tmp_path, made, index, axes):
    found, left_out = supported_axes(SetInventory.from_cases(CaseSet.open(made(tmp_path))), index)
    assert found == axes
    assert set(left_out) == {"evidence", "degradation", "carry"} - set(axes)


def test_a_chain_is_crossed_with_degradation_and_votes(tmp_path):
    ran = crossed(xpcr_cases(tmp_path), tmp_path, planted("one", 0.45))
    table = pl.read_csv(ran.ended.folder / "effects.csv")
    assert {"accuracy", "confidence", "calibration_shift"} <= set(table["measure"])
    assert set(table.filter(pl.col("with_axis").is_not_null())["axis"]) == {"degradation"}


def test_what_cannot_be_crossed_is_one_line(tmp_path):
    cases = cure_cases(tmp_path)
    with pytest.raises(WardroundError, match=r"grid needs a candidate"):
        crossed(cases, tmp_path)
    with pytest.raises(WardroundError, match=r"supports too few \(evidence: no --index is given; carry: no question"):
        crossed(cases, tmp_path, planted("one", 0))
    with pytest.raises(WardroundError, match=r"give --axis twice"):
        crossed(cases, tmp_path, planted("one", 0), axes={"images": ["as-is", "blank"]})
    with pytest.raises(WardroundError, match="unknown axis 'colour'"):
        crossed(cases, tmp_path, planted("one", 0), axes={"colour": ["a", "b"], "images": ["as-is", "blank"]})
    with pytest.raises(WardroundError, match="expected AXIS=VALUE,VALUE"):
        parse_axis("degradation")
