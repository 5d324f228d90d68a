"""Images of items, under random ids, rendered for browsers, at a severity fast enough to follow a slider."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Row
from threading import Lock
from typing import Any

import numpy as np
from PIL import Image as Pillow

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images.recipe import JPEG_SUFFIXES, kind_of, recipe_for
from wardround.cases.images.render import encode_pixels, pixels, render
from wardround.cases.set import leaves_folder
from wardround.core.case import Image
from wardround.core.errors import BadInput
from wardround.degrade.modalities import parse_modality
from wardround.degrade.recipe import add_degradations, render_degraded
from wardround.degrade.rendering import apply_parameters, seed_of
from wardround.degrade.severities import Profile, Space, load_profile, parse_severity
from wardround.degrade.types import degradation_type, fits
from wardround.desk.records import DeskItem, Task
from wardround.desk.store import DeskStore

CACHE_BYTES = 128 * 2**20
QUICK_PIXELS = {None: 512 * 512, "CT": 320 * 320}  # while the slider moves; projecting a CT takes longer
CACHED_COPIES = 16
CROSS_SECTIONS = ("CT", "MRI", "PET")
FEWEST_SLICES = 3
DIGITS = re.compile(r"\d+")

_small_copies: OrderedDict[tuple[Any, ...], tuple[Any, str]] = OrderedDict()
_copies_lock = Lock()


@dataclass(frozen=True)
class Picture:
    """An image of an item. The browser gets only its `id`."""

    id: str
    task: int
    item: int
    name: str
    image: Image
    degradation: str | None

    @property
    def caption(self) -> str:
        return self.image.modality or "image"

    @property
    def modality(self) -> str:
        """The modality for the viewer's presets: one of the seven, or as the case names it."""
        return parse_modality(self.image.modality) or self.image.modality or ""

    @property
    def may_have_frames(self) -> bool:
        """Whether its file may hold more than one frame; the file itself is not looked at."""
        return self.image.path.lower().endswith((".tif", ".tiff")) or kind_of(self.image.path) != "raster"

    @property
    def may_have_window(self) -> bool:
        """Whether its file may hold more than a screen shows at once; the file itself is not looked at."""
        return not self.image.path.lower().endswith((*JPEG_SUFFIXES, ".bmp", ".webp"))


@dataclass(frozen=True)
class RenderedPicture:
    """The bytes of a picture, and their media type."""

    data: bytes
    media_type: str

    @classmethod
    def decode(cls, encoded: EncodedImage) -> RenderedPicture:
        return cls(b64decode(encoded.base64), encoded.media_type)


class Pictures:
    """Finds and renders pictures, and caches the latest."""

    def __init__(self, store: DeskStore, image_folder: Callable[[Task], Path]) -> None:
        self._store, self._image_folder = store, image_folder
        self._cache: OrderedDict[str, RenderedPicture] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def of_item(self, item: DeskItem) -> list[Picture]:
        """The pictures of an item, in the order of its source."""
        rows = self._store.rows("SELECT * FROM images WHERE task = ? AND item = ?", item.task, item.number)
        pictures = [_picture_from_row(row) for row in rows]
        return sorted(pictures, key=lambda picture: (len(picture.name), picture.name))

    def find(self, id: str) -> Picture | None:
        row = self._store.row("SELECT * FROM images WHERE id = ?", id)
        return None if row is None else _picture_from_row(row)

    def render(self, picture: Picture, task: Task) -> RenderedPicture:
        """The picture as PNG or JPEG, without any metadata of its file."""
        key = f"{picture.id}/{picture.image.frame}"
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        rendered = render_picture(self.file(picture, task), picture.image, picture.degradation)
        with self._lock:
            if key not in self._cache:
                self._cache[key] = rendered
                self._bytes += len(rendered.data)
            while self._bytes > CACHE_BYTES and len(self._cache) > 1:
                self._bytes -= len(self._cache.popitem(last=False)[1].data)
        return rendered

    def file(self, picture: Picture, task: Task) -> Path:
        """The path of its file, always inside the folder of its task, links followed."""
        folder = self._image_folder(task)
        file = (folder / picture.image.path).resolve()
        if leaves_folder(picture.image.path) or not file.is_relative_to(folder.resolve()):
            raise BadInput(folder, f"{picture.image.path!r} leads out of it")
        return file


def stack_pictures(pictures: Sequence[Picture]) -> list[list[Picture]]:
    """Pictures that are scrolled in one pane: frames of one file, and slices of one series.

    Slices of a series are cross-sections of one modality, three or more, whose paths differ only in digits (our choice:
    a case does not name its series).
    """
    series: dict[object, list[Picture]] = {}
    for picture in pictures:
        is_section = picture.modality in CROSS_SECTIONS and picture.degradation is None
        path = DIGITS.sub("#", picture.image.path) if is_section else picture.image.path
        series.setdefault((path, picture.modality, picture.degradation), []).append(picture)
    stacks: list[list[Picture]] = []
    for members in series.values():
        is_one_file = len({picture.image.path for picture in members}) == 1
        is_stack = len(members) >= (2 if is_one_file else FEWEST_SLICES)
        stacks += [members] if is_stack else [[picture] for picture in members]
    return sorted(stacks, key=lambda stack: pictures.index(stack[0]))


