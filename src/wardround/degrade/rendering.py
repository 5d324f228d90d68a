"""An image becomes a degraded one: a pure function of its pixels, the type and the severity.

Whatever the depth and the colours, each type sees one kind of array: float32, (h, w) grey or (h, w, 3) RGB, black 0
and white 1, or attenuation relative to water if the image is in Hounsfield units. The result has the shape and the
dtype of the input; it is clipped and rounded once, at the end.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import scipy
from numpy.random import Generator, Philox
from numpy.typing import NDArray

from wardround.cases.images.window import CT_WINDOW, DEPTHS
from wardround.core.errors import WardroundError
from wardround.degrade.custom import custom_degradation
from wardround.degrade.severities import CLINICAL, Space, load_profile, parse_severity
from wardround.degrade.signature import DegradationFunction, Image, SeverityParameters
from wardround.degrade.types import BUILT_IN, VARIANTS, WITHOUT_CHANCE, degradation_type, parse_type

StoredPixels = NDArray[Any]

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
GREY_WITHIN = 2  # of 255: RGB whose channels differ by less is grey that was stored in colour
ROWS_TO_TELL_COLOUR = 16  # looked at first: they reveal most colour images
AIR, WATER = -1000.0, 0.0  # Hounsfield units
OF_WINDOW = "_of_window"  # ends the names of parameters that are shares of the window
GREY_BY_NATURE = ("CT", "MRI")  # types of these modalities work on one channel


@dataclass(frozen=True)
class DegradationResult:
    """A degraded image with the type, severity, parameters and seed that it was drawn with."""

    image: StoredPixels
    type: str
    severity: float
    parameters: SeverityParameters
    seed: str


def degrade(
    image: StoredPixels, type: str, severity: str | float, profile: str = CLINICAL, space: Space = "display"
) -> StoredPixels:
    """The image (an array, or an image of Pillow), degraded: L0 (or 0) is the image itself, untouched."""
    pixels = np.asarray(image) if hasattr(image, "__array_interface__") else image
    type, number = parse_type(type), parse_severity(severity)
    return draw_image(pixels, type, number, load_profile(profile).at(type, number, space), space)


def apply_degradation(
    image: StoredPixels,
    type: str,
    severity: str | float,
    profile: str = CLINICAL,
    space: Space = "display",
    window: float = CT_WINDOW[1],
) -> DegradationResult:
    """The degraded image with its type, severity, parameters and seed; `window` as in `apply_parameters`."""
    type, number = parse_type(type), parse_severity(severity)
    return apply_parameters(image, type, number, load_profile(profile).at(type, number, space), space, window=window)


def apply_parameters(
    image: StoredPixels,
    type: str,
    severity: float,
    parameters: SeverityParameters,
    space: Space,
    seed: str | None = None,
    window: float = CT_WINDOW[1],
) -> DegradationResult:
    """As `apply_degradation`, with the parameters themselves. `seed`: that of the larger image this is a copy of.

    `window` is the width of the window in which Hounsfield units will be shown.
    """
    _check_image(image, type, space)
    seed = seed or seed_of(image, type)
    if severity > 0:
        render = _degrade_hounsfield if space == "hu" else _degrade_display
        drawn = in_units_of_image(parameters, window, space)
        result = render(image, type, lambda values: _draw(type, values, drawn, seed))
    else:
        result = image.copy()
    return DegradationResult(result, type, severity, parameters, seed)


def draw_image(
    image: StoredPixels,
    type: str,
    severity: float,
    parameters: SeverityParameters,
    space: Space,
    window: float = CT_WINDOW[1],
) -> StoredPixels:
    """The image of `apply_parameters` alone: a type without chance then needs no hash of the pixels."""
    seed = "0" if type in WITHOUT_CHANCE else None
    return apply_parameters(image, type, severity, parameters, space, seed, window).image


def in_units_of_image(parameters: SeverityParameters, window: float, space: Space = "hu") -> SeverityParameters:
    """Parameters that are shares of the window, such as `noise_of_window`, as those that the types know."""
    unit = window / (WATER - AIR) if space == "hu" else 1.0
    return {
        name.removesuffix(OF_WINDOW): value * unit if name.endswith(OF_WINDOW) else value
        for name, value in parameters.items()
    }


def seed_of(image: StoredPixels, type: str) -> str:
    """A hash of the decoded pixels and the type, not of the severity: that only scales what is drawn."""
    hasher = hashlib.blake2b(f"{type}:{image.shape}:{image.dtype.str}:".encode(), digest_size=16)
    hasher.update(np.ascontiguousarray(image).data)
    return hasher.hexdigest()


def _draw(type: str, image: Image, parameters: SeverityParameters, seed: str) -> Image:
    rng = Generator(Philox(key=int(seed, 16)))
    if type not in BUILT_IN:
        return _draw_custom(type, image, parameters, rng)
    folder = "variants" if type in VARIANTS else "types"
    function: DegradationFunction = getattr(import_module(f"wardround.degrade.{folder}.{type}"), type)
    return function(image, parameters, rng)


def _draw_custom(name: str, image: Image, parameters: SeverityParameters, rng: Generator) -> Image:
    custom = custom_degradation(parse_type(name))
    assert custom is not None
    try:
        result = np.asarray(custom.function(image, parameters, rng), np.float32)
    except Exception as error:
        raise WardroundError(f"plug-in degradation {name!r} failed: {type(error).__name__}: {error}") from error
    if result.shape != image.shape:
        raise WardroundError(f"plug-in degradation {name!r} returned shape {result.shape}; expected {image.shape}")
    if not np.isfinite(result).all():
        raise WardroundError(f"plug-in degradation {name!r} returned values that are not finite")
    return result


def _check_image(image: StoredPixels, type: str, space: Space) -> None:
    if not isinstance(image, np.ndarray):
        raise WardroundError(f"expected an image as an array of pixels, not {image.__class__.__name__}")
    if space == "hu":
        if degradation_type(type).modality != "CT":
            raise WardroundError(f"{type} works on the image as displayed, not on Hounsfield units")
        if image.ndim != 2 or image.dtype.kind not in "iuf":
            raise WardroundError(f"expected Hounsfield units as (h, w), not {image.dtype} of shape {image.shape}")
    elif image.dtype not in (np.uint8, np.uint16) or not (
        image.ndim == 2 or (image.ndim == 3 and 1 <= image.shape[2] <= 4)
    ):
        raise WardroundError(
            f"expected uint8 or uint16 of shape (h, w) or (h, w, 1 to 4), not {image.dtype} of shape {image.shape}"
        )
    if image.size == 0:
        raise WardroundError("the image has no pixels")


def _degrade_hounsfield(image: StoredPixels, type: str, draw: Callable[[Image], Image]) -> StoredPixels:
    """Attenuation relative to water: padding below air counts as air, and stays what it was."""
    attenuation = np.maximum(image.astype(np.float32) - AIR, 0.0) / np.float32(WATER - AIR)
    result = draw(attenuation) * np.float32(WATER - AIR) + np.float32(AIR)
    if image.dtype.kind in "iu":
        limits = np.iinfo(image.dtype)
        result = np.clip(np.rint(result), limits.min, limits.max)
    return np.where(_padding(image), image, result).astype(image.dtype)


def _padding(image: StoredPixels) -> NDArray[np.bool_]:
    """What a scanner wrote around its field of view: one value below air in the corners and all that hangs on them."""
    lowest = image.min()
    corners = image[[0, 0, -1, -1], [0, -1, 0, -1]] == lowest
    if lowest >= AIR or not corners.any():
        return np.zeros(image.shape, bool)
    parts, _ = scipy.ndimage.label(image == lowest)
    numbers = parts[[0, 0, -1, -1], [0, -1, 0, -1]][corners]
    return np.isin(parts, numbers)


def _degrade_display(image: StoredPixels, type: str, draw: Callable[[Image], Image]) -> StoredPixels:
    from wardround.degrade.operations.depth import to_stored, to_values  # on demand: it loads numba

    channels = image.reshape(*image.shape[:2], -1)
    colours = 3 if channels.shape[2] >= 3 else 1
    white = white_of(channels[..., :colours])
    values = to_values(channels[..., :colours], white)
    if colours == 1 or _is_grey(channels):
        result = draw(values[..., 0])[..., None]
    elif degradation_type(type).modality in GREY_BY_NATURE:
        grey: Image = (values @ LUMA).astype(np.float32, copy=False)
        result = values + (draw(grey) - grey)[..., None]  # coloured marks on a grey image stay
    else:
        result = draw(values)
    stored = to_stored(result, white, image.dtype)
    if stored.shape == channels.shape:
        return stored.reshape(image.shape)
    out = channels.copy()
    out[..., :colours] = stored
    return out.reshape(image.shape)


def white_of(values: StoredPixels) -> int:
    """White by the depth in use: 12-bit values in 16 bits go to 4095."""
    if values.dtype == np.uint8:
        return 255
    highest = int(values.max())
    depth = next(depth for depth in DEPTHS if highest < 2**depth)
    return int(2**depth) - 1


def _is_grey(channels: StoredPixels) -> bool:
    limit = GREY_WITHIN * (1 if channels.dtype == np.uint8 else white_of(channels[..., :3]) / 255)
    sample = channels[:: max(1, len(channels) // ROWS_TO_TELL_COLOUR)]
    return _max_channel_difference(sample) < limit and _max_channel_difference(channels) < limit


def _max_channel_difference(channels: StoredPixels) -> int:
    red, green, blue = (channels[..., colour] for colour in range(3))
    highest, lowest = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    return int((highest - lowest).max())
