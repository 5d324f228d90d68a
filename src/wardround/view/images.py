"""Images of questions as they were sent, by address: rendered when a browser asks, or written to files."""

from __future__ import annotations

import io
from base64 import b64decode
from collections import OrderedDict
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from PIL import Image as Pillow

from wardround.cases.images.render import pixels
from wardround.core.ask import ImagePart
from wardround.core.canonical import canonical_json
from wardround.degrade.recipe import render_degraded
from wardround.reporting.case_pages import PromptPart

CACHE_BYTES = 96 * 2**20
MAX_KNOWN = 20_000  # addresses that are remembered
MAX_THUMBNAILS = 2_000
THUMBNAIL_PIXELS = 112
SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


class ImageAddresses:
    """Gives each image of an Ask an address, `images/KEY`, and renders it. Safe to call from several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, ImagePart] = OrderedDict()
        self._cache: OrderedDict[str, tuple[bytes, str]] = OrderedDict()
        self._bytes = 0
        self._thumbnails: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def part(self, image: ImagePart) -> PromptPart:
        key = blake2b(canonical_json([image.path, image.named]).encode(), digest_size=12).hexdigest()
        with self._lock:
            self._known[key] = image
            self._known.move_to_end(key)
            while len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
        return PromptPart(Path(image.path).name, key)

    def rendered(self, key: str) -> tuple[bytes, str] | None:
        """The bytes of an image as sent and their media type; None if no question with it was shown yet."""
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
            image = self._known.get(key)
        if image is None:
            return None
        encoded = render_degraded(image.path, image.frame, image.recipe)
        rendered = b64decode(encoded.base64), encoded.media_type
        with self._lock:
            if key not in self._cache:
                self._cache[key] = rendered
                self._bytes += len(rendered[0])
            while self._bytes > CACHE_BYTES and len(self._cache) > 1:
                self._bytes -= len(self._cache.popitem(last=False)[1][0])
        return rendered

    def thumbnail(self, key: str) -> bytes | None:
        """A small JPEG of an image; None if no question with it was shown yet."""
        with self._lock:
            if key in self._thumbnails:
                return self._thumbnails[key]
            image = self._known.get(key)
        if image is None:
            return None
        drawn = Pillow.fromarray(pixels(Path(image.path), image.frame, image.recipe)).convert("RGB")
        drawn.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
        buffer = io.BytesIO()
        drawn.save(buffer, "JPEG", quality=80)
        with self._lock:
            self._thumbnails[key] = buffer.getvalue()
            while len(self._thumbnails) > MAX_THUMBNAILS:
                self._thumbnails.popitem(last=False)
        return buffer.getvalue()
