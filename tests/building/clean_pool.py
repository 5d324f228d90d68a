"""A small pool of clean questions on real images: of the installed packages, and of the shared data where it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import skimage
from PIL import Image
from pydicom.data import get_testdata_file

SHARED = Path(__file__).parents[3] / "shared" / "data" / "images"
DICOM = {
    "ct.dcm": ("CT_small.dcm", "CT"),
    "head.dcm": ("J2K_pixelrep_mismatch.dcm", "CT"),
    "mr.dcm": ("examples_overlay.dcm", "MR"),
    "mr2.dcm": ("MR_small.dcm", "MRI"),
    "us.dcm": ("examples_ybr_color.dcm", "US"),
}
OF_SHARED = {
    "cxr_nih_00000001.png": "X-Ray",
    "derm_ISIC_0000000.jpg": "Dermoscopy",
    "endo_kvasirseg_cju0qkwl35piu0993l0dewei2.jpg": "Endoscopy",
}
ORGANS = ["a liver", "a kidney", "a spleen", "a brain"]


def put_images(folder: Path) -> dict[str, str]:
    """Writes the images; gives their paths with the modality of each as a source would spell it."""
    (folder / "images").mkdir(parents=True)
    found = {}
    for name, (file, modality) in DICOM.items():
        shutil.copyfile(str(get_testdata_file(file)), folder / "images" / name)
        found[f"images/{name}"] = modality
    slide = Image.open(Path(skimage.__file__).parent / "data" / "ihc.png")
    for number in range(4):
        slide.crop((128 * number, 0, 128 * number + 128, 128)).save(folder / "images" / f"slide-{number}.png")
        found[f"images/slide-{number}.png"] = "Pathology"
    for name, modality in OF_SHARED.items():
        if (SHARED / name).is_file():
            shutil.copyfile(SHARED / name, folder / "images" / name)
            found[f"images/{name}"] = modality
    return found


def question(id: str = "q", **fields: Any) -> dict[str, Any]:
    told = {"id": id, "kind": "choice", "prompt": "Which organ is shown in this image?", "options": ORGANS, "gold": 0}
    return told | fields


def write_pool(folder: Path, cases: Sequence[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in cases), encoding="utf-8")
    return folder


def real_pool(folder: Path) -> Path:
    """One case an image, two questions each."""
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
