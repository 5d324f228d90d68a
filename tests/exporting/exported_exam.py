"""A small case set with images and a run on it, for the tests of exports."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from exam_study import wardround
from PIL import Image

from wardround.cases.set import write_case_set
from wardround.core.case import Case


def png(shade: int, side: int = 24) -> bytes:
    file = io.BytesIO()
    Image.new("L", (side, side), shade).save(file, "PNG")
    return file.getvalue()


def image_cases() -> list[dict[str, Any]]:
    """Choices with two to five options, one or two images, quotes, tabs and formulas in texts, and an open question."""
    cases = []
    for number in range(8):
        options = [f"disease {number}{letter}" for letter in "abcde"[: 2 + number % 4]]
        choice = {"id": "mcq", "kind": "choice", "prompt": f'Which "one",\tnow? {number}', "options": options}
        choice |= {"gold": number % len(options), "skill": "Diagnosis" if number % 2 else "Modality"}
        questions = [choice]
        if number == 3:
            questions.append(
                {"id": "open", "kind": "open", "prompt": "=Name it.", "gold": "gout", "accept": ["podagra"]}
            )
        paths = [f"images/{number}-{place}.png" for place in range(1 + number % 2)]
        cases.append(
            {
                "id": f"case-{number}",
                "split": "test",
                "cluster": f"patient-{number}",
                "tags": ["rare", "two words"] if number % 3 == 0 else [],
                "patient": {"age": 40 + number, "sex": "F"},
                "history": f"History of ä\npatient {number}.",
                "images": [{"path": path, "modality": "CT"} for path in paths],
                "questions": questions,
                "own_field": {"kept": [1, 2.5, None]},
            }
        )
    return cases


def write_image_cases(folder: Path) -> Path:
    (folder / "images").mkdir(parents=True)
    cases = image_cases()
    shade = 0
    for case in cases:
        for image in case["images"]:
            shade += 7
            (folder / image["path"]).write_bytes(png(shade, side=24 if shade % 2 else 300))
    write_case_set(map(Case.model_validate, cases), folder)
    return folder


def make_run(folder: Path) -> Path:
    """Two simulated candidates, two trials, two conditions; options are rotated."""
    write_image_cases(folder / "cases")
    study = """name = "exam"
cases = "cases"
trials = 2
questions = ["mcq"]

[sampling]
temperature = 0.5

[conditions]
images = ["as-is", "blank"]
options = "rotated"
"""
    for name, accuracy in (("strong", 0.9), ("weak", 0.4)):
        study += (
            f'\n[[candidates]]\nname = "{name}"\nprovider = "simulated"\nextra_body = {{ accuracy = {accuracy} }}\n'
        )
    (folder / "study.toml").write_text(study)
    result = wardround("run", "study.toml", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder / "runs" / "exam"
