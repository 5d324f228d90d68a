"""Undersampling: an MRI scan shortened by leaving out lines of k-space.

What is left out along the phase-encode axis folds over: equally spaced lines lay faint copies of edges over the image
(`pattern` "equispaced"), randomly chosen ones an incoherent haze ("random"). The centre of k-space, which holds the
contrast, is acquired in full; the missing lines are zero, and the magnitude is shown. The object has a smooth phase,
as in a real scanner, so that the two halves of k-space are not mirror images. A body that the frame cuts goes on and
fades out beyond it, in a larger field of view: an edge there would fold over as a line.

`kept` is the share of lines acquired, `centre` the share of them around the middle that is never left out, both of an
image of 512 lines. The lines lie as far apart in an image of more or fewer: its centre has as many (in a smaller one
somewhat fewer, or else little would be left to lose), and beyond it the same share is kept. The lines are drawn in
one order of which more or fewer are kept: those of a worse image are among those of a better one. In the equispaced
order every fourth line comes before every second one (kept shares between have both spacings); in the random one
every stretch of lines is thinned out alike.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from wardround.core.errors import WardroundError
from wardround.degrade.operations.frame import along_frame, extend_along
from wardround.degrade.operations.kspace import Lines, line_numbers, multiply_lines, smooth_phase
from wardround.degrade.signature import Image, SeverityParameters

PHASE = 1.5  # radians: the most of each term
COUNTED_AT, POWER = 512, 0.25  # lines, and the power of their number by which a smaller image has fewer central ones
MOST_CENTRAL = 0.5  # of the lines: of a very small image nothing would be left to lose
STRETCH = 16  # neighbouring lines, of which one is kept before a second one is


def undersampling(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    axis = int(rng.integers(2))
    body, margin = extend_along(image, axis)
    phase = smooth_phase(body.shape, rng, PHASE)
    order = line_order(body.shape[axis], severity["pattern"], rng)
    kept = kept_lines(order, severity["kept"], severity["centre"], image.shape[axis])
    return along_frame(multiply_lines(body, axis, kept.astype(np.complex64), phase), axis, margin)


def line_order(count: int, pattern: str, rng: Generator) -> Lines:
    """The rank of each line, in the order of `line_numbers`: the lower, the longer it is kept."""
    first = int(rng.integers(4))
    shuffled = rng.permutation(count)
    if pattern not in ("equispaced", "random"):
        raise WardroundError(f"pattern {pattern!r}: expected equispaced or random")
    if pattern == "random":
        turn = np.empty(count, np.int64)  # of each line in its stretch
        turn[np.lexsort((shuffled, line_numbers(count) // STRETCH))] = np.arange(count) % STRETCH
        return np.lexsort((shuffled, turn)).argsort()
    bits = max(1, (count - 1).bit_length())
    reversed_bits = np.zeros(count, np.int64)
    places = (line_numbers(count) + first) % 2**bits
    for bit in range(bits):  # read backwards, the multiples of four come first, then the other even numbers
        reversed_bits |= ((places >> bit) & 1) << (bits - 1 - bit)
    return reversed_bits.argsort().argsort()


def kept_lines(order: Lines, kept: float, centre: float, size: int | None = None) -> NDArray[np.bool_]:
    """Which lines are acquired, in the order of `line_numbers`: the centre, and so many of the rest by rank.

    `size` is that of the image, where the lines are of a larger field of view and lie closer together.
    """
    count = len(order)
    size = size or count
    central = min(centre * COUNTED_AT * min(1.0, size / COUNTED_AT) ** POWER, size * MOST_CENTRAL) * count / size
    whole = np.abs(line_numbers(count)) <= central / 2 + 1e-6
    acquired: NDArray[np.bool_] = whole | (order < (kept - centre) / max(1 - centre, 1e-9) * count)
    return acquired
