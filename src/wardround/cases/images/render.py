"""An image file and a recipe become the bytes that are sent: a pure function, run in worker processes."""

from __future__ import annotations

import base64
import hashlib
import io
import math
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image

from wardround.cases.encoded import Encoded
from wardround.cases.images.png import png
from wardround.cases.images.raster import raster_pixels
from wardround.cases.images.recipe import MID_GREY, VERSIONS, kind_of
from wardround.cases.images.window import Pixels, Values
from wardround.core.ask import Step
from wardround.core.errors import BadInput, WardroundError


class Altered(Protocol):
    """What is done to an image between reading and sending it: to Hounsfield units, and to what is shown of it."""

    def hounsfield(self, values: Values) -> Values: ...

    def shown(self, pixels: Pixels) -> Pixels: ...


def render(path: Path | str, frame: int | None, recipe: tuple[Step, ...], altered: Altered | None = None) -> Encoded:
    """The image as it is sent. Nothing of the file but its pixels is in it."""
    return encoded(pixels(path, frame, recipe, altered), **_parameters(recipe)["encode"])


def encoded(shown: Pixels, format: str, quality: int = 95) -> Encoded:
    """Pixels as they are sent; the quality is that of JPEG."""
    data = _jpeg(shown, quality) if format == "jpeg" else png(shown)
    return Encoded(
        base64=base64.b64encode(data),
        media_type=f"image/{format}",
        sha256=hashlib.sha256(data).hexdigest(),
        width=shown.shape[1],
        height=shown.shape[0],
    )


def _jpeg(shown: Pixels, quality: int) -> bytes:
    held = io.BytesIO()
    Image.fromarray(shown).save(held, "JPEG", quality=quality, subsampling=0)
    return held.getvalue()


def pixels(path: Path | str, frame: int | None, recipe: tuple[Step, ...], altered: Altered | None = None) -> Pixels:
    """The image before it is encoded: (h, w) grey or (h, w, 3) RGB. A file that cannot be shown: BadInput."""
    path = Path(path)
    steps = _parameters(recipe)
    try:
        shown = _read(path, frame, steps, altered)
    except WardroundError:
        raise
    except FileNotFoundError:
        raise BadInput(path, "there is no such file") from None
    except Exception as error:  # decoders raise whatever they like about a broken file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(path, f"cannot be decoded: {reason}"[:300]) from None
    if altered is not None:
        shown = altered.shown(shown)
    if "blank" in steps:
        shown = np.full_like(shown, MID_GREY)
    return _fitted(shown, steps["fit"]["pixels"]) if "fit" in steps else shown


def _read(path: Path, frame: int | None, steps: dict[str, dict[str, Any]], altered: Altered | None) -> Pixels:
    kind = kind_of(path.name)
    if kind == "raster":
        return raster_pixels(path, frame, steps["window"])
    hounsfield = altered.hounsfield if altered else None
    # only imported where they are needed: a worker that reads photographs starts in half the time
    if kind == "nifti":
        from wardround.cases.images.nifti import nifti_pixels

        return nifti_pixels(path, frame, steps["slice"]["axis"], steps["window"], hounsfield)
    from wardround.cases.images.dicom import dicom_pixels

    return dicom_pixels(path, frame, steps["window"], hounsfield)


def _parameters(recipe: tuple[Step, ...]) -> dict[str, dict[str, Any]]:
    for name, _, version in recipe:
        if VERSIONS.get(name) != version:
            raise WardroundError(f"this version of wardround cannot do step {name!r}, version {version}")
    return {name: parameters for name, parameters, _ in recipe}


def _fitted(shown: Pixels, budget: int) -> Pixels:
    """Shrunk to the pixel budget with its aspect kept; never enlarged."""
    height, width = shown.shape[:2]
    if height * width <= budget:
        return shown
    factor = math.sqrt(budget / (height * width))
    size = (max(1, int(width * factor)), max(1, int(height * factor)))
    return np.asarray(Image.fromarray(shown).resize(size, Image.Resampling.LANCZOS))
