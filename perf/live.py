"""How soon the desk's slider has its next picture: each degradation at 512 x 512 and 1024 x 1024, and a CT's window.

Milliseconds in which the desk draws and encodes it, without the network; the peer is the same picture undegraded,
decoded and encoded. Large images, and those of a CT, are drawn from a small copy while the hand moves.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from perf.bars import bar, versions
from wardround.cases.images.recipe import recipe_for
from wardround.core.case import Image
from wardround.degrade import TYPES, load_profile
from wardround.degrade.recipe import render_degraded
from wardround.degrade.types import TAXONOMY
from wardround.desk.pictures import render_at_severity, render_picture

SIDES = (512, 1024)


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf live")
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args(arguments).rounds
    print(f"  {versions('wardround', 'numpy', 'pillow')}")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for side in SIDES:
            file = Path(folder) / f"{side}.png"
            Pillow.fromarray(_scan(side)).save(file)
            image = Image(path=file.name)
            whole = _took(rounds, partial(render_degraded, file, None, recipe_for(image)))
            print(f"  {side} x {side}, median milliseconds; the picture as it is: {whole:.0f}")
            for type in TYPES:
                shown = image.model_copy(update={"modality": TAXONOMY[type].modality})
                took = _drawn(file, shown, type, rounds)
                worst = max(worst, took)
                print(f"    {type}: {took:.0f} ({took / whole:.1f} times)")
        dicom, image = _dicom(Path(folder)), Image(path="ct.dcm", modality="CT")
        print("  a CT of 512 x 512 in DICOM, in Hounsfield units")
        for type in (type for type in TYPES if TAXONOMY[type].modality == "CT"):
            took = _drawn(dicom, image, type, rounds)
            worst = max(worst, took)
            print(f"    {type}: {took:.0f}")
        turned = image.model_copy(update={"window": (-600.0, 1500.0)})
        took = _drawn(dicom, turned, "gaussian_noise", rounds)
        worst = max(worst, took)
        print(f"    gaussian_noise under another window: {took:.0f}")
        windowed = image.model_copy(update={"window": (40.0, 400.0)})
        print(f"    another window: {_took(rounds, partial(render_picture, dicom, windowed, None)):.0f}")
    return bar("milliseconds to the next picture, the slowest type", worst, at_most=150)


def _drawn(file: Path, image: Image, type: str, rounds: int) -> float:
    profile, places = load_profile(), iter(np.linspace(0.2, 1.9, rounds + 1))
    return _took(rounds, lambda: render_at_severity(file, image, type, float(next(places)), profile, quick=True))


def _dicom(folder: Path) -> Path:
    """A CT as scanners write it, four times as wide and as high as pydicom's."""
    from pydicom import dcmread
    from pydicom.data import get_testdata_file

    dataset = dcmread(str(get_testdata_file("CT_small.dcm")))
    dataset.PixelData = dataset.pixel_array.repeat(4, axis=0).repeat(4, axis=1).tobytes()
    dataset.Rows, dataset.Columns = 4 * dataset.Rows, 4 * dataset.Columns
    dataset.save_as(folder / "ct.dcm")
    return folder / "ct.dcm"


def _took(rounds: int, act: Callable[[], object]) -> float:
    """The median, in milliseconds; the first time, which imports and compiles, does not count."""
    act()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - began))
    return median(times)


def _scan(side: int) -> NDArray[np.uint8]:
    """Smooth shades with noise, about as easy to compress as a radiograph."""
    across = np.linspace(-1, 1, side)
    shades = 120 + 80 * np.exp(-3 * np.add.outer(across**2, across**2)) * np.cos(6 * across)
    noise = np.random.default_rng(0).normal(0, 3, (side, side))
    scan: NDArray[np.uint8] = np.clip(shades + noise, 0, 255).astype(np.uint8)
    return scan
