"""What CURE's tables say of a run: knowledge cutoffs, and the size of images."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from cure_library import case, case_set
from exam_server import ExamServer
from PIL import Image

from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.core.study import Study

DAYS = ["2025-01-10", "2025-06-01", "2025-12-31", None]
SIDE = 1600  # 1600 x 1600 is above the limit of 1536 x 1536


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dated = [case(number, origin={"name": "eurorad", "published": day}) for number, day in enumerate(DAYS)]
    for one in dated:
        one["origin"] = {key: value for key, value in one["origin"].items() if value}
    folder = case_set(tmp_path_factory.mktemp("cure") / "cases", dated)
    Image.new("L", (SIDE, SIDE), 90).save(folder / "scan.png")
    return folder


def run_base(cases: Path, folder: Path, candidates: list[dict[str, Any]], **settings: Any) -> BenchResult:
    return bench(
        "cure/base", cases=cases, candidates=candidates, runs=folder / "runs", note=lambda text: None, **settings
    )


def sent_sizes(server: ExamServer) -> set[tuple[int, int]]:
    urls = [
        part["image_url"]["url"]
        for body in server.bodies
        for part in body["messages"][-1]["content"]
        if part["type"] == "image_url"
    ]
    return {Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size for url in urls}


def test_a_cutoff_after_the_cases_or_none_is_a_warning_and_images_are_limited(cases, tmp_path):
    """By hand: of four cases one has no date, and two are not after June 2025."""
    with ExamServer() as server:
        models = [
            {"name": name, "provider": "openai", "base_url": server.url, "model": name, **cutoff}
            for name, cutoff in (("early", {"cutoff": "2024-12"}), ("late", {"cutoff": "2025-06"}), ("silent", {}))
        ]
        result = run_base(cases, tmp_path, [*models, {"name": "chance", "provider": "random"}])
        assert sent_sizes(server) == {(1536, 1536)}
    warnings = [note for note in result.tables[0].notes if note.startswith("Warning")]
    assert warnings == [
        "Warning: no knowledge cutoff is stated for silent (`cutoff`); "
        "whether the cases are newer than the training data is unknown.",
        "Warning: 1 of 4 cases have no date of publication; a knowledge cutoff says nothing about them.",
        "Warning: 2 of 4 cases may have been published before the knowledge cutoff of late (2025-06).",
    ]
    assert any("2,359,296 pixels (1536 x 1536)" in note for note in result.tables[0].notes)
    assert result.folder is not None
    manifest = json.loads((result.folder / "manifest.json").read_text())
    assert manifest["image_size"] == {"max_pixels": 2359296}


def test_native_images_are_sent_as_they_are(cases, tmp_path):
    with ExamServer() as server:
        model = {"name": "m", "provider": "openai", "base_url": server.url, "model": "m", "cutoff": "2024"}
        result = run_base(cases, tmp_path, [model], image_size="native")
        assert sent_sizes(server) == {(SIDE, SIDE)}
    assert result.folder is not None
    assert result.folder.name == "cure-base-native"
    assert json.loads((result.folder / "manifest.json").read_text())["image_size"] == "native"
    assert "Images were sent in their native resolution." in result.tables[0].notes


def test_a_study_with_limited_images_keeps_its_hash():
    settings = {"name": "s", "cases": "c", "candidates": [{"name": "a", "provider": "random"}]}
    plain, limited, native = (
        Study.model_validate(settings | size) for size in ({}, {"image_size": "limited"}, {"image_size": "native"})
    )
    assert plain.hash == limited.hash != native.hash
