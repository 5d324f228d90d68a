"""Small case sets in the shape of each benchmark, and candidates with a planted truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import Image

STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
STRONG = "strong=simulated,extra_body.accuracy=0.8,extra_body.hit1=0.5,extra_body.hit3=0.7,extra_body.sharpness=0.9"
WEAK = "weak=simulated,extra_body.accuracy=0.4,extra_body.hit1=0.2,extra_body.hit3=0.3,extra_body.sharpness=0.7"


def options(number: int, stem: str = "disease") -> list[str]:
    return [f"{stem} {number} {kind}" for kind in ("alpha", "beta", "gamma", "delta")]


def choice(id: str, number: int, **more: Any) -> dict[str, Any]:
    prompt = f"What does patient {number} have at {id}?"
    return {"id": id, "kind": "choice", "prompt": prompt, "options": options(number, id), "gold": number % 4, **more}


def write(folder: Path, cases: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("L", (8, 8), 90).save(folder / "scan.png")
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return folder


def cure_cases(folder: Path, many: int = 40) -> Path:
    """A choice and an open question each; history, an image and findings."""
    return write(
        folder,
        [
            {
                "id": f"case-{number}",
                "specialty": ("neuro", "chest", "abdomen")[number % 3],
                "patient": {"age": 20 + number, "sex": "FM"[number % 2]},
                "history": f"History of patient {number}.",
                "findings": f"Findings of patient {number}.",
                "images": [{"path": "scan.png", "modality": ("CT", "MR")[number % 2]}] * (1 + number % 2),
                "references": [{"pmid": str(1000 + number)}] * (number % 3),
                "questions": [
                    choice("mcq", number),
                    {"id": "open", "kind": "open", "prompt": f"Diagnose {number}.", "gold": f"disease {number} x"},
                ],
            }
            for number in range(many)
        ],
    )


def xpcr_cases(folder: Path, many: int = 24) -> Path:
    """One chain of six stages a case; levels go round."""
    cases = []
    for number in range(many):
        given: list[str] = []
        asked = []
        for place, stage in enumerate(STAGES):
            level = "RAS"[(number + place) % 3]
            asked.append(choice(stage.lower(), number, stage=stage, chain=f"c{number}", given=given, grade=level))
            given = [stage.lower()]
        image = {"path": "scan.png", "modality": ("CFP", "OCT")[number % 2]}
        facts = {"history": f"History of patient {number}.", "disease": ("DR", "AMD", "Stargardt")[number % 3]}
        cases.append({"id": f"eye-{number}", **facts, "images": [image], "questions": asked})
    return write(folder, cases)


def clinbench_cases(folder: Path, many: int = 40) -> Path:
    """Told in text and with images, two of the paper's specialties and one of our own, a third rare."""
    specialties = ("Surgery", "Gastroenterology and Hematology", "Radiology")
    return write(
        folder,
        [
            {
                "id": f"case-{number}",
                "specialty": specialties[number % 3],
                "tags": ["rare" if number % 3 == 0 else "non-rare"],
                "images": [{"path": "scan.png", "modality": "CT"}],
                "tellings": {
                    "text": {"history": f"Patient {number}, the scan shows a mass.", "images": []},
                    "multimodal": {"history": f"Patient {number}, see the scan.", "images": [0]},
                },
                "questions": [choice("mcq", number)],
            }
            for number in range(many)
        ],
    )
