"""Runs for tests of the explorer: simulated candidates on small cases with images, chains and degraded questions."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
from exam_study import wardround
from PIL import Image, ImageDraw, ImageFilter

MODALITIES = ("Histopathology", "CT", "X-Ray")
SPECIALTIES = ("pathology", "neuro", "chest")
DIAGNOSES = ("adenocarcinoma", "lymphoma", "granuloma", "abscess", "infarct", "metastasis")
SIGNS = ("a lump", "night sweats", "a cough", "fever", "sudden weakness", "weight loss")
CANDIDATES = {  # right clean, right at L2
    "resident-8b": (0.8, 0.62),
    "student-2b": (0.62, 0.35),
    "coin": (0.25, 0.25),
}


def picture(number: int, modality: str, size: int = 192) -> Image.Image:
    """A drawn image, another one for every number: cells in pink, a slice in grey, ribs on black."""
    draw_from = random.Random(f"{number} {modality}")
    if modality == "Histopathology":
        image = Image.new("RGB", (size, size), (236, 200, 216))
        pen = ImageDraw.Draw(image)
        for _ in range(140):
            x, y, r = draw_from.randrange(size), draw_from.randrange(size), draw_from.randrange(3, 7)
            pen.ellipse((x - r, y - r, x + r, y + r), fill=(110 + draw_from.randrange(40), 60, 130))
        return image
    image = Image.new("L", (size, size), 12)
    pen = ImageDraw.Draw(image)
    if modality == "CT":
        pen.ellipse((16, 24, size - 16, size - 24), fill=210)
        pen.ellipse((24, 32, size - 24, size - 32), fill=96)
        x, y = draw_from.randrange(50, 130), draw_from.randrange(60, 130)
        pen.ellipse((x, y, x + 26, y + 20), fill=160)
    else:
        for rib in range(6):
            pen.arc((20, 10 + 26 * rib, size - 20, 70 + 26 * rib), 200, 340, fill=190, width=5)
        pen.ellipse((70, 80, 130, 160), fill=150)
    noise = np.random.default_rng(number).normal(0, 6, (size, size))
    values = np.clip(np.asarray(image.filter(ImageFilter.GaussianBlur(1))) + noise, 0, 255)
    return Image.fromarray(values.astype(np.uint8))


def explored_case(number: int) -> dict[str, Any]:
    """A case with a choice, an open question and a degraded twin; every fourth has a chain, every fifth is rare."""
    kind = number % 3
    options = [DIAGNOSES[(number + step) % 6] for step in range(4)]
    gold = (number * 7) % 4
    mcq = {"id": "mcq", "kind": "choice", "prompt": "What is the most likely diagnosis?", "options": options}
    questions: list[dict[str, Any]] = [
        {**mcq, "gold": gold, "skill": "Disease Diagnosis"},
        {**mcq, "id": "mcq-deg", "gold": gold, "of": "mcq", "degradations": ["gaussian_noise@L2"]},
        {"id": "open", "kind": "open", "prompt": "Name the diagnosis.", "gold": options[gold]},
    ]
    if number % 4 == 0:
        given: list[str] = []
        for stage in ("IQA", "AL", "DD"):
            asked = {"id": stage.lower(), "kind": "choice", "prompt": f"Stage {stage}: what do you see?"}
            asked |= {"stage": stage, "chain": "c", "given": list(given), "options": options, "gold": gold}
            questions.append(asked)
            given.append(stage.lower())
    sign = SIGNS[number % 6]
    return {
        "id": f"case-{number:03}",
        "specialty": SPECIALTIES[kind],
        "tags": ["rare"] if number % 5 == 0 else [],
        "patient": {"age": 20 + (number * 13) % 60, "sex": "FM"[number % 2]},
        "history": f"A patient, {20 + (number * 13) % 60}, with {sign} for {2 + number % 9} weeks.",
        "images": [{"path": f"images/{number:03}.png", "modality": MODALITIES[kind]}],
        "questions": questions,
    }


def write_explored_cases(folder: Path, count: int) -> None:
    (folder / "images").mkdir(parents=True)
    cases = [explored_case(number) for number in range(count)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    for number in range(count):
        picture(number, MODALITIES[number % 3]).save(folder / "images" / f"{number:03}.png")


def explored_study(name: str = "explored", candidates: dict[str, tuple[float, float]] | None = None) -> str:
    """Clean and degraded images, three trials, stated confidence, open answers judged by rule."""
    lines = [
        f'name = "{name}"\ncases = "cases"\ntrials = 3\nseed = 1\noffline = true',
        '[conditions]\ndegradation = ["none", "gaussian_blur@L2", "assigned"]\nconfidence = "verbal"',
        '[judge]\nprovider = "lexical"',
    ]
    for candidate, (clean, degraded) in (candidates or CANDIDATES).items():
        planted = f'accuracy = {clean}, sharpness = 0.8, phrasing = "sentence", unparsed = 0.04, hit1 = {clean}'
        stated = "confidence = { right = 0.9, wrong = 0.7 }"
        by = f'by = [{{ when = {{ severity = "L2" }}, accuracy = {degraded} }}]'
        lines.append(
            f'[[candidates]]\nname = "{candidate}"\nprovider = "simulated"\nmodel = "{candidate}"\n'
            f"extra_body = {{ {planted}, {stated}, {by} }}"
        )
    return "\n\n".join(lines) + "\n"


def write_explored_run(folder: Path, count: int = 36) -> Path:
    """A workspace with cases, a study, its run and its answers; gives the run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_explored_cases(folder / "cases", count)
    (folder / "study.toml").write_text(explored_study())
    ran = wardround("run", "study.toml", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return folder / "runs" / "explored"
