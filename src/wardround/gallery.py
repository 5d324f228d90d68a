"""The gallery: a report with findings, made in seconds with simulated respondents on cases without meaning.

It shows what the program says of a candidate that is good, blind, overconfident or leaning on the options.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from wardround.cases.set import write_case_set
from wardround.core.case import Case
from wardround.core.random import seeded
from wardround.pipeline import RunOutcome, run_study

CASES, SIDE = 240, 48
MODALITIES = ("CT", "MR", "X-ray")
GALLERY_STUDY = """# What the report says of four kinds of candidates. Their answers are drawn by chance.
name = "gallery"
cases = "gallery-cases"
seed = 1
offline = true

[[candidates]]
name = "good"
provider = "simulated"
[candidates.extra_body]
accuracy = 0.86
confidence = { right = 0.9, wrong = 0.55 }
mode = "independent"
by = [
  { when = { images = "swapped" }, accuracy = 0.35 },
  { when = { stem = "options-only" }, accuracy = 0.25 },
  { when = { images = "as-is", severity = "L2" }, accuracy = 0.55 },
  { when = { images = "as-is", stem = "full", degradation = "none", tag = "rare" }, accuracy = 0.5 },
]

[[candidates]]
name = "blind"
provider = "simulated"
[candidates.extra_body]
accuracy = 0.58
confidence = 0.58
unparsed = 0.06
mode = "independent"
by = [{ when = { stem = "options-only" }, accuracy = 0.25 }]

[[candidates]]
name = "overconfident"
provider = "simulated"
[candidates.extra_body]
accuracy = 0.66
confidence = 0.97
mode = "independent"
by = [
  { when = { images = "swapped" }, accuracy = 0.4 },
  { when = { stem = "options-only" }, accuracy = 0.25 },
]

[[candidates]]
name = "leaning on the options"
provider = "simulated"
[candidates.extra_body]
accuracy = 0.6
confidence = 0.62
seed = 2

[conditions]
images = ["as-is", "swapped"]
stem = ["full", "options-only"]
degradation = ["none", "gaussian_noise@L1", "gaussian_noise@L2"]
confidence = "verbal"

[acceptance]
useful = { measure = "accuracy", threshold = 0.7, primary = true }
"""
GALLERY_NOTES = (
    "This is the gallery: what a report says of candidates whose strengths and faults are known. All candidates are "
    "simulated respondents on 240 invented cases without meaning; nothing here says anything about a real model.",
)


def make_gallery(folder: Path, *, note: Callable[[str], None] = print) -> RunOutcome:
    """Writes the cases and runs the study of the gallery; its report is in runs/gallery."""
    images = folder / "gallery-cases" / "images"
    images.mkdir(parents=True, exist_ok=True)
    write_case_set(_cases(images), folder / "gallery-cases")
    file = folder / "gallery.toml"
    file.write_text(GALLERY_STUDY, encoding="utf-8")
    return run_study(file, runs=folder / "runs", notes=GALLERY_NOTES, quiet=True, note=note)


def _cases(images: Path) -> Iterator[Case]:
    """Cases of three modalities, a quarter of them rare, with a small blurred picture each."""
    for number in range(CASES):
        _draw(images / f"{number}.png", number)
        options = [f"Disease {number}{letter}" for letter in "abcd"]
        question = {"id": "diagnosis", "kind": "choice", "prompt": "Which disease?", "options": options}
        yield Case.model_validate(
            {
                "id": f"invented-{number:03}",
                "history": f"An invented patient with the number {number}.",
                "patient": {"age": (12, 30, 52, 75)[number // 8 % 4], "sex": "FM"[number // 4 % 2]},
                "tags": ["rare"] if number % 4 == 1 else [],
                "images": [{"path": f"images/{number}.png", "modality": MODALITIES[number % 3]}],
                "questions": [{**question, "gold": (number * 7) % 4}],
            }
        )


def _draw(path: Path, number: int) -> None:
    """A grey disc on a dark ground, another one for every case."""
    draw = seeded("gallery", str(number))
    x, y = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
    distance = np.hypot(x - draw.uniform(16, 32), y - draw.uniform(16, 32))
    pixels = 30 + 170 / (1 + np.exp(distance - draw.uniform(6, 14)))
    Image.fromarray(pixels.astype(np.uint8)).save(path)
