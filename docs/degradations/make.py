"""Draws the contact sheets of docs/degradations.md, from images that installed packages hold.

python docs/degradations/make.py [OUT_DIR]. Needs scikit-image (`pip install "wardround[demo]"`).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from PIL import Image as Picture
from pydicom.data import get_testdata_file
from skimage import data

from wardround.core.case import Image
from wardround.degrade.files import CopyRenderer, DegradedCopy, load_displayed
from wardround.degrade.severities import CLINICAL, LEVELS
from wardround.degrade.sheet import contact_sheet

TILE = 300
QUALITY = 82


class Sheet(NamedTuple):
    """An image, by its file in pydicom or its function in scikit-image, and what is shown of it."""

    image: str
    modality: str
    types: tuple[str, ...]


# every type once: those of a modality on their own, the general ones spread over all
SHEETS = {
    "ct": Sheet(
        "J2K_pixelrep_mismatch.dcm",
        "CT",
        ("limited_angle", "sparse_view", "low_dose", "object_rotation", "reduce_contrast"),
    ),
    "mri": Sheet(
        "examples_overlay.dcm",
        "MRI",
        ("bias_field", "undersampling", "ghosting", "object_movement", "gaussian_noise"),
    ),
    "ultrasound": Sheet("examples_rgb_color.dcm", "Ultrasound", ("adjust_brightness", "low_resolution")),
    "fundus": Sheet("retina", "Fundus photography", ("exposure", "gaussian_blur")),
    "histopathology": Sheet(
        "immunohistochemistry", "Histopathology", ("blood_cell", "dark_spots", "bubble", "motion_blur")
    ),
}


def file_of(sheet: Sheet, folder: Path) -> Path:
    if sheet.image.endswith(".dcm"):
        return Path(str(get_testdata_file(sheet.image, download=False)))
    file = folder / f"{sheet.image}.png"
    whole = Picture.fromarray(getattr(data, sheet.image)())
    whole.thumbnail((768, 768))
    whole.save(file)
    return file


def drawn(sheet: Sheet, folder: Path) -> Picture.Image:
    file = file_of(sheet, folder)
    image = Image(path=file.name, modality=sheet.modality)
    clean = load_displayed(file, image)
    rows = []
    for type in sheet.types:
        copies = [DegradedCopy(type, severity, "") for severity in LEVELS.values() if severity]
        rows.append((type, [clean, *(load_displayed(file, image, CopyRenderer(copy, CLINICAL)) for copy in copies)]))
    return contact_sheet(rows, list(LEVELS), TILE)


def main() -> None:
    out = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        for name, sheet in SHEETS.items():
            drawn(sheet, Path(folder)).save(out / f"{name}.jpg", quality=QUALITY, optimize=True)


if __name__ == "__main__":
    main()
