"""Real images of the modalities that installed packages have, stand-ins for the others, and a faint disc in them.

The photographs of shared/data/images, which a plain clone does not have, are tried in addition.
"""

import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from pydicom.data import get_testdata_file
from scipy.ndimage import gaussian_filter, uniform_filter
from skimage import data

from wardround.cases.images import pixels, recipe_for
from wardround.core.case import Image
from wardround.degrade.operations.body import body_mask
from wardround.degrade.rendering import LUMA

MRI = ("examples_overlay.dcm", "MR_small.dcm", "MR-SIEMENS-DICOM-WithOverlays.dcm")
DICOM = {
    **dict.fromkeys(("J2K_pixelrep_mismatch.dcm", "CT_small.dcm", "693_UNCI.dcm"), "CT"),
    **dict.fromkeys(MRI, "MRI"),
    **dict.fromkeys(("US1_UNCI.dcm", "examples_rgb_color.dcm"), "Ultrasound"),
    "RG1_UNCI.dcm": "X-ray",
}
MORE = {  # of modalities that are there already
    "explicit_VR-UN.dcm": "CT",
    "MR2_UNCI.dcm": "MRI",
    **dict.fromkeys(("OBXXXX1A.dcm", "examples_jpeg2k.dcm", "examples_palette.dcm"), "Ultrasound"),
    **dict.fromkeys(("gdcm-US-ALOKA-16.dcm", "color3d_jpeg_baseline.dcm"), "Ultrasound"),
    "RG3_UNCI.dcm": "X-ray",
}
SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "images"
# not icg_*, an image so blurred that no further blur is visible
PHOTOGRAPHS = {"cxr_*": "X-ray", "derm_*": "Dermoscopy", "endo_*": "Endoscopy", "ffa_*": "Fundus photography"}
STAND_IN_SHAPE = (400, 440)
STAND_INS = {"dermoscopy": "Dermoscopy", "endoscopy": "Endoscopy", "chest": "X-ray"}
NAMES = (
    *(*DICOM, "retina", "immunohistochemistry", *STAND_INS),
    *(
        pytest.param(name, marks=pytest.mark.skipif(not any(SHARED.glob(name)), reason=f"no shared/data/images/{name}"))
        for name in PHOTOGRAPHS
    ),
)

DISC = 25.5  # grey levels, a tenth of the range: by so much it is brighter than the ring around it; or, in the speckle
# of ultrasound and the cells of a slide, where nobody would see that, by two standard deviations of the ring
RADIUS = 0.02  # of the shorter side


class Planted(NamedTuple):
    image: np.ndarray
    disc: np.ndarray
    ring: np.ndarray


