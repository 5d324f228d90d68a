"""Measure: a function of sums over items, and the kind of interval that it gets."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from wardround.measuring.engine.exact import Floats

VOTES, LIMIT, STATED = "", "in_the_limit", "stated"  # sources of confidence, as the names of measures end
STATED_OPEN = "stated_open"  # with open answers; `stated` is with choices, as accuracy is


def measure_name(*parts: str) -> str:
    """A name in measures.csv: the measure, its variant and its source of confidence, the last two only if not empty."""
    return "_".join(filter(None, parts))


def from_any_source(measure: str) -> tuple[str, ...]:
    """A measure of votes, then the same in the limit and as stated: what may stand for it if there are no votes."""
    return tuple(measure_name(measure, source) for source in (VOTES, LIMIT, STATED, STATED_OPEN))


class MeasureKind(Enum):
    """The kind of a measure decides its interval (docs/statistics.md, Intervals)."""

    RATE = "a count out of a count"
    MEAN = "a mean of values between 0 and 1"
    SIGNED = "a mean of values between -1 and 1"
    AUROC = "the share of pairs of a right and a wrong claim that confidence orders"
    CALIBRATION = "a distance that noise alone makes larger than 0"
    BOUNDED = "a mean of values between its bounds"
    AREA = "an area between 0 and 1 whose noise is skewed: near 0 it is larger upwards"
    COMPOSITE = "any other function of sums"
    REFERENCE = "a reference for other figures: no interval"
    CONDITION = "yes or no: the value is the share of resamples in which it holds"
    DERIVED = "made of other figures (measures/derived.py)"

    @property
    def is_mean(self) -> bool:
        return self in (MeasureKind.RATE, MeasureKind.MEAN, MeasureKind.SIGNED)

    @property
    def is_mean_of_values(self) -> bool:
        """Whether the first two sums are those of a mean of values within its bounds."""
        return self.is_mean or self is MeasureKind.BOUNDED

    @property
    def is_resampled_in_means(self) -> bool:
        """Whether a mean of several such figures has an interval: others have one of their own, or none."""
        return self.is_mean_of_values or self is MeasureKind.COMPOSITE


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure, or a variant of one: the sums that its formula takes, and the sum that its n counts.

    The first two sums of a rate or mean are its numerator and its denominator. `products` are pairs of sums that are
    multiplied in each cluster; their totals follow the sums. A measure with products cannot be resampled.
    """

    name: str  # in measures.csv; a variant has a name of its own, such as `ece_debiased_stated`
    formula: Callable[..., Floats]
    sums: tuple[str, ...]
    kind: MeasureKind
    n: str
    products: tuple[tuple[str, str], ...] = ()
    group: str = "asked"  # the sum that marks the items it is about
    base: str = ""  # the name of the measure that this is a variant of, such as `ece`
    variant: str = ""  # what the formula changes, such as `debiased`
    source: str = VOTES  # of confidence
    version: str = ""  # what else the value depends on: parser, judge, number of votes, constants
    claims: tuple[str, str, str] | None = None  # sums of confidence, of confidence minus right, and of claims
    requires: str = ""  # the sum without which it is left out; by default its group
    only_by: str = ""  # the slice key that it is written by; empty: all
    never_by: frozenset[str] = frozenset()  # slice keys by which it has no meaning
    compares: str = ""  # the axis whose values it compares: it is taken over all of them
    bounds: tuple[float, float] = (0.0, 1.0)
    is_companion: bool = False  # printed next to the variant that is compared

    @property
    def required_sum(self) -> str:
        return self.requires or self.group

    @property
    def cluster_sum(self) -> str:
        """The sum that is above zero in each cluster that contributes."""
        return self.sums[1] if self.kind.is_mean else self.n
