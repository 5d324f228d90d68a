"""Draws MedQ-Deg's figures for docs/figures.md: simulated candidates on images that installed packages hold.

python docs/figures/make_medq_deg.py [WORK_DIR]. Three modalities have drawn stand-ins (tests/degrade/real_images.py).
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "degrade"))
from real_images import real_image  # noqa: E402

from wardround.benchmarks.engine.bench import bench  # noqa: E402
from wardround.degrade.types import TYPES, fits  # noqa: E402

SIDE, CASES, REAL_CASES, PER_CASE = 224, 56, 42, 2
SHOWN = {"medq-deg-fig1.png": 2 / 3}  # of the height: four of six pairs
MAX_BYTES, COLOURS = 150_000, 128
IMAGES = {
    "CT": ("J2K_pixelrep_mismatch.dcm", "CT_small.dcm", "explicit_VR-UN.dcm"),
    "MRI": ("examples_overlay.dcm", "MR2_UNCI.dcm", "MR_small.dcm"),
    "X-ray": ("chest", "RG1_UNCI.dcm"),
    "Ultrasound": ("US1_UNCI.dcm",),
    "Dermoscopy": ("dermoscopy",),
    "Histopathology": ("immunohistochemistry",),
    "Endoscopy": ("endoscopy",),
}
SKILLS = (
    ("Clinical Understanding", "Disease Diagnosis"),
    ("Imaging Perception", "Counting"),
    ("Anatomical Recognition", "Abdominal Structures"),
    ("Basic Science Reasoning", "General Science Reasoning"),
    ("Diagnosis Reasoning", "General Diagnosis Reasoning"),
    ("Treatment Reasoning", "Pharmacological Treatment"),
)
OPTIONS = ["No abnormality", "A focal lesion", "A diffuse change", "A foreign body"]
GROUPS = {"commercial": (0.95, 0.88, 0.80), "open": (0.90, 0.76, 0.66), "medical": (0.92, 0.84, 0.72)}
FIGURES = {  # study: the picture of its run, and the name here
    "fig1": (("pairs.png", "medq-deg-fig1.png"),),
    "fig4": (("figure.png", "medq-deg-fig4.png"),),
    "fig3": (("figure.png", "medq-deg-fig3.png"),),
    "fig7": (("figure.png", "medq-deg-fig7.png"), ("figure-2.png", "medq-deg-fig7-lines.png")),
    "fig8": (("figure.png", "medq-deg-fig8.png"),),
    "fig9": (("ct.png", "medq-deg-fig9.png"), ("mri.png", "medq-deg-fig9-mri.png")),
    "fig5a": (("map.png", "medq-deg-fig5a.png"),),
    "fig5b": (("ranks.png", "medq-deg-fig5b.png"),),
}


def write_cases(folder: Path, count: int, real: bool = False) -> Path:
    """Cases of all modalities, each with two types at L1 and L2; `real` adds images with defects of their own."""
    folder.mkdir(parents=True)
    random, lines = np.random.default_rng(3), []
    for number in range(count):
        modality = list(IMAGES)[number % len(IMAGES)]
        names = IMAGES[modality]
        pixels = _small(real_image(names[number // len(IMAGES) % len(names)]))
        pixels[:2, :2] = number  # each file is another image
        Image.fromarray(pixels).save(folder / f"{number}.png")
        capability, skill = SKILLS[number % len(SKILLS)]
        question = {"id": "q", "kind": "choice", "prompt": f"Which finding does this {modality} image show?"}
        question |= {"options": OPTIONS, "gold": int(random.integers(4)), "capability": capability, "skill": skill}
        types = random.permutation([type for type in TYPES if fits(type, modality)])
        own = [type for type in types if not fits(type, None)]
        chosen = list(dict.fromkeys([*own[:1], *types]))[:PER_CASE]
        twins = [(type, level) for type in chosen for level in ("L1", "L2")]
        questions = [question]
        questions += [question | {"id": f"{t}-{v}", "of": "q", "degradations": [f"{t}@{v}"]} for t, v in twins]
        image = {"path": f"{number}.png", "modality": modality}
        lines.append({"id": f"case-{number}", "images": [image], "questions": questions})
        if real:
            level = ("real@mild", "real@severe")[number // len(IMAGES) % 2]
            noisy = 0.8 * pixels.astype(float) + random.normal(0, 12, pixels.shape)
            Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(folder / f"real-{number}.png")
            image = {"path": f"real-{number}.png", "modality": modality, "degradations": [level]}
            lines.append({"id": f"real-{number}", "images": [image], "questions": [question]})
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def _small(image: np.ndarray) -> np.ndarray:
    picture = Image.fromarray(image).convert("RGB" if image.ndim == 3 else "L")
    factor = SIDE / max(picture.size)
    return np.array(picture.resize((round(picture.width * factor), round(picture.height * factor))))


def candidates() -> list[dict[str, Any]]:
    """Three in each of the paper's groups, which lose a little at L1 and more at L2, and stay as sure."""
    planted = []
    for group, accuracies in GROUPS.items():
        for letter, accuracy in zip("abc", accuracies, strict=True):
            levels = (("L1", 0.03), ("L2", 0.18), ("severe", 0.15), ("mild", 0.03))
            by = [{"when": {"severity": level}, "accuracy": accuracy - fall} for level, fall in levels]
            truth = {"seed": len(planted), "accuracy": accuracy, "sharpness": 0.9, "by": by}
            planted.append({"name": f"{group}-{letter}", "provider": "simulated", "group": group, "extra_body": truth})
    return planted


def main(work: Path) -> None:
    clean, with_real = write_cases(work / "cases", CASES), write_cases(work / "real", REAL_CASES, real=True)
    for study, pictures in FIGURES.items():
        cases = with_real if study.startswith("fig5") else clean
        asked = [] if study in ("fig9", "fig5a") else candidates()
        result = bench(f"medq-deg/{study}", cases=cases, candidates=asked, runs=work / "runs")
        assert result.folder is not None
        print(study, [file.name for file in result.files], flush=True)
        for name, target in pictures:
            if (result.folder / name).is_file():
                write_small(result.folder / name, HERE / target)


def write_small(source: Path, target: Path) -> None:
    """At most 1,400 pixels wide, with few colours, and made smaller until it has less than 150 kB."""
    picture = Image.open(source).convert("RGB")
    picture = picture.crop((0, 0, picture.width, round(SHOWN.get(target.name, 1) * picture.height)))
    width = min(picture.width, 1400)
    while True:
        size = width, round(picture.height * width / picture.width)
        picture.resize(size, Image.Resampling.LANCZOS).quantize(COLOURS, dither=Image.Dither.NONE).save(
            target, optimize=True
        )
        if target.stat().st_size < MAX_BYTES:
            return
        width = round(0.85 * width)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        shutil.rmtree(sys.argv[1], ignore_errors=True)
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
