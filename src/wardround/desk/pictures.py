"""Pictures: images of items, found by ids that tell nothing, and rendered as browsers show them."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from wardround.cases.images.recipe import JPEG_SUFFIXES, recipe_for
from wardround.cases.set import leaves_folder
from wardround.core.case import Image
from wardround.core.errors import BadInput
from wardround.degrade.recipe import render_degraded, with_degradations
from wardround.degrade.severities import profile_named, severity_number
from wardround.desk.folders import set_of
from wardround.desk.records import Item, Task
from wardround.desk.store import Store

KEPT_BYTES = 128 * 2**20


@dataclass(frozen=True)
class Picture:
    """An image of an item. `id` is all that a browser knows of it."""

    id: str
    task: int
    item: int
    name: str
    image: Image
    degradation: str | None

    @property
    def about(self) -> str:
        """What is said of it in words."""
        return self.image.modality or "image"

    @property
    def may_have_window(self) -> bool:
        """Whether its file may hold more than a screen shows at once; the file itself is not looked at."""
        return not self.image.path.lower().endswith((*JPEG_SUFFIXES, ".bmp", ".webp"))


@dataclass(frozen=True)
class Shown:
    """A rendered picture."""

    data: bytes
    media_type: str


class Pictures:
    """Looks pictures up and renders them, the last ones from memory."""

    def __init__(self, store: Store, source: Callable[[Task], Path]) -> None:
        self._store, self._source = store, source
        self._kept: OrderedDict[str, Shown] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def of(self, item: Item) -> list[Picture]:
        """The pictures of an item, in the order of its source."""
        rows = self._store.rows("SELECT * FROM images WHERE task = ? AND item = ?", item.task, item.number)
        found = [_picture(row) for row in rows]
        return sorted(found, key=lambda each: (len(each.name), each.name))

    def find(self, id: str) -> Picture | None:
        row = self._store.row("SELECT * FROM images WHERE id = ?", id)
        return None if row is None else _picture(row)

    def show(self, picture: Picture, task: Task) -> Shown:
        """The picture as PNG or JPEG; nothing of its file but the pixels."""
        with self._lock:
            if picture.id in self._kept:
                self._kept.move_to_end(picture.id)
                return self._kept[picture.id]
        rendered = self._rendered(picture, task)
        with self._lock:
            if picture.id not in self._kept:
                self._kept[picture.id] = rendered
                self._bytes += len(rendered.data)
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                self._bytes -= len(self._kept.popitem(last=False)[1].data)
        return rendered

    def _rendered(self, picture: Picture, task: Task) -> Shown:
        image, recipe = picture.image, recipe_for(picture.image)
        if picture.degradation:
            type, _, severity = picture.degradation.partition("@")
            recipe = with_degradations(recipe, image, [(type, severity_number(severity))], profile_named())
        encoded = render_degraded(self.file(picture, task), image.frame, recipe)
        return Shown(b64decode(encoded.base64), encoded.media_type)

    def file(self, picture: Picture, task: Task) -> Path:
        """Where its file is: always inside the folder of its task, links followed."""
        folder = set_of(self._source(task))
        there = (folder / picture.image.path).resolve()
        if leaves_folder(picture.image.path) or not there.is_relative_to(folder.resolve()):
            raise BadInput(folder, f"{picture.image.path!r} leads out of it")
        return there


def _picture(row: object) -> Picture:
    told = dict(row)  # type: ignore[call-overload]
    image = Image.model_validate(json.loads(told.pop("image")))
    return Picture(image=image, **told)
