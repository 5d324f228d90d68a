"""CPU of degrading a 512 x 512 image: CT projection and reconstruction against scikit-image's radon and iradon."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from pydicom.data import get_testdata_file
from skimage.transform import iradon, radon

from perf.bars import bar, versions
from wardround.cases.images import pixels, recipe_for
from wardround.core.case import Image
from wardround.degrade import degrade
from wardround.degrade.projector import project, reconstruct

HEAD = "J2K_pixelrep_mismatch.dcm"  # 512 x 512, comes with pydicom
CT_TYPES = ("limited_angle", "sparse_view", "low_dose")
VIEWS = 180


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf degradation")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'numpy', 'scipy', 'numba', 'scikit-image')}; one thread")
    return _ct(_head(), options.rounds)


def _head() -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    path = get_testdata_file(HEAD, download=False)
    return pixels(path, None, recipe_for(Image(path=path, modality="CT")))


def _ct(shown: np.ndarray[tuple[int, int], np.dtype[np.uint8]], rounds: int) -> bool:
    image = shown.astype(np.float32) / 255
    angles = np.pi * np.arange(VIEWS) / VIEWS
    weights, degrees = np.full(VIEWS, np.pi / VIEWS), np.rad2deg(angles)

    def ours() -> None:
        reconstruct(project(image, angles), angles, weights, image.shape, interpolations=2)

    def theirs() -> None:  # the patient lies within the circle: this is the faster of its two ways
        iradon(radon(image, degrees, circle=True), degrees, circle=True)

    ours()  # compiles, or reads what was compiled
    costs = [(_milliseconds(ours, 20), _milliseconds(theirs, 1)) for _ in range(rounds)]
    ratios = [their / our for our, their in costs]
    print(f"  projection and reconstruction at {VIEWS} views, milliseconds of CPU (least of the rounds):")
    print(f"  wardround {min(our for our, _ in costs):.1f}, scikit-image {min(their for _, their in costs):.0f}")
    print(f"  scikit-image / wardround, round by round: {' '.join(f'{ratio:.0f}' for ratio in ratios)}")
    for type in CT_TYPES:
        one, two = (_milliseconds(partial(degrade, shown, type, level), 10) for level in ("L1", "L2"))
        print(f"  {type}: {one:.1f} ms of CPU at L1, {two:.1f} at L2")
    return bar("scikit-image / wardround, median", median(ratios), at_least=50)


def _milliseconds(work: Callable[[], object], times: int) -> float:
    """Of CPU, the mean over some times."""
    started = time.process_time()
    for _ in range(times):
        work()
    return 1000 * (time.process_time() - started) / times
