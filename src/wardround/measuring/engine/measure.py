"""What a measure is: a function of sums over items, and the interval that it gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from wardround.measuring.engine.exact import Floats


class Kind(Enum):
    """What a measure is decides which interval it gets."""

    RATE = "a count out of a count"
    MEAN = "a mean of values between 0 and 1"
    SIGNED = "a mean of values between -1 and 1"
    COMPOSITE = "any other function of sums"
    REFERENCE = "what others are held against: without an interval"
    CONDITION = "yes or no: told as the share of resamples in which it holds"
    JOINED = "made of other figures: joined.py"

    @property
    def is_mean(self) -> bool:
        return self in (Kind.RATE, Kind.MEAN, Kind.SIGNED)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A figure over marks: the sums that its function takes, and what its n counts.

    The first two sums of a rate or mean are its numerator and its denominator.
    """

    name: str
    value: Callable[..., Floats]
    sums: tuple[str, ...]
    kind: Kind
    n: str
    about: str = "asked"  # the group of items that it is about
    version: str = ""
    needs: str = ""  # the sum without which it is left out; by default the group that it is about
    where: str = ""  # the slice key to which it belongs: written only there
    not_by: frozenset[str] = frozenset()  # slice keys by which it has no meaning
    range: tuple[float, float] = (0.0, 1.0)
    beside: bool = False  # stands beside the figure that is compared

    @property
    def needed(self) -> str:
        return self.needs or self.about

    @property
    def counted(self) -> str:
        """The sum that is above zero in each cluster that has a part in it."""
        return self.sums[1] if self.kind.is_mean else self.n
