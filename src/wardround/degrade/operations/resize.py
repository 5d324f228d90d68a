"""Changes of size: smaller by the mean over each new pixel's area, larger by a cubic or by the nearest pixel."""

import numpy as np
from numpy.typing import NDArray

from wardround.degrade.operations.weighted import Places, Rows, sum_weighted_rows, transpose
from wardround.degrade.signature import Image

Plan = tuple[Places, Rows]  # for each new row, the old rows it is made of and their weights


def downsample_and_restore(image: Image, height: int, width: int, method: str) -> Image:
    """The image made smaller, to height x width, and back to its own size."""
    back = nearest if method == "nearest" else cubic
    down, across = image.shape[:2]
    small = _apply_plans(image, area(down, height))
    small = transpose(_apply_plans(transpose(small), area(across, width), back(width, across)))
    return _apply_plans(small, back(height, down))


def average(image: Image, height: int, width: int) -> Image:
    """The image made smaller, to height x width."""
    small = transpose(_apply_plans(image, area(image.shape[0], height)))
    return transpose(_apply_plans(small, area(image.shape[1], width)))


def area(old: int, new: int) -> Plan:
    """Each new pixel is the mean of what it covers of the old ones, parts of them included."""
    edges = np.arange(new + 1) * (old / new)
    taps = int(np.ceil(old / new)) + 1
    places = np.floor(edges[:-1]).astype(np.int64)[:, None] + np.arange(taps)
    covered = np.minimum(places + 1, edges[1:, None]) - np.maximum(places, edges[:-1, None])
    return np.minimum(places, old - 1), (np.maximum(covered, 0.0) * (new / old)).astype(np.float32)


def cubic(old: int, new: int) -> Plan:
    """Catmull-Rom's cubic through the four nearest pixels; beyond the border the last one goes on."""
    at = (np.arange(new) + 0.5) * (old / new) - 0.5
    before = np.floor(at).astype(np.int64)
    places = before[:, None] + np.arange(-1, 3)
    return np.clip(places, 0, old - 1), catmull_rom(at - before).astype(np.float32)


def nearest(old: int, new: int) -> Plan:
    """The pixel in which the middle of the new one lies."""
    at = np.floor((np.arange(new) + 0.5) * (old / new)).astype(np.int64)
    return np.minimum(at, old - 1)[:, None], np.ones((new, 1), np.float32)


def catmull_rom(part: NDArray[np.floating]) -> NDArray[np.floating]:
    """The weights of the four pixels around a place that lies this part of the way from the second to the third."""
    t = part[:, None] + np.array([1.0, 0.0, -1.0, -2.0])
    d = np.abs(t)
    weights: NDArray[np.floating] = np.where(d <= 1, (1.5 * d - 2.5) * d * d + 1, ((2.5 - 0.5 * d) * d - 4) * d + 2)
    return weights


def _apply_plans(image: Image, *plans: Plan) -> Image:
    rows = np.ascontiguousarray(image).reshape(image.shape[0], -1)
    for places, weights in plans:
        rows = sum_weighted_rows(rows, places, np.zeros_like(places), weights, rows.shape[1])
    return rows.reshape(-1, *image.shape[1:])
