"""Renders an image file by its recipe to the bytes that are sent: a pure function, run in worker processes."""

import base64
import hashlib
import io
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images.plain_png import render_plain
from wardround.cases.images.png import encode_png
from wardround.cases.images.raster import raster_pixels
from wardround.cases.images.recipe import MID_GREY, VERSIONS, fitted_size, kind_of
from wardround.cases.images.window import Pixels, Values
from wardround.core.ask import Step
from wardround.core.errors import BadInput, WardroundError


class PixelRenderer(Protocol):
    """Changes an image between reading and sending: in Hounsfield units, and as it is displayed."""

    def render_hounsfield(self, values: Values, window: float) -> Values: ...

    def render_display(self, pixels: Pixels) -> Pixels: ...


def render(
    path: Path | str, frame: int | None, recipe: tuple[Step, ...], renderer: PixelRenderer | None = None
) -> EncodedImage:
    """The image as it is sent: pixels only, no metadata."""
    if renderer is None and (plain := render_plain(path, frame, recipe)) is not None:
        return plain
    return encode_pixels(pixels(path, frame, recipe, renderer), **_parameters(recipe)["encode"])


def encode_pixels(pixels: Pixels, format: str, quality: int = 95) -> EncodedImage:
    """Pixels as they are sent; `quality` is for JPEG."""
    data = _jpeg(pixels, quality) if format == "jpeg" else encode_png(pixels)
    return EncodedImage(
        base64=base64.b64encode(data),
        media_type=f"image/{format}",
        sha256=hashlib.sha256(data).hexdigest(),
        width=pixels.shape[1],
        height=pixels.shape[0],
    )


def _jpeg(pixels: Pixels, quality: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality, subsampling=0)
    return file.getvalue()


def pixels(
    path: Path | str, frame: int | None, recipe: tuple[Step, ...], renderer: PixelRenderer | None = None
) -> Pixels:
    """The image before it is encoded: (h, w) grey or (h, w, 3) RGB. BadInput if the file cannot be shown."""
    path = Path(path)
    steps = _parameters(recipe)
    try:
        shown = _read(path, frame, steps, renderer)
    except WardroundError:
        raise
    except FileNotFoundError:
        raise BadInput(path, "there is no such file") from None
    except Exception as error:  # decoders raise anything on a broken file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(path, f"cannot be decoded: {reason}"[:300]) from None
    if renderer is not None:
        shown = renderer.render_display(shown)
    if "blank" in steps:
        shown = np.full_like(shown, MID_GREY)
    return _fit(shown, steps["fit"]["pixels"]) if "fit" in steps else shown


def _read(path: Path, frame: int | None, steps: dict[str, dict[str, Any]], renderer: PixelRenderer | None) -> Pixels:
    kind = kind_of(path.name)
    if kind == "raster":
        return raster_pixels(path, frame, steps["window"])
    hounsfield = renderer.render_hounsfield if renderer else None
    # imported on demand: a worker that reads photographs starts in half the time
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


def _fit(shown: Pixels, budget: int) -> Pixels:
    """Shrunk to the pixel budget; the aspect ratio is kept."""
    height, width = shown.shape[:2]
    size = fitted_size(width, height, budget)
    if size == (width, height):
        return shown
    return np.asarray(Image.fromarray(shown).resize(size, Image.Resampling.LANCZOS))
