"""Lighter or darker: a direction that the severity table gives, or leaves to be drawn."""

from __future__ import annotations

from numpy.random import Generator

from wardround.core.errors import WardroundError
from wardround.degrade.severities import Severity


def goes_lighter(severity: Severity, rng: Generator) -> bool:
    """Drawn in any case, so that the rest of what is drawn does not depend on the table."""
    lighter = {"lighter": True, "darker": False, "either": bool(rng.integers(2))}
    try:
        return lighter[severity["direction"]]
    except KeyError:
        raise WardroundError(f"direction {severity['direction']!r}: expected lighter, darker or either") from None
