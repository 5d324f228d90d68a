"""PNG, JPEG, TIFF, BMP and WebP: whatever their colours and depth, as 8-bit grey or RGB.

Transparent images are composed on black. Colours of more than 8 bits keep their high byte (as Pillow reads them).
Colour profiles are dropped, not applied.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.TiffImagePlugin import TiffImageFile

from wardround.cases.images.limit import check_size, size_error
from wardround.cases.images.window import Pixels, Values, apply_window, scale_by_depth
from wardround.core.errors import BadInput

FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "DIB", "WEBP")
WHITE_IS_ZERO = 0
PHOTOMETRIC = 262


def raster_pixels(path: Path, frame: int | None, window: dict[str, Any]) -> Pixels:
    """One frame of an ordinary image file."""
    values = raster_values(path, frame or 0)
    if values.ndim == 3:
        return values
    if "center" in window:
        return apply_window(values, window["center"], window["width"])
    return values if values.dtype == np.uint8 else scale_by_depth(values)


def raster_values(path: Path, frame: int) -> Values:
    """The stored values of one frame, upright and composed on black."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of sizes below our limit, and of odd tags
        try:
            with Image.open(path, formats=FORMATS) as image:
                check_size(path, image.width, image.height)
                frames = getattr(image, "n_frames", 1)
                if frame >= frames:
                    raise BadInput(path, f"there is no frame {frame}; it has frames 0 to {frames - 1}")
                image.seek(frame)
                check_size(path, image.width, image.height)
                return _flatten(image)
        except Image.DecompressionBombError:
            raise size_error(path) from None
        except UnidentifiedImageError:
            raise BadInput(path, f"cannot be read as a {path.suffix[1:].upper()} image") from None


def _flatten(image: Image.Image) -> Values:
    is_inverted = isinstance(image, TiffImageFile) and image.tag_v2.get(PHOTOMETRIC) == WHITE_IS_ZERO
    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I;16") or upright.mode in ("I", "F"):
        values = np.asarray(upright)
        # Pillow itself inverts white-is-zero up to 8 bits
        return np.iinfo(values.dtype).max - values if is_inverted and values.dtype == np.uint16 else values
    if upright.has_transparency_data:
        is_colour = upright.mode not in ("L", "LA", "La")
        transparent = upright.convert("RGBA")
        background = Image.new("RGBA", transparent.size, (0, 0, 0, 255))
        return np.asarray(Image.alpha_composite(background, transparent).convert("RGB" if is_colour else "L"))
    return np.asarray(upright.convert("L" if upright.mode in ("1", "L", "LA") else "RGB"))
