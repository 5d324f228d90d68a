"""The clean image of a degraded one is found among others of its kind by its look, and never a wrong one."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import skimage
from PIL import Image
from pydicom import dcmread
from pydicom.data import get_testdata_file

from wardround.cases.readers.tables.image_likeness import MAX_CANDIDATES, ImageLikeness
from wardround.degrade.rendering import degrade
from wardround.degrade.types import TYPES, fits

SCANS = {"CT_small.dcm": "CT", "MR_small.dcm": "MRI", "examples_overlay.dcm": "MRI", "J2K_pixelrep_mismatch.dcm": "CT"}
SIDE = 128


def real_images() -> dict[str, tuple[np.ndarray, str]]:
    """Tiles of one slide, which are as alike as images of one kind are, and four scans; each with its modality."""
    slide = np.asarray(Image.open(Path(skimage.__file__).parent / "data" / "ihc.png").convert("RGB"))
    images = {
        f"tile-{place}": (slide[place * 43 : place * 43 + SIDE, place * 75 : place * 75 + SIDE], "Histopathology")
        for place in range(6)
    }
    for name, modality in SCANS.items():
        scan = dcmread(get_testdata_file(name)).pixel_array.astype(float)
        scan = (scan - np.percentile(scan, 1)) / np.ptp(np.percentile(scan, [1, 99]))
        grey = Image.fromarray((scan.clip(0, 1) * 255).astype(np.uint8)).resize((SIDE, SIDE))
        images[name] = np.asarray(grey), modality
    return images


def png(image: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def outcomes() -> Counter[str]:
    """Each image with each fitting degradation at each level, against all clean images."""
    images = real_images()
    files = {name: png(image) for name, (image, _) in images.items()}
    worn = [
        (name, f"{name}|{type}@{level}", png(np.asarray(degrade(image, type, level))))
        for name, (image, modality) in images.items()
        for type in TYPES
        if fits(type, modality)
        for level in ("L1", "L2")
    ]
    files |= {key: file for _, key, file in worn}
    likeness = ImageLikeness(files.__getitem__)
    counts: Counter[str] = Counter()
    for name, key, _ in worn:
        twin = likeness.most_alike(key, sorted(images))
        counts["none" if twin is None else "right" if twin == name else "wrong"] += 1
    return counts


def test_no_degraded_image_gets_a_wrong_twin(outcomes):
    assert outcomes["wrong"] == 0


def test_most_degraded_images_find_their_twin(outcomes):
    """Not settled are mainly images that moved (object_movement)."""
    assert outcomes["right"] / outcomes.total() > 0.85


def test_two_images_that_look_the_same_settle_nothing():
    files = {name: png(image) for name, (image, _) in real_images().items()}
    name = next(iter(files))
    files["copy"] = files[name]
    assert ImageLikeness(files.__getitem__).most_alike(name, [name, "copy"]) is None


def test_broken_and_even_images_and_too_many_are_alike_to_none():
    files = {"broken": b"\x89PNG", "even": png(np.full((64, 64), 90, np.uint8))}
    files |= {name: png(image) for name, (image, _) in real_images().items()}
    likeness = ImageLikeness(files.__getitem__)
    name = next(name for name in files if name not in ("broken", "even"))
    assert likeness.most_alike("broken", [name]) is None
    assert likeness.most_alike("even", [name]) is None
    assert likeness.most_alike(name, ["broken", "even"]) is None
    assert likeness.most_alike(name, [name] * (MAX_CANDIDATES + 1)) is None
