"""An image becomes a degraded one: a pure function of its pixels, the type and the severity.

Whatever the depth and the colours, each type sees one kind of array: float32, (h, w) grey or (h, w, 3) RGB, black 0
and white 1, or attenuation in that of water where the image is in Hounsfield units. What comes back has the shape
and the type of what went in. It is clipped and rounded once, at the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.random import Generator, Philox
from numpy.typing import NDArray

from wardround.cases.images.window import DEPTHS
from wardround.core.errors import WardroundError
from wardround.degrade.severities import CLINICAL, Severity, Space, profile_named, severity_number
from wardround.degrade.types import TAXONOMY, type_named

Stored = NDArray[Any]
Image = NDArray[np.float32]
Degradation = Callable[[Image, Severity, Generator], Image]

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
GREY_WITHIN = 2  # of 255: RGB whose channels differ by less is grey that was stored in colour
ROWS_TO_TELL_COLOUR = 16  # that are looked at first: they tell most colour images
AIR, WATER = -1000.0, 0.0  # Hounsfield units
GREY_BY_NATURE = ("CT", "MRI")  # types of these modalities work on one channel


@dataclass(frozen=True)
class Degraded:
    """A rendered image and how it came about."""

    image: Stored
    type: str
    severity: float
    parameters: Severity
    seed: str


def degrade(
    image: Stored, type: str, severity: str | float, profile: str = CLINICAL, space: Space = "display"
) -> Stored:
    """The image, degraded: L0 (or 0) is the image itself, untouched."""
    return rendered(image, type, severity, profile, space).image


def rendered(
    image: Stored, type: str, severity: str | float, profile: str = CLINICAL, space: Space = "display"
) -> Degraded:
    """The degraded image with its type, severity, parameters and seed."""
    type, number = type_named(type), severity_number(severity)
    return with_parameters(image, type, number, profile_named(profile).at(type, number, space), space)


def with_parameters(
    image: Stored, type: str, severity: float, parameters: Severity, space: Space, seed: str | None = None
) -> Degraded:
    """As `rendered`, with the parameters given rather than looked up. `seed`: of another image, a larger copy of it."""
    _check(image, type, space)
    seed = seed or seed_of(image, type)
    done = image.copy()
    if severity > 0:
        render = _hounsfield if space == "hu" else _display
        done = render(image, type, lambda seen: _drawn(type, seen, parameters, seed))
    return Degraded(done, type, severity, parameters, seed)


def seed_of(image: Stored, type: str) -> str:
    """What the structure is drawn from: the decoded pixels and the type, so that severity only scales it."""
    told = hashlib.blake2b(f"{type}:{image.shape}:{image.dtype.str}:".encode(), digest_size=16)
    told.update(np.ascontiguousarray(image).data)
    return told.hexdigest()


def _drawn(type: str, image: Image, parameters: Severity, seed: str) -> Image:
    function: Degradation = getattr(import_module(f"wardround.degrade.types.{type}"), type)
    return function(image, parameters, Generator(Philox(key=int(seed, 16))))


def _check(image: Stored, type: str, space: Space) -> None:
    whole = image.dtype in (np.uint8, np.uint16)
    if space == "hu":
        if TAXONOMY[type].modality != "CT":
            raise WardroundError(f"{type} is drawn on the image as it is shown, not on Hounsfield units")
        if image.ndim != 2 or image.dtype.kind not in "iuf":
            raise WardroundError(
                f"Hounsfield units are expected as (h, w), not as {image.dtype} of shape {image.shape}"
            )
    elif not whole or not (image.ndim == 2 or (image.ndim == 3 and 1 <= image.shape[2] <= 4)):
        raise WardroundError(
            f"expected uint8 or uint16 of shape (h, w) or (h, w, 1 to 4), not {image.dtype} of shape {image.shape}"
        )
    if image.size == 0:
        raise WardroundError("the image has no pixels")


def _hounsfield(image: Stored, type: str, draw: Callable[[Image], Image]) -> Stored:
    """Attenuation in that of water: padding below air counts as air."""
    attenuation = np.maximum(image.astype(np.float32) - AIR, 0.0) / np.float32(WATER - AIR)
    done = draw(attenuation) * np.float32(WATER - AIR) + np.float32(AIR)
    if image.dtype.kind in "iu":
        ends = np.iinfo(image.dtype)
        done = np.clip(np.rint(done), ends.min, ends.max)
    return done.astype(image.dtype)


def _display(image: Stored, type: str, draw: Callable[[Image], Image]) -> Stored:
    channels = image.reshape(*image.shape[:2], -1)
    colours = 3 if channels.shape[2] >= 3 else 1
    white = white_of(channels[..., :colours])
    seen = np.divide(channels[..., :colours], np.float32(white), dtype=np.float32)
    if colours == 1 or _is_grey(channels):
        done = draw(seen[..., 0])[..., None]
    elif TAXONOMY[type].modality in GREY_BY_NATURE:
        grey: Image = (seen @ LUMA).astype(np.float32, copy=False)
        done = seen + (draw(grey) - grey)[..., None]  # coloured marks on a grey image stay
    else:
        done = draw(seen)
    done *= np.float32(white)  # what was drawn is nobody else's: to change it in place saves a third of this
    np.clip(done, 0, white, out=done)
    np.rint(done, out=done)
    if done.shape == channels.shape:
        return done.astype(image.dtype, order="C").reshape(image.shape)
    out = channels.copy()
    out[..., :colours] = done.astype(image.dtype)
    return out.reshape(image.shape)


def white_of(values: Stored) -> int:
    """White by the depth in use: 12-bit values in 16 bits go to 4095."""
    if values.dtype == np.uint8:
        return 255
    most = int(values.max())
    depth = next(depth for depth in DEPTHS if most < 2**depth)
    return int(2**depth) - 1


def _is_grey(channels: Stored) -> bool:
    limit = GREY_WITHIN * (1 if channels.dtype == np.uint8 else white_of(channels[..., :3]) / 255)
    few = channels[:: max(1, len(channels) // ROWS_TO_TELL_COLOUR)]
    return _spread(few) < limit and _spread(channels) < limit


def _spread(channels: Stored) -> int:
    """How far the colours of a pixel are apart, at most."""
    red, green, blue = (channels[..., colour] for colour in range(3))
    most, least = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    return int((most - least).max())
