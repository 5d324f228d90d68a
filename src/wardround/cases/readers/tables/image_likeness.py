"""Which of several clean images a degraded image was made of, by the look of both. Method and limits: our choice.

Two images are compared by the correlation of their greys at 32 x 32, which brightness and contrast do not change and
blur and noise change little. If that does not settle it, the clean images are turned by up to 45 degrees as well. The
best is the one if it is clearly alike and clearly more so than the second; tests/cases/readers/test_image_likeness.py
has how often that is right on real images.
"""

import io
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 32
MIN_LIKENESS = 0.75  # correlation
MIN_LEAD = 0.1  # over the second
ANGLES = tuple(range(-45, 46, 3))  # degrees
MAX_CANDIDATES = 400  # more are not compared: a question that so many images share has no twin by looks
Vector = NDArray[np.float32]


class ImageLikeness:
    """Compares images by their paths; `read` gives the bytes of one. Vectors are kept, images are not."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._vectors: dict[str, Vector | None] = {}
        self._turned: dict[str, Vector | None] = {}

    def most_alike(self, path: str, candidates: Sequence[str]) -> str | None:
        """The candidate that an image was clearly made of."""
        own = self._vector(path)
        if own is None or not candidates or len(candidates) > MAX_CANDIDATES:
            return None
        for vectors in (self._vector, self._turned_vectors):
            rows = [vectors(candidate) for candidate in candidates]
            likeness = np.array([-1.0 if row is None else float(np.max(row @ own)) for row in rows])
            order = np.argsort(-likeness, kind="stable")
            lead = likeness[order[0]] - (likeness[order[1]] if len(order) > 1 else -1.0)
            if likeness[order[0]] >= MIN_LIKENESS and lead >= MIN_LEAD:
                return candidates[int(order[0])]
        return None

    def _vector(self, path: str) -> Vector | None:
        if path not in self._vectors:
            image = self._open(path)
            self._vectors[path] = None if image is None else _normalize(image)
        return self._vectors[path]

    def _turned_vectors(self, path: str) -> Vector | None:
        """The vectors of an image turned by each angle, as rows."""
        if path not in self._turned:
            image = self._open(path)
            if image is None:
                self._turned[path] = None
            else:
                small = image.resize((4 * SIDE, 4 * SIDE), Image.Resampling.BOX)
                edge = int(np.median(np.asarray(small)[[0, -1]]))
                turned = [small.rotate(angle, Image.Resampling.BILINEAR, fillcolor=edge) for angle in ANGLES]
                self._turned[path] = np.stack([_normalize(picture) for picture in turned])
        return self._turned[path]

    def _open(self, path: str) -> Image.Image | None:
        try:
            with Image.open(io.BytesIO(self._read(path))) as image:
                return image.convert("L")
        except (OSError, ValueError, Image.DecompressionBombError):
            return None  # not a raster image, or broken: it is alike to none


def _normalize(image: Image.Image) -> Vector:
    """Greys at 32 x 32 with mean 0 and length 1, as one row; zeros for an even image."""
    greys = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX), dtype=np.float32).ravel()
    centred = greys - greys.mean()
    length = float(np.linalg.norm(centred))
    return centred / length if length > SIDE / 4 else np.zeros_like(centred)
