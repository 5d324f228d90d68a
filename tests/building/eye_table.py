"""A table of eye images as a clinic would give it: patches of a real fundus with lesions drawn in, and its labels."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from skimage import data

SIDE = 160
COLUMNS = [
    *("image", "patient", "eye", "modality", "disease", "anatomy", "lesions", "grade", "quality", "age", "sex"),
    *("date", "case", "history", "split", "source"),
]
# disease: (its images: modality, anatomy, lesions) of one eye; grades go round
EYES: dict[str, list[tuple[str, str, str]]] = {
    "diabetic retinopathy": [("CFP", "macula", "microaneurysms|dot and blot haemorrhages")],
    "DME": [
        ("CFP", "macula", "hard exudates"),
        ("OCT", "inner retina", "intraretinal cystoid spaces"),
        ("FFA", "macula", "late petaloid leakage"),
    ],
    "age-related macular degeneration": [
        ("CFP", "macula", "subretinal haemorrhage|drusen"),
        ("OCT", "subretinal space", "subretinal hyperreflective material"),
    ],
    "PCV": [
        ("CFP", "macula", "orange-red subretinal nodules"),
        ("OCT", "retinal pigment epithelium", "sharply peaked pigment epithelial detachment"),
        ("ICGA", "submacular choroid", "polyps with a branching vascular network"),
    ],
    "central serous chorioretinopathy": [
        ("OCT", "subretinal space", "subretinal fluid"),
        ("FFA", "macula", "smokestack or inkblot leakage"),
    ],
    "central retinal vein occlusion": [("CFP", "vascular arcades", "flame-shaped haemorrhages")],
    "glaucoma": [("CFP", "optic disc", "enlarged cup with thin neuroretinal rim")],
    "papilledema": [("CFP", "optic disc", "swollen disc with blurred margin")],
    "retinitis pigmentosa": [("CFP", "mid-peripheral retina", "bone-spicule pigmentation")],
    "macular hole": [("OCT", "inner retina", "full-thickness foveal gap")],
    "epiretinal membrane": [("OCT", "vitreoretinal interface", "hyperreflective membrane on the inner surface")],
    "retinal detachment": [("CFP", "far peripheral retina", "billowing elevated retina")],
    "normal": [("CFP", "", "")],
}
GRADES = {"DME": 3, "PCV": 3, "papilledema": 5, "retinitis pigmentosa": 3, "normal": 0}
QUALITY = ("good", "blurred", "dark", "bright", "artefact")


def eye_table(folder: Path, patients: int = 26) -> Path:
    """Writes the images and the table; gives the table."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    fundus = data.retina()
    numbers = np.random.default_rng(7)
    diseases, rows = list(EYES), []
    for patient in range(patients):
        disease = diseases[patient % len(diseases)]
        turn = patient // len(diseases)
        grades = GRADES.get(disease, 4)
        for modality, anatomy, lesions in EYES[disease]:
            name = f"pictures/p{patient:03d}-{modality}.png"
            _picture(fundus, modality, numbers).save(folder / name)
            rows.append(
                {
                    "image": name,
                    "patient": f"P{patient:03d}",
                    "eye": "OD" if patient % 2 else "OS",
                    "modality": modality,
                    "disease": disease,
                    "anatomy": anatomy,
                    "lesions": lesions,
                    "grade": str((patient + turn) % grades + 1) if grades else "",
                    "quality": QUALITY[(patient + len(rows)) % len(QUALITY)],
                    "age": str(40 + patient),
                    "sex": "FM"[patient % 2],
                    "source": "clinic",
                }
            )
    return write_table(folder / "eyes.csv", rows)


def write_table(file: Path, rows: list[dict[str, str]]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return file


def _picture(fundus: np.ndarray, modality: str, numbers: np.random.Generator) -> Image.Image:
    """A patch of the fundus, or layers like those of a tomogram, with some spots in it."""
    if modality == "OCT":
        return _layers(numbers)
    left, top = numbers.integers(250, 1411 - 250 - 2 * SIDE, 2)
    patch = fundus[top : top + 2 * SIDE, left : left + 2 * SIDE]
    if modality in ("FFA", "ICGA"):
        patch = 255 - patch[..., 1]
    image = Image.fromarray(np.ascontiguousarray(patch)).resize((SIDE, SIDE)).convert("RGB")
    draw = ImageDraw.Draw(image)
    for x, y in numbers.integers(10, SIDE - 10, (12, 2)):
        size = int(numbers.integers(2, 9))
        draw.ellipse((int(x), int(y), int(x) + size, int(y) + size), fill=(120, 20, 20))
    return image


def _layers(numbers: np.random.Generator) -> Image.Image:
    across = np.linspace(0, np.pi, SIDE)
    depth = np.arange(SIDE)[:, None]
    shown = numbers.normal(30, 8, (SIDE, SIDE))
    for layer, bright in enumerate(numbers.integers(60, 200, 6)):
        line = 30 + 16 * layer + numbers.uniform(-14, 14) * np.sin(across * numbers.uniform(0.5, 3) + layer)
        shown += bright * np.exp(-(((depth - line) / numbers.uniform(2, 6)) ** 2))
    return Image.fromarray(np.clip(shown, 0, 255).astype(np.uint8))
