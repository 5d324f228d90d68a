"""A small pool of clean questions: on images of the installed packages, and on drawn ones for other modalities."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import skimage
from PIL import Image
from pydicom.data import get_testdata_file

SHARED = Path(__file__).parents[4] / "shared" / "data" / "images"  # real images, which a plain clone does not have
DICOM = {
    "ct.dcm": ("CT_small.dcm", "CT"),
    "head.dcm": ("J2K_pixelrep_mismatch.dcm", "CT"),
    "mr.dcm": ("examples_overlay.dcm", "MR"),
    "mr2.dcm": ("MR_small.dcm", "MRI"),
    "us.dcm": ("examples_ybr_color.dcm", "US"),
}
DRAWN = {"chest.png": "X-Ray", "mole.jpg": "Dermoscopy", "polyp.jpg": "Endoscopy"}
ORGANS = ["a liver", "a kidney", "a spleen", "a brain"]


def put_images(folder: Path) -> dict[str, str]:
    """Writes the images; gives their paths with the modality of each as a source would spell it."""
    (folder / "images").mkdir(parents=True)
    modality_by_path = {}
    for name, (file, modality) in DICOM.items():
        shutil.copyfile(str(get_testdata_file(file)), folder / "images" / name)
        modality_by_path[f"images/{name}"] = modality
    slide = Image.open(Path(skimage.__file__).parent / "data" / "ihc.png")
    for number in range(4):
        slide.crop((128 * number, 0, 128 * number + 128, 128)).save(folder / "images" / f"slide-{number}.png")
        modality_by_path[f"images/slide-{number}.png"] = "Pathology"
    for seed, (name, modality) in enumerate(DRAWN.items()):
        draw_picture(seed, "L" if modality == "X-Ray" else "RGB").save(folder / "images" / name)
        modality_by_path[f"images/{name}"] = modality
    return modality_by_path


def draw_picture(seed: int, mode: str) -> Image.Image:
    """An invented image with structures of many sizes, as scans and photographs have."""
    coarse = np.random.default_rng(seed).integers(0, 255, (24, 24, len(mode)), dtype=np.uint8)
    return Image.fromarray(coarse.squeeze()).resize((288, 240), Image.Resampling.BICUBIC)


def question(id: str = "q", **fields: Any) -> dict[str, Any]:
    prompt = "Which organ is shown in this image?"
    return {"id": id, "kind": "choice", "prompt": prompt, "options": ORGANS, "gold": 0} | fields


def write_pool(folder: Path, cases: Sequence[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return folder


def small_pool(folder: Path) -> Path:
    """One case per image, with two questions."""
    cases = [
        {
            "id": f"case-{number:02}",
            "split": "test" if number % 2 else "dev",
            "tags": ["kept"],
            "images": [{"path": path, "modality": modality}],
            "questions": [
                question(label="Disease Diagnosis"),
                question("where", prompt="On which side does the lesion lie?", options=["left", "right"], label="Bone"),
            ],
        }
        for number, (path, modality) in enumerate(put_images(folder).items())
    ]
    return write_pool(folder, cases)