def render_picture(file: Path, image: Image, degradation: str | None, window: float | None = None) -> RenderedPicture:
    """The image under its window, with the degradation (`type@severity`) if there is one.

    `window` is the width in which it is first shown: what is degraded does not change with the viewer's window.
    """
    recipe = recipe_for(image)
    if degradation:
        type, _, severity = degradation.partition("@")
        recipe = add_degradations(recipe, image, [(type, parse_severity(severity))], load_profile(), window)
    return RenderedPicture.decode(render_degraded(file, image.frame, recipe))


def _picture_from_row(row: Row) -> Picture:
    columns = dict(row)
    image = Image.model_validate(json.loads(columns.pop("image")))
    return Picture(image=image, **columns)


def render_at_severity(
    file: Path,
    image: Image,
    type: str,
    severity: float,
    profile: Profile,
    *,
    quick: bool,
    window: float | None = None,
) -> RenderedPicture:
    """The image, degraded; `quick`: a large image is drawn from a small copy, while the slider moves.

    `window` as in `render_picture`.
    """
    modality = degradation_type(type).modality
    max_pixels = QUICK_PIXELS.get(modality, QUICK_PIXELS[None])
    if not quick or severity == 0 or not fits(type, image.modality):
        recipe = add_degradations(recipe_for(image), image, [(type, severity)], profile, window)
        return RenderedPicture.decode(render_degraded(file, image.frame, recipe))
    if modality == "CT" and kind_of(image.path) != "raster":
        renderer = _CoarseRenderer(type, severity, profile, max_pixels, window)
        return RenderedPicture.decode(render(file, image.frame, recipe_for(image), renderer))
    small, seed = _small_copy(file, image, type, max_pixels)
    degraded = apply_parameters(small, type, severity, profile.at(type, severity), "display", seed)
    return RenderedPicture.decode(encode_pixels(degraded.image, "png"))


class _CoarseRenderer:
    """Degrades a small copy: of the Hounsfield units of a file that has them, else of the displayed image."""

    def __init__(self, type: str, severity: float, profile: Profile, max_pixels: int, window: float | None) -> None:
        self._type, self._severity, self._profile, self._max_pixels = type, severity, profile, max_pixels
        self._window = window
        self._is_degraded = False

    def render_hounsfield(self, values: Any, window: float) -> Any:
        self._is_degraded = True
        window = self._window or window
        height, width = values.shape
        factor = min(1.0, (self._max_pixels / (height * width)) ** 0.5)
        if factor == 1.0:
            return self._draw(values, "hu", window=window)
        small = _resize(values.astype(np.float32), round(width * factor), round(height * factor))
        return _resize(self._draw(small, "hu", seed_of(values, self._type), window), width, height)

    def render_display(self, pixels: Any) -> Any:
        return pixels if self._is_degraded else self._draw(pixels, "display")

    def _draw(self, image: Any, space: Space, seed: str | None = None, window: float = 0.0) -> Any:
        parameters = self._profile.at(self._type, self._severity, space)
        return apply_parameters(image, self._type, self._severity, parameters, space, seed, window).image


def _resize(values: Any, width: int, height: int) -> Any:
    return np.asarray(Pillow.fromarray(values).resize((width, height), Pillow.Resampling.BILINEAR))


def _small_copy(file: Path, image: Image, type: str, max_pixels: int) -> tuple[Any, str]:
    """A small copy with the seed of the whole image, so that what is random lies where it will lie."""
    key = (str(file), file.stat().st_mtime_ns, image.frame, image.axis, image.window, type)
    with _copies_lock:
        if key in _small_copies:
            _small_copies.move_to_end(key)
            return _small_copies[key]
    whole = pixels(file, image.frame, tuple(step for step in recipe_for(image) if step[0] != "fit"))
    factor = min(1.0, (max_pixels / (whole.shape[0] * whole.shape[1])) ** 0.5)
    size = (max(1, round(whole.shape[1] * factor)), max(1, round(whole.shape[0] * factor)))
    small = np.asarray(Pillow.fromarray(whole).resize(size, Pillow.Resampling.LANCZOS)) if factor < 1 else whole
    copy = small, seed_of(whole, type)
    with _copies_lock:
        _small_copies[key] = copy
        while len(_small_copies) > CACHED_COPIES:
            _small_copies.popitem(last=False)
    return copy