@cache
def real_image(name: str) -> np.ndarray:
    """An image by the name of its file, its function in scikit-image or here, or its pattern among the shared ones."""
    if name in STAND_INS:
        return globals()[name]()
    if hasattr(data, name):
        whole = getattr(data, name)()
        return np.ascontiguousarray(whole[:: 1 + (len(whole) > 1024), :: 1 + (len(whole) > 1024)])  # in seconds
    modality = modality_of(name)
    path = Path(get_testdata_file(name, download=False) if name.endswith(".dcm") else next(SHARED.glob(name)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pixels(path, None, recipe_for(Image(path=path.name, modality=modality)))


def modality_of(name: str) -> str:
    return (DICOM | MORE | STAND_INS | PHOTOGRAPHS)[name]


@cache
def body(name: str) -> np.ndarray:
    return body_mask(real_image(name))


@cache
def planted(name: str) -> Planted:
    """A disc in the flattest place near the middle of the image, neither black nor white."""
    image = real_image(name)
    grey = luma(image)
    height, width = grey.shape
    radius = max(2.0, RADIUS * min(grey.shape))
    box = int(4.4 * radius) | 1
    mean, square = uniform_filter(grey, box), uniform_filter(grey**2, box)
    y, x = np.mgrid[:height, :width]
    fitting = (np.abs(y / height - 0.5) < 0.35) & (np.abs(x / width - 0.5) < 0.35) & (mean > 50) & (mean < 190)
    flat = np.where(fitting, square - mean**2, np.inf)
    down, across = np.unravel_index(flat.argmin(), flat.shape)
    away = np.hypot(y - down, x - across)
    disc, ring = away <= radius, (away > 1.3 * radius) & (away <= 2.2 * radius)
    brighter = grey[ring].mean() - grey[disc].mean() + max(DISC, 2 * grey[ring].std())
    marked = image.astype(float)
    marked[disc] += brighter
    return Planted(np.clip(marked, 0, 255).round().astype(np.uint8), away <= 0.8 * radius, ring)


def luma(image: np.ndarray) -> np.ndarray:
    return image[..., :3] @ LUMA.astype(float) if image.ndim == 3 else image.astype(float)


def rms_within(inside: np.ndarray, one: np.ndarray, other: np.ndarray) -> float:
    return float(np.sqrt(((one.astype(float) - other)[inside] ** 2).mean()))


def contrast_to_noise(image: np.ndarray, disc: np.ndarray, ring: np.ndarray) -> float:
    grey = luma(image)
    return abs(grey[disc].mean() - grey[ring].mean()) / max(grey[ring].std(), 1e-9)


# stand-ins, drawn by formulas: the same on every machine


def _grid() -> tuple[np.ndarray, np.ndarray]:
    """Coordinates down and across, from -1 to 1."""
    y, x = np.mgrid[: STAND_IN_SHAPE[0], : STAND_IN_SHAPE[1]]
    return 2 * y / (STAND_IN_SHAPE[0] - 1) - 1, 2 * x / (STAND_IN_SHAPE[1] - 1) - 1


def _texture(seed: int, sigma: float, amplitude: float) -> np.ndarray:
    noise = gaussian_filter(np.random.default_rng(seed).normal(size=STAND_IN_SHAPE), sigma)
    return amplitude * noise / noise.std()


def _colour(grey: np.ndarray, dark: tuple[int, int, int], bright: tuple[int, int, int]) -> np.ndarray:
    """Grey from 0 to 1 as a mixture of two colours."""
    mixed = np.array(dark) + grey[..., None] * (np.array(bright) - np.array(dark))
    return np.clip(mixed, 0, 255).round().astype(np.uint8)


def dermoscopy() -> np.ndarray:
    """A pigmented lesion with an irregular border and a network, on skin with hairs."""
    y, x = _grid()
    angle = np.arctan2(y, x)
    inward = 0.5 + 0.06 * np.sin(3 * angle + 1) + 0.04 * np.sin(7 * angle) - np.hypot(y, 1.1 * x)
    lesion = 1 / (1 + np.exp(-inward / 0.015))
    network = 0.5 + 0.5 * np.sin(40 * x) * np.sin(40 * y)
    hairs = sum(np.exp(-(((y - slope * x**2 - start) / 0.008) ** 2)) for slope, start in ((0.3, -0.6), (-0.5, 0.7)))
    skin = 0.85 + _texture(1, 30, 0.03) + _texture(2, 1.2, 0.025)
    return _colour(skin - lesion * (0.45 + 0.2 * network) - 0.4 * hairs, (60, 35, 25), (225, 180, 160))


def endoscopy() -> np.ndarray:
    """A tunnel of mucosa with folds and a dark lumen, in a round field of view."""
    y, x = _grid()
    radius = np.hypot(y, 1.05 * x - 0.1)
    folds = 0.06 * np.sin(18 * np.log(radius + 0.1))
    mucosa = np.clip(1.1 * radius, 0, 0.75) + folds + _texture(3, 12, 0.03) + _texture(4, 1.5, 0.012)
    image = _colour(mucosa, (35, 10, 8), (250, 170, 150))
    image[np.hypot(y, x) > 0.98] = 0
    return image


def chest() -> np.ndarray:
    """Two lungs with ribs beside a bright mediastinum, as a radiograph."""
    y, x = _grid()
    lungs = sum(1 / (1 + np.exp((np.hypot((x - side) / 0.32, y / 0.7) - 1) / 0.02)) for side in (-0.45, 0.45))
    ribs = 0.1 / (1 + np.exp(-np.sin(22 * (y - 0.25 * np.abs(x))) / 0.08))
    spine = 0.15 * np.exp(-((x / 0.08) ** 2))
    vessels = lungs * _texture(7, 2, 0.02)
    grey = 0.65 - 0.38 * lungs + ribs + spine + vessels + _texture(5, 25, 0.02) + _texture(6, 1, 0.015)
    return np.clip(255 * grey, 0, 255).round().astype(np.uint8)
