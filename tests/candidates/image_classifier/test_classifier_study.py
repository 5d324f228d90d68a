"""A network trained here, written as ONNX, examined from the command line: accuracy, calibration, image controls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from exam_study import wardround, write_cases
from onnx_networks import Values, write_network
from oracles.measure_oracle import ece
from PIL import Image as Picture
from sklearn.neural_network import MLPClassifier

SIDE, TRAINED, EXAMINED = 12, 240, 60
TEXTS = ["Stripes across", "Stripes down", "Plain"]
DESCRIPTION = """
activation = "softmax"
[image]
size = 12
channels = "grey"
filter = "box"
mean = 0.5
std = 0.25
[[classes]]
name = "stripes across"
[[classes]]
name = "Columns"
synonyms = ["Stripes down"]
[[classes]]
name = "Plain"
"""
STUDY = """
name = "stripes"
cases = "cases"
offline = true
[[candidates]]
name = "network"
provider = "classifier"
model = "net.onnx"
[[candidates]]
name = "random"
provider = "random"
[conditions]
confidence = "logprobs"
images = ["as-is", "blank", "swapped"]
degradation = ["none", "gaussian_noise@L2"]
"""


def picture(number: int) -> Values:
    """Faint stripes across, stripes down or none, in strong noise; twice the network's size."""
    wave = 9 * np.sin(np.arange(2 * SIDE) * 0.7)
    noise = np.random.default_rng(number).normal(0, 60, (2 * SIDE, 2 * SIDE))
    return np.clip(128 + (wave[:, None], wave[None, :], 0.0)[number % 3] + noise, 0, 255).astype(np.uint8)


def prepared_by_hand(pixels: Values) -> Values:
    """Means of two pixels across, then down, each rounded as Pillow's box filter does, then standardised."""
    means = np.floor(pixels.reshape(2 * SIDE, SIDE, 2).mean(axis=2) + 0.5)
    means = np.floor(means.reshape(SIDE, 2, SIDE).mean(axis=1) + 0.5)
    return ((means / 255 - 0.5) / 0.25).ravel()


def exam(number: int) -> dict[str, Any]:
    options = TEXTS[number % 2 :] + TEXTS[: number % 2]
    covered = {"id": "covered", "kind": "choice", "prompt": "?", "options": options}
    other = {"id": "other", "kind": "choice", "prompt": "?", "options": ["Plain", "Dots"], "gold": 0}
    questions = [covered | {"gold": options.index(TEXTS[number % 3])}, *([other] if number % 10 == 0 else [])]
    return {"id": f"s{number}", "images": [{"path": f"{number}.png"}], "questions": questions}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, MLPClassifier]:
    """The folder of the study, run, and the network that scikit-learn fitted."""
    folder = tmp_path_factory.mktemp("stripes")
    rows = np.stack([prepared_by_hand(picture(1000 + number)) for number in range(TRAINED)])
    network = MLPClassifier((16,), max_iter=400, random_state=0, alpha=5.0)
    network.fit(rows, [(1000 + number) % 3 for number in range(TRAINED)])
    layers = list(zip(network.coefs_, network.intercepts_, strict=True))
    write_network(folder / "net.onnx", layers, ["batch", 1, SIDE, SIDE])
    (folder / "net.toml").write_text(DESCRIPTION)
    (folder / "study.toml").write_text(STUDY)
    write_cases(folder / "cases", [exam(number) for number in range(EXAMINED)])
    for number in range(EXAMINED):
        Picture.fromarray(picture(number)).save(folder / "cases" / f"{number}.png")
    ended = wardround("run", "study.toml", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return folder, network


def measures(folder: Path, measure: str) -> dict[str, dict[str, Any]]:
    rows = pl.read_csv(folder / "runs" / "stripes" / "measures.csv").filter(
        pl.col("measure") == measure, pl.col("candidate") == "network"
    )
    return {row["slice"]: row for row in rows.iter_rows(named=True)}


def test_accuracy_and_calibration_are_those_of_the_trained_network(trained):
    folder, network = trained
    claims = []
    for number in range(EXAMINED):
        [shares] = network.predict_proba([prepared_by_hand(picture(number))])
        claims.append((float(shares.max()), int(shares.argmax() == number % 3)))
    accuracy, calibration = (measures(folder, f"{name}_in_the_limit")["{}"] for name in ("majority_accuracy", "ece"))
    assert accuracy["n"] == EXAMINED
    assert accuracy["value"] == pytest.approx(sum(right for _, right in claims) / EXAMINED)
    assert 0.4 < accuracy["value"] < 0.95, "too easy or too hard to say anything of calibration"
    assert calibration["value"] == pytest.approx(ece(claims), abs=1e-4)


def test_image_controls_and_degradations_reach_the_network(trained):
    folder, _ = trained
    by_slice = measures(folder, "majority_accuracy_in_the_limit")
    blank, swapped = by_slice['{"images":"blank"}'], by_slice['{"images":"swapped"}']
    assert blank["value"] == pytest.approx(1 / 3)  # one answer for all
    assert swapped["value"] < by_slice["{}"]["value"]
    marks = pl.read_parquet(folder / "runs" / "stripes" / "marks.parquet").filter(pl.col("candidate") == "network")
    degraded = pl.col("condition").str.json_path_match("$.degradation") == "gaussian_noise@L2"
    assert set(marks.filter(~degraded)["confidence"]).isdisjoint(marks.filter(degraded)["confidence"])


def test_questions_beyond_its_classes_are_counted_and_not_asked(trained):
    folder, _ = trained
    manifest = json.loads((folder / "runs" / "stripes" / "manifest.json").read_text())
    # six questions under three ways to show images, two of which are also degraded
    assert manifest["inapplicable"]["the options are not all classes of the network"] == 6 * (3 + 2)
    assert "network: 6 questions have options that no class names, such as 'Dots'; not asked" in manifest["warnings"]
    marks = pl.read_parquet(folder / "runs" / "stripes" / "marks.parquet").filter(pl.col("candidate") == "network")
    assert set(marks["question"]) == {"covered"}
    assert "ece" in (folder / "runs" / "stripes" / "report.html").read_text().lower()


def test_a_retrained_network_is_asked_again(trained, tmp_path):
    folder, network = trained
    shown = wardround("run", "study.toml", "--json", cwd=folder)
    layers = [(matrix * 1.01, bias) for matrix, bias in zip(network.coefs_, network.intercepts_, strict=True)]
    (folder / "net.onnx").rename(tmp_path / "net.onnx")
    write_network(folder / "net.onnx", layers, ["batch", 1, SIDE, SIDE])
    try:
        again = wardround("run", "study.toml", "--json", "--runs", str(tmp_path / "runs"), cwd=folder)
    finally:
        (tmp_path / "net.onnx").replace(folder / "net.onnx")
    assert shown.returncode == again.returncode == 0
    revisions = [
        json.loads((runs / "stripes" / "manifest.json").read_text())["candidates"][0]["revision"]
        for runs in (folder / "runs", tmp_path / "runs")
    ]
    assert len(set(revisions)) == 2
