"""Real images of every modality at hand, and a faint disc planted in them."""

import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydicom.data import get_testdata_file
from scipy.ndimage import uniform_filter
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
# not icg_*, a picture so blurred that no blur can be seen in it
PHOTOGRAPHS = {"cxr_*": "X-ray", "derm_*": "Dermoscopy", "endo_*": "Endoscopy", "ffa_*": "Fundus photography"}
NAMES = (*DICOM, "retina", "immunohistochemistry", *(name for name in PHOTOGRAPHS if list(SHARED.glob(name))))

DISC = 25.5  # grey levels, a tenth of the range: by so much it is brighter than the ring around it; or, in the speckle
# of ultrasound and the cells of a slide, where nobody would see that, by two standard deviations of the ring
RADIUS = 0.02  # of the shorter side


class Planted(NamedTuple):
    image: np.ndarray
    disc: np.ndarray
    ring: np.ndarray


@cache
def real_image(name: str) -> np.ndarray:
    """An image by the name of its file, its function in scikit-image, or its pattern among the shared ones."""
    if hasattr(data, name):
        whole = getattr(data, name)()
        return np.ascontiguousarray(whole[:: 1 + (len(whole) > 1024), :: 1 + (len(whole) > 1024)])  # in seconds
    modality = modality_of(name)
    path = Path(get_testdata_file(name, download=False) if name.endswith(".dcm") else next(SHARED.glob(name)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pixels(path, None, recipe_for(Image(path=path.name, modality=modality)))


def modality_of(name: str) -> str:
    return (DICOM | MORE | PHOTOGRAPHS)[name]


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
