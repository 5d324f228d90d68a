"""Live: a picture at any severity and under any window, soon enough to follow a hand."""

from __future__ import annotations

from base64 import b64decode
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

from wardround.cases.images.recipe import kind_of, recipe_for
from wardround.cases.images.render import encoded, pixels
from wardround.core.case import Image
from wardround.degrade.rendering import with_parameters
from wardround.degrade.sendable import render_degraded, with_degradations
from wardround.degrade.severities import Profile, profile_named, severity_number
from wardround.degrade.types import TAXONOMY, fits
from wardround.desk.pictures import Shown

QUICK = 512 * 512  # pixels of a picture while the hand moves
KEPT = 16  # images of which a small copy is kept

_kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
_lock = Lock()


def at_severity(file: Path, image: Image, type: str, severity: float, profile: Profile, *, quick: bool) -> Shown:
    """The image, degraded; `quick`: of a small copy where it is large, which looks the same at that size.

    A CT in Hounsfield units is degraded before its window, and so always as a whole.
    """
    in_hounsfield = TAXONOMY[type].modality == "CT" and kind_of(image.path) != "raster"
    recipe = recipe_for(image)
    if not quick or in_hounsfield or severity == 0 or not fits(type, image.modality):
        recipe = with_degradations(recipe, image, [(type, severity)], profile)
        done = render_degraded(file, image.frame, recipe)
    else:
        small = _small(file, image)
        done = encoded(with_parameters(small, type, severity, profile.at(type, severity), "display").image, "png")
    return Shown(b64decode(done.base64), done.media_type)


def under_window(file: Path, image: Image, degradation: str | None, center: float, width: float) -> Shown:
    """The picture under another window; degraded as it is shown, where it is."""
    turned = image.model_copy(update={"window": (center, width)})
    recipe = recipe_for(turned)
    if degradation:
        type, _, severity = degradation.partition("@")
        recipe = with_degradations(recipe, turned, [(type, severity_number(severity))], profile_named())
    done = render_degraded(file, image.frame, recipe)
    return Shown(b64decode(done.base64), done.media_type)


def _small(file: Path, image: Image) -> Any:
    key = (str(file), file.stat().st_mtime_ns, image.frame, image.axis, image.window)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    small = pixels(file, image.frame, recipe_for(image, pixels=QUICK))
    with _lock:
        _kept[key] = small
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return small
