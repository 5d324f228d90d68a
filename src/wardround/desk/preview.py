"""Live: a picture at any severity and under any window, soon enough to follow a hand."""

from __future__ import annotations

from base64 import b64decode
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from PIL import Image as Pillow

from wardround.cases.encoded import Encoded
from wardround.cases.images.recipe import kind_of, recipe_for
from wardround.cases.images.render import encoded, pixels, render
from wardround.core.case import Image
from wardround.degrade.recipe import render_degraded, with_degradations
from wardround.degrade.rendering import seed_of, with_parameters
from wardround.degrade.severities import Profile, Space, profile_named, severity_number
from wardround.degrade.types import TAXONOMY, fits
from wardround.desk.pictures import Shown

QUICK = {None: 512 * 512, "CT": 320 * 320}  # pixels while the hand moves; a CT is projected, which takes longer
KEPT = 16  # images of which a small copy is kept

_kept: OrderedDict[tuple[Any, ...], tuple[Any, str]] = OrderedDict()
_lock = Lock()


def at_severity(file: Path, image: Image, type: str, severity: float, profile: Profile, *, quick: bool) -> Shown:
    """The image, degraded; `quick`: drawn from a small copy where it is large, for while the hand moves."""
    many = QUICK.get(TAXONOMY[type].modality, QUICK[None])
    if not quick or severity == 0 or not fits(type, image.modality):
        recipe = with_degradations(recipe_for(image), image, [(type, severity)], profile)
        return _shown(render_degraded(file, image.frame, recipe))
    if TAXONOMY[type].modality == "CT" and kind_of(image.path) != "raster":
        return _shown(render(file, image.frame, recipe_for(image), _Coarse(type, severity, profile, many)))
    small, seed = _small(file, image, type, many)
    drawn = with_parameters(small, type, severity, profile.at(type, severity), "display", seed)
    return _shown(encoded(drawn.image, "png"))


class _Coarse:
    """Degrades a shrunken copy: of Hounsfield units where a file has them, else of what is shown."""

    def __init__(self, type: str, severity: float, profile: Profile, many: int) -> None:
        self._type, self._severity, self._profile, self._many = type, severity, profile, many
        self._done = False

    def hounsfield(self, values: Any) -> Any:
        self._done = True
        high, wide = values.shape
        factor = min(1.0, (self._many / (high * wide)) ** 0.5)
        if factor == 1.0:
            return self._drawn(values, "hu")
        small = _resized(values.astype(np.float32), round(wide * factor), round(high * factor))
        return _resized(self._drawn(small, "hu", seed_of(values, self._type)), wide, high)

    def shown(self, shown: Any) -> Any:
        return shown if self._done else self._drawn(shown, "display")

    def _drawn(self, image: Any, space: Space, seed: str | None = None) -> Any:
        parameters = self._profile.at(self._type, self._severity, space)
        return with_parameters(image, self._type, self._severity, parameters, space, seed).image


def _resized(values: Any, wide: int, high: int) -> Any:
    return np.asarray(Pillow.fromarray(values).resize((wide, high), Pillow.Resampling.BILINEAR))


def under_window(file: Path, image: Image, degradation: str | None, center: float, width: float) -> Shown:
    """The picture under another window; degraded as it is shown, where it is."""
    turned = image.model_copy(update={"window": (center, width)})
    recipe = recipe_for(turned)
    if degradation:
        type, _, severity = degradation.partition("@")
        recipe = with_degradations(recipe, turned, [(type, severity_number(severity))], profile_named())
    return _shown(render_degraded(file, image.frame, recipe))


def _shown(done: Encoded) -> Shown:
    return Shown(b64decode(done.base64), done.media_type)


def _small(file: Path, image: Image, type: str, many: int) -> tuple[Any, str]:
    """A small copy, and the seed of the whole: what is drawn by chance is where it will be."""
    key = (str(file), file.stat().st_mtime_ns, image.frame, image.axis, image.window, type)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    whole = pixels(file, image.frame, tuple(step for step in recipe_for(image) if step[0] != "fit"))
    factor = min(1.0, (many / (whole.shape[0] * whole.shape[1])) ** 0.5)
    size = (max(1, round(whole.shape[1] * factor)), max(1, round(whole.shape[0] * factor)))
    small = np.asarray(Pillow.fromarray(whole).resize(size, Pillow.Resampling.LANCZOS)) if factor < 1 else whole
    kept = small, seed_of(whole, type)
    with _lock:
        _kept[key] = kept
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return kept
