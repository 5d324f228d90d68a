"""Draws ClinBench's figures from simulated respondents: `python docs/figures/make_clinbench.py [STUDY...]`.

Patients are invented. Figure 1: three easy case sets and a hard one. Figure 5: two respondents that a prompt for
reasoning makes better and steadier. Figure 6: a set with the 11 specialties in the sizes that the paper's percentages
suggest, divided by ten.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from make_cure import write_small
from PIL import Image

from wardround.benchmarks.engine.bench import bench
from wardround.cases.readers.clinbench import SPECIALTIES

HERE = Path(__file__).parent
FIGURES = {
    "fig1": {"figure": "fig1"},
    "fig5": {"worst": "fig5", "worst-by-run": "fig5-by-run"},
    "fig6": {"figure": "fig6"},
}
SIZES = (40, 10, 29, 12, 20, 17, 6, 8, 10, 33, 6)  # of the specialties, in the paper's order
EASY, HARD = ("exam set 1", "exam set 2", "exam set 3"), "journal cases"


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    for study in sys.argv[1:] or FIGURES:
        cases, candidates = globals()[f"make_{study}"](folder / study)
        settings: dict[str, Any] = {"cases": cases, "candidates": candidates, "runs": folder / "runs"}
        result = bench(f"clinbench/{study}", note=lambda text: None, **settings)
        for file in result.files:
            if file.suffix == ".png" and file.stem in FIGURES[study]:
                write_small(file, HERE / f"clinbench-{FIGURES[study][file.stem]}.png")
    shutil.rmtree(folder)


def make_fig1(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """All are near 90% on the easy sets; on the hard one they differ."""
    for name in (*EASY, HARD):
        write_set(folder / name, [case(number, split=name) for number in range(200)])
    skills = {"model A": 0.55, "model B": 0.47, "model C": 0.38, "model D": 0.3, "model E": 0.22}
    candidates = []
    for seed, (name, accuracy) in enumerate(skills.items()):
        easy = [{"when": {"split": split}, "accuracy": 0.93 - 0.012 * seed} for split in EASY]
        candidates.append(simulated(name, seed=seed, accuracy=accuracy, by=easy))
    return folder, candidates


def make_fig5(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    candidates = []
    for seed, (name, accuracy) in enumerate({"large": 0.5, "small": 0.3}.items()):
        when = {"prompt": "clinbench-reasoning"}
        with_reasoning = [{"when": when, "accuracy": accuracy + 0.06, "sharpness": 0.97}]
        candidates.append(simulated(name, seed=seed, accuracy=accuracy, sharpness=0.85, by=with_reasoning))
    return write_set(folder, [case(number) for number in range(150)]), candidates


def make_fig6(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    names = [name for name, size in zip(SPECIALTIES.values(), SIZES, strict=True) for _ in range(size)]
    return write_set(folder, [case(number, specialty=name) for number, name in enumerate(names)]), []


def simulated(name: str, **truth: Any) -> dict[str, Any]:
    return {"name": name, "provider": "simulated", "extra_body": truth}


def case(number: int, **fields: Any) -> dict[str, Any]:
    """A patient told in text and, except every fifth, with an image."""
    options = [f"disease {number} {letter}, {fields.get('split', '')}" for letter in "abcdefgh"]
    question = {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": options, "gold": number % 8}
    tellings: dict[str, Any] = {"text": {"history": f"Patient {number} coughs; the CT shows a node.", "images": []}}
    if number % 5:
        tellings["multimodal"] = {"history": f"Patient {number} coughs. The CT is shown.", "images": [0]}
    images = [{"path": "scan.png", "modality": "CT"}]
    name = "-".join(filter(None, (fields.get("split"), f"case-{number}")))
    return {"id": name, "images": images, "tellings": tellings, "questions": [question], **fields}


def write_set(folder: Path, cases: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True)
    Image.new("L", (16, 16), 90).save(folder / "scan.png")
    (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in cases))
    return folder


if __name__ == "__main__":
    main()
