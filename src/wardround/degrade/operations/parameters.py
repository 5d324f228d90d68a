"""How types read their severity parameters: lengths as shares of a side, and a direction that may be drawn."""

from numpy.random import Generator

from wardround.core.errors import WardroundError
from wardround.degrade.signature import Image, SeverityParameters

MIN_SIDE = 256  # pixels: a smaller image counts as this large, as less than a pixel could not be seen


def reference_side(image: Image) -> int:
    """The length in pixels of which the severity table gives shares: the shorter side."""
    height, width = image.shape[:2]
    return max(min(int(height), int(width)), MIN_SIDE)


def is_lighter(severity: SeverityParameters, rng: Generator) -> bool:
    """Lighter or darker; drawn in any case, so that the rest of what is drawn does not depend on the table."""
    lighter = {"lighter": True, "darker": False, "either": bool(rng.integers(2))}
    try:
        return lighter[severity["direction"]]
    except KeyError:
        raise WardroundError(f"direction {severity['direction']!r}: expected lighter, darker or either") from None
