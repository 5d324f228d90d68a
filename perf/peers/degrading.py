"""The 18 types at L1 and L2 beside the methods that MedQ-Deg was made with: CPU of each, in one process, one thread.

`python -m perf.peers.degrading ROUNDS`. TorchIO's transforms get a tensor that is ready and give one back;
wardround's figure has the hash of the pixels, the way to floating point and back, and rounding in it.
TorchIO and scikit-image have nothing for the types that are not listed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import torchio as tio
from pydicom.data import get_testdata_file
from skimage import data
from skimage.transform import iradon, radon

from perf.measured import Clock, print_usage
from wardround.cases.images import pixels, recipe_for
from wardround.cases.images.render import encode_pixels
from wardround.cases.images.window import Pixels
from wardround.core.case import Image
from wardround.degrade import TYPES, degrade
from wardround.degrade.operations.projector import complete_view_count, project, reconstruct
from wardround.degrade.types import TAXONOMY

HEAD, ABDOMEN = "J2K_pixelrep_mismatch.dcm", "examples_overlay.dcm"  # 512 x 512 and 300 x 484, come with pydicom
VIEWS = 180
TRIES = 5  # the least counts; of what takes a second, one a round
LEVELS = ("L1", "L2")

ACROSS = (0, 0, 0, 0)  # of rotations and moves: none around or along the other axes
TRANSFORMS: dict[str, Callable[[float], tio.Transform]] = {
    "bias_field": lambda worse: tio.RandomBiasField(coefficients=0.3 * worse),
    "ghosting": lambda worse: tio.RandomGhosting(num_ghosts=(4, 4), axes=(0, 1), intensity=(0.4 * worse, 0.4 * worse)),
    "object_rotation": lambda worse: tio.RandomAffine(scales=0, degrees=(*ACROSS, 10 * worse, 10 * worse)),
    "object_movement": lambda worse: tio.RandomAffine(scales=0, degrees=0, translation=(*[30 * worse] * 4, 0, 0)),
    "exposure": lambda worse: tio.RandomGamma(log_gamma=(0.35 * worse, 0.35 * worse)),
    "gaussian_noise": lambda worse: tio.RandomNoise(std=(0.03 * worse, 0.03 * worse)),
    "low_resolution": lambda worse: tio.RandomAnisotropy(axes=(0,), downsampling=(3 * worse, 3 * worse)),  # one axis
    "gaussian_blur": lambda worse: tio.RandomBlur(std=(*[1.5 * worse] * 4, 0, 0)),
}
# views at L1 and L2: those that are left of half a turn by degrees, the few, and all that low_dose counts photons in
SCANS = {"limited_angle": (150, 130), "sparse_view": (130, 84), "low_dose": (complete_view_count((512, 512)),) * 2}


def measured(rounds: int) -> dict[str, Any]:
    torch.set_num_threads(1)
    head, abdomen, slide = _shown(HEAD, "CT"), _shown(ABDOMEN, "MRI"), data.immunohistochemistry()
    fitting = {"CT": (head,), "MRI": (abdomen,), "Histopathology": (slide,), None: (head, slide)}
    types = [
        {"type": type, "colours": image.ndim == 3, "general": modality is None, **_costs(type, image, rounds)}
        for type in TYPES
        for modality in [TAXONOMY[type].modality]
        for image in fitting[modality]
    ]
    return {"scan": _scan(head, rounds), "types": types}


def _shown(name: str, modality: str) -> Pixels:
    path = get_testdata_file(name, download=False)
    return pixels(path, None, recipe_for(Image(path=path, modality=modality)))


def _scan(shown: Pixels, rounds: int) -> list[tuple[float, float]]:
    """Projection and reconstruction: ours and scikit-image's, round by round."""
    image = shown.astype(np.float32) / 255
    angles = np.pi * np.arange(VIEWS) / VIEWS
    weights = np.full(VIEWS, np.pi / VIEWS)

    def ours() -> None:
        reconstruct(project(image, angles), angles, weights, image.shape, interpolations=2)

    ours()  # compiles, or reads what was compiled
    return [(_least(ours, 4 * TRIES), _least(partial(_scikit_image, image, VIEWS), 1)) for _ in range(rounds)]


def _costs(type: str, image: Pixels, rounds: int) -> dict[str, Any]:
    """Milliseconds of CPU at L1 and L2: to draw it, to encode it as PNG and as JPEG, and for the peer to draw it.

    `ours` and `its` have an entry for each round, in which both are measured one after the other.
    """
    drawing = [partial(degrade, image, type, level) for level in LEVELS]
    drawn = [draw() for draw in drawing]
    peer, its = _peer(type, image)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append([_least(draw, TRIES) for draw in drawing])
        theirs.append([_least(draw, 1 if type in SCANS else TRIES) for draw in its])
    return {
        "ours": ours,
        "its": theirs,
        "peer": peer,
        "png": [_least(partial(encode_pixels, done, "png"), TRIES * rounds) for done in drawn],
        "jpeg": [_least(partial(encode_pixels, done, "jpeg"), TRIES * rounds) for done in drawn],
    }


def _peer(type: str, image: Pixels) -> tuple[str | None, list[Callable[[], object]]]:
    """What stands for the type, at L1 and L2."""
    if type in SCANS:
        seen = image.astype(np.float32) / 255
        views = SCANS[type]
        return f"radon and iradon, {views[0]} and {views[1]} views", [partial(_scikit_image, seen, n) for n in views]
    if type not in TRANSFORMS:
        return None, []
    planes = image.reshape(*image.shape[:2], -1).transpose(2, 0, 1)[..., None]
    ready = torch.from_numpy(planes.astype(np.float32) / 255)
    transforms = [TRANSFORMS[type](worse) for worse in (1, 2)]
    return transforms[0].__class__.__name__, [partial(transform, ready) for transform in transforms]


def _scikit_image(image: np.ndarray[Any, Any], views: int) -> None:
    """The patient lies within the circle: this is the faster of its two ways."""
    degrees = 180 * np.arange(views) / views
    iradon(radon(image, degrees, circle=True), degrees, circle=True)


def _least(work: Callable[[], object], times: int) -> float:
    """Milliseconds of CPU, the least of some tries: others are at work on the machine."""
    least = float("inf")
    for _ in range(times):
        started = time.process_time()
        work()
        least = min(least, time.process_time() - started)
    return 1000 * least


if __name__ == "__main__":
    print_usage(Clock.now(), **measured(int(sys.argv[1])))
