"""Parallel-beam CT of an image: its line integrals from any angles, and filtered back-projection.

Shear (linogram) geometry: where a ray is nearer to upright it is walked row by row, else column by column, and the
bins of that view lie max(|cos|, |sin|) pixels apart. Neighbouring rays then cross every row one pixel apart, so that
a row adds to a view with one pair of interpolation weights: the innermost loops are sums of shifted rows.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from wardround.degrade.signature import Image

Sinogram = NDArray[np.float32]  # (views, height + width), line integrals in pixels, the last axis across the ray
Angles = NDArray[np.float64]  # radians; 0 looks along the columns

MARGIN = 8  # four neighbouring rows are shifted by at most five bins against each other
SQUARE = 16  # pixels a side, of what is transposed at once
AT_ONCE = 64  # views filtered at once, so that they stay in the cache


def complete_view_count(shape: tuple[int, int]) -> int:
    """How many views over half a turn leave no streaks that one could see (our choice: 358 for 512 x 512)."""
    return min(max(180, round(0.7 * max(shape))), 720)


def pitch(angles: Angles) -> Image:
    """How far apart the bins of each view are, in pixels."""
    return np.maximum(np.abs(np.cos(angles)), np.abs(np.sin(angles))).astype(np.float32)


def project(image: Image, angles: Angles) -> Sinogram:
    """The line integrals of the image, taken as 0 outside its frame."""
    sinogram = np.empty((len(angles), sum(image.shape)), np.float32)
    for views, slopes, turned in _walks(angles):
        source = image.T if turned else image
        height, width = source.shape
        padded = np.zeros((_by_fours(height), width + 2 * MARGIN), np.float32)
        padded[:height, MARGIN : MARGIN + width] = source
        _sum_along_rays(padded, height, slopes, pitch(angles[views]), views, sinogram)
    return sinogram


def reconstruct(
    sinogram: Sinogram, angles: Angles, weights: Angles, shape: tuple[int, int], interpolations: int = 0
) -> Image:
    """Filtered back-projection; in a full scan of half a turn each view weighs pi / views.

    The blur of so many linear interpolations is divided out: 2 where the sinogram was projected from an image
    (then projecting and reconstructing gives the image back), 1 where it was not.
    """
    image = np.zeros(shape, np.float32)
    for views, slopes, turned in _walks(angles):
        filtered = _filtered(sinogram, views, pitch(angles[views]), weights[views], interpolations)
        part = np.zeros(shape[::-1], np.float32) if turned else image  # those by rows come first
        _add_views(part, filtered, np.pad(slopes, (0, len(filtered) - len(views))))
        if turned:
            _add_transposed(image, part)
    return image


def _by_fours(count: int) -> int:
    return -(-count // 4) * 4


def _walks(angles: Angles) -> list[tuple[NDArray[np.intp], Angles, bool]]:
    """The views walked by rows and those walked by columns, each with its shift from one row to the next."""
    across, down = np.cos(angles), np.sin(angles)
    by_rows = np.abs(across) >= np.abs(down)
    rows, columns = np.flatnonzero(by_rows), np.flatnonzero(~by_rows)
    walks = [(rows, down[rows] / across[rows], False), (columns, across[columns] / down[columns], True)]
    return [walk for walk in walks if len(walk[0])]


def _filtered(
    sinogram: Sinogram, views: NDArray[np.intp], pitches: Image, weights: Angles, interpolations: int
) -> Sinogram:
    """These views, filtered, and empty ones after them until their number is a multiple of four."""
    bins = sinogram.shape[1]
    length = next_fast_len(2 * bins, real=True)
    response = _response(length, interpolations)
    gains = (weights / pitches).astype(np.float32)
    # the image holds nothing above half a cycle a pixel
    ends = np.searchsorted(np.arange(len(response)) / length, 0.5 * pitches, side="right")
    done = np.empty((_by_fours(len(views)), bins), np.float32)
    done[len(views) :] = 0
    for first in range(0, len(views), AT_ONCE):
        some = slice(first, min(first + AT_ONCE, len(views)))
        spectrum = rfft(sinogram[views[some]], length, axis=1, workers=1)
        _multiply_spectra(spectrum.view(np.float32), response, gains[some], ends[some])
        done[some] = irfft(spectrum, length, axis=1, workers=1)[:, :bins]
    return done


@cache
def _response(length: int, interpolations: int) -> NDArray[np.float32]:
    """The ramp, divided by the blur of linear interpolations: each, at all fractions of a bin, is sinc squared."""
    frequency = np.arange(length // 2 + 1) / length  # cycles a bin
    response: NDArray[np.float32] = (_ramp(length) / np.sinc(frequency) ** (2 * interpolations)).astype(np.float32)
    return response


@njit("void(float32[:,::1], float32[::1], float32[::1], int64[::1])", cache=True, nogil=True)
def _multiply_spectra(spectra: Any, response: Any, gains: Any, ends: Any) -> None:  # pragma: no cover
    """Each row of complex numbers times the response and its gain, and zero from its end on."""
    for row in range(len(spectra)):
        spectrum, gain = spectra[row], gains[row]
        for place in range(ends[row]):
            factor = response[place] * gain
            spectrum[2 * place] *= factor
            spectrum[2 * place + 1] *= factor
        spectrum[2 * ends[row] :] = np.float32(0)


def _ramp(length: int) -> NDArray[np.float64]:
    """|frequency|, from the kernel in space: sampled in frequency it would lose the mean of the image."""
    distance = np.minimum(np.arange(length), length - np.arange(length))
    odd = distance % 2 == 1
    kernel = np.where(odd, -1.0 / (np.pi * np.where(odd, distance, 1)) ** 2, 0.0)
    kernel[0] = 0.25
    ramp: NDArray[np.float64] = rfft(kernel).real
    return ramp


@njit(nogil=True, inline="always")  # a call would cost a tenth of the time
def _add_four_rows(out: Any, rows: Any, first: int, start: int, at: Any) -> None:
    """Adds four rows, each shifted by a whole number and the part of a bin that its interpolation weights give."""
    shift_a, shift_b, shift_c, shift_d = np.floor(at[0]), np.floor(at[1]), np.floor(at[2]), np.floor(at[3])
    a = rows[first, start + np.int64(shift_a) :]
    b = rows[first + 1, start + np.int64(shift_b) :]
    c = rows[first + 2, start + np.int64(shift_c) :]
    d = rows[first + 3, start + np.int64(shift_d) :]
    a1, b1 = np.float32(at[0] - shift_a), np.float32(at[1] - shift_b)
    c1, d1 = np.float32(at[2] - shift_c), np.float32(at[3] - shift_d)
    a0, b0, c0, d0 = np.float32(1) - a1, np.float32(1) - b1, np.float32(1) - c1, np.float32(1) - d1
    for x in range(len(out)):
        out[x] += (
            (a0 * a[x] + a1 * a[x + 1])
            + (b0 * b[x] + b1 * b[x + 1])
            + (c0 * c[x] + c1 * c[x + 1])
            + (d0 * d[x] + d1 * d[x + 1])
        )


@njit(cache=True, nogil=True)
def _sum_along_rays(padded: Any, height: int, slopes: Any, pitches: Any, views: Any, sinogram: Any) -> None:
    """The line integrals of these views, each into its row of the sinogram; columns that are empty are passed over."""
    width = padded.shape[1] - 2 * MARGIN
    starts, ends = _occupied_columns(padded, width)
    last = height - 1  # a row of the padding is empty: it may lie on the last one
    for view in range(len(slopes)):
        sums, slope, middle = sinogram[views[view]], slopes[view], 0.5 * (height - 1)
        sums[:] = np.float32(0)
        for top in range(0, height, 4):
            start, end = starts[top // 4], ends[top // 4]
            if start >= end:
                continue
            at = (
                -0.5 * height - slope * (top - middle),
                -0.5 * height - slope * (min(top + 1, last) - middle),
                -0.5 * height - slope * (min(top + 2, last) - middle),
                -0.5 * height - slope * (min(top + 3, last) - middle),
            )
            leftmost, rightmost = np.int64(np.floor(min(at[0], at[3]))), np.int64(np.floor(max(at[0], at[3])))
            first = start - 1 - rightmost
            _add_four_rows(sums[first : end - leftmost], padded, top, first + MARGIN, at)
        sums /= pitches[view]


@njit(cache=True, nogil=True)
def _occupied_columns(padded: Any, width: int) -> Any:
    """Of each four rows the first column that is not empty in all of them, and the one after the last."""
    fours = len(padded) // 4
    starts, ends = np.full(fours, width), np.zeros(fours, np.int64)
    for row in range(len(padded)):
        values = padded[row, MARGIN : MARGIN + width]
        start, end = 0, width
        while start < end and values[start] == 0:
            start += 1
        while start < end and values[end - 1] == 0:
            end -= 1
        if start < end:
            starts[row // 4], ends[row // 4] = min(starts[row // 4], start), max(ends[row // 4], end)
    return starts, ends


@njit(cache=True, nogil=True)
def _add_views(image: Any, views: Any, slopes: Any) -> None:
    height = len(image)
    for row in range(height):
        from_middle = row - 0.5 * (height - 1)
        for first in range(0, len(slopes), 4):
            at = (
                0.5 * height + slopes[first] * from_middle,
                0.5 * height + slopes[first + 1] * from_middle,
                0.5 * height + slopes[first + 2] * from_middle,
                0.5 * height + slopes[first + 3] * from_middle,
            )
            _add_four_rows(image[row], views, first, 0, at)


@njit(cache=True, nogil=True)
def _add_transposed(image: Any, part: Any) -> None:
    """By squares that stay in the cache, which numpy's way does not."""
    height, width = image.shape
    for top in range(0, height, SQUARE):
        for left in range(0, width, SQUARE):
            for y in range(top, min(top + SQUARE, height)):
                for x in range(left, min(left + SQUARE, width)):
                    image[y, x] += part[x, y]
