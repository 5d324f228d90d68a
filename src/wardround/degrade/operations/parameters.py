"""How types read their severity parameters: lengths as shares of a side, and a direction that may be drawn."""

import math

import numpy as np
from numpy.random import Generator

from wardround.core.errors import WardroundError
from wardround.degrade.signature import Image, SeverityParameters

EDGE = 0.1  # the share of the body that may be lost before a direction counts as having no room
ROOM = 0.15  # of white: as much as a mild change of brightness
SEEN = (0.05, 0.97)  # of white: on a display what is clearly darker looks black, and what is brighter looks white
FULL_SIDE = 512  # pixels: images of this side and larger ones are blurred by the same share of it
LOST_DETAIL = 0.118  # of FULL_SIDE, squared: fitted (docs/degradations.md)


def reference_side(image: Image) -> float:
    """The length in pixels of which the severity table gives shares: the shorter side, of a small image more.

    A small image has less fine detail that a blur could take; so that it loses as much, the blur is wider.
    """
    side = min(image.shape[:2])
    return math.sqrt(side**2 + LOST_DETAIL * max(0, FULL_SIDE**2 - side**2))


def is_lighter(severity: SeverityParameters, rng: Generator, brightness: Image) -> bool:
    """Lighter or darker: as the table says or as drawn, unless the body (its pixels' brightness) has no room there.

    Drawn in any case, so that the rest of what is drawn does not depend on the table. The same at every severity.
    """
    lighter = {"lighter": True, "darker": False, "either": bool(rng.integers(2))}
    try:
        wanted = lighter[severity["direction"]]
    except KeyError:
        raise WardroundError(f"direction {severity['direction']!r}: expected lighter, darker or either") from None
    below, above = room(brightness, EDGE)
    wanted_room, other_room = (above, below) if wanted else (below, above)
    return wanted if wanted_room >= min(ROOM, other_room) else not wanted


def room(brightness: Image, share: float, limits: tuple[float, float] = (0.0, 1.0)) -> tuple[float, float]:
    """How far values can fall, and how far they can rise, until this share of them is below and above the limits."""
    low, high = np.quantile(brightness, (share, 1 - share))
    return max(0.0, float(low) - limits[0]), max(0.0, limits[1] - float(high))
