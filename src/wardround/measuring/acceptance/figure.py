"""EndpointFigure: a figure of one candidate with its 95% interval and one-sided p-values at any boundary."""

from collections.abc import Callable
from dataclasses import dataclass

ALPHA = 0.025  # one-sided, of every endpoint
NOT_SHARED = "no shared questions"


def _never(boundary: float) -> float:
    return 1.0


@dataclass(frozen=True)
class EndpointFigure:
    """`value` is a difference if the endpoint is against a candidate or people. Without an interval nothing is shown.

    Where p is at most ALPHA the interval excludes the boundary; the other way round too, but for resampled rates.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    clusters: int = 0
    method: str = ""  # empty: nothing was asked
    p_above: Callable[[float], float] = _never  # of a true value that is not above the boundary
    p_below: Callable[[float], float] = _never
    spread: Callable[[float], float] = _never  # the standard deviation per cluster, if the boundary is the true value

    @property
    def has_interval(self) -> bool:
        return self.value is not None and self.low is not None and self.high is not None


FiguresBySlice = dict[str, dict[str, EndpointFigure]]  # by candidate and by the slice of a group, as JSON
