"""A small set in MedQ-Deg's shape: clean questions and their degraded twins, of three modalities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

TYPES = {
    "CT": ("reduce_contrast", "gaussian_noise"),
    "MRI": ("adjust_brightness", "gaussian_noise"),
    "X-ray": ("exposure", "reduce_contrast"),
}
CAPABILITIES = ("Clinical Understanding", "Anatomical Recognition", "Diagnosis Reasoning")


def medq_deg_cases(folder: Path, many: int = 36, *, real: bool = False, stored: bool = False) -> Path:
    """Each case has a clean question and its twins at L1 and L2 of two types; `stored` gives each its own image.

    `real` adds as many cases with really degraded images, mild and severe in turn.
    """
    folder.mkdir(parents=True)
    random = np.random.default_rng(7)
    lines = []
    for number in range(many):
        modality = list(TYPES)[number % 3]
        grey = random.normal(110, 25, (24, 32))
        images: list[dict[str, Any]] = [_saved(folder, f"{number}.png", grey, modality)]
        questions = [_question("q", number, **({"images": [0]} if stored else {}))]
        for type in TYPES[modality]:
            for level in ("L1", "L2"):
                fields: dict[str, Any] = {"of": "q", "degradations": [f"{type}@{level}"]}
                if stored:
                    fields["images"] = [len(images)]
                    worn = grey + random.normal(0, 10 * int(level[1]), grey.shape)
                    images.append(_saved(folder, f"{number}-{type}-{level}.png", worn, modality, [f"{type}@{level}"]))
                questions.append(_question(f"{type}-{level}", number, **fields))
        lines.append({"id": f"case-{number}", "images": images, "questions": questions})
        if real:
            level = ("real@mild", "real@severe")[number // 3 % 2]
            image = _saved(folder, f"real-{number}.png", random.normal(110, 25, (24, 32)), modality, [level])
            lines.append({"id": f"real-{number}", "images": [image], "questions": [_question("q", 1000 + number)]})
    (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def _question(id: str, number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "kind": "choice",
        "prompt": f"What does image {number} show?",
        "options": [f"finding {number} {kind}" for kind in ("alpha", "beta", "gamma", "delta")],
        "gold": number % 4,
        "capability": CAPABILITIES[number // 3 % 3],
        "skill": f"skill {number // 3 % 4}",
        **more,
    }


def _saved(
    folder: Path, name: str, grey: np.ndarray, modality: str, degradations: list[str] | None = None
) -> dict[str, Any]:
    Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8)).save(folder / name)
    image: dict[str, Any] = {"path": name, "modality": modality}
    return image | ({"degradations": degradations} if degradations else {})
