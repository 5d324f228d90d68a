"""MedQ-Deg's Table 6 on a set built from real images: who looks loses with severity, who cannot stays the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wardround.benchmarks.engine.bench import bench
from wardround.building.sources.medq_deg.build import build_medq_deg
from wardround.building.sources.patches import build_patches

MODALITIES = {
    "Computed tomography of the head": "CT",
    "Magnetic resonance imaging of the abdomen": "MRI",
    "Ultrasound of a lymph node": "Ultrasound",
    "Immunostained tissue section": "Histopathology",
    "Fundus photograph": "Fundus photography",
}


def pool(folder: Path) -> Path:
    """Patches of real images with their modality, which only candidates that see are told."""
    build_patches(folder)
    file = folder / "cases.jsonl"
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for case in cases:
        (question,), (image,) = case["questions"], case["images"]
        image["modality"] = MODALITIES[question["options"][question["gold"]]]
    file.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_only_a_candidate_that_sees_falls_with_severity(tmp_path: Path) -> None:
    built = tmp_path / "built"
    build_medq_deg([pool(tmp_path / "pool")], built, note=lambda text: None)
    found = bench(
        "medq-deg/table6",
        cases=built,
        candidates=[
            {"name": "pixels", "provider": "pixels"},
            {"name": "smollm2", "provider": "local:smollm2", "sees": False, "max_tokens": 8},
        ],
        runs=tmp_path / "runs",
        note=lambda text: None,
    )
    pixels, smollm2 = (dict(zip(found.tables[0].columns, row.cells, strict=True)) for row in found.tables[0].rows)
    at = {(column.over, column.heading): cell for column, cell in pixels.items()}
    levels = [at["", level].value for level in ("L0", "L1", "L2")]
    assert levels == sorted(levels, reverse=True)
    worst = at["Matched change", "L2"]
    assert worst.high is not None
    assert worst.high < 0
    blind = [cell.text for column, cell in smollm2.items() if column.heading in ("L1", "L2")]
    assert set(blind) == {"not asked"}
    assert found.folder is not None
    page = (found.folder / "report.html").read_text(encoding="utf-8")
    assert "of accuracy at L2." in page
    assert "smollm2 does not see images, so degraded ones are not asked of it." in page
