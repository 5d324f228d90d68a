"""MeasureRecord: all that wardround knows of one measure. Formulas, docs/measures.md and the report read it.

docs/measures.md says how a plug-in adds one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from wardround.core.errors import WardroundError
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.known_sums import require_known
from wardround.measuring.engine.measure import (
    LIMIT,
    STATED,
    STATED_OPEN,
    VOTES,
    Measure,
    MeasureKind,
    measure_name,
)
from wardround.measuring.measures.formulas import ratio
from wardround.plugins import extensions

FRACTION, SIGNED_FRACTION = "fraction", "signed fraction"
QUESTION_KEYS = frozenset({"stage", "skill", "capability", "grade", "kind", "task", "type", "severity", "category"})
CLAIMS_BY_SOURCE = {  # by source of claims: the sums of confidence, of confidence minus right, and of claims
    "verbal": ("stated", "stated_shift", "stated_of"),
    "verbal_open": ("stated_open", "stated_open_shift", "stated_open_of"),
    "votes": ("agreement", "share_shift", "claims_certain"),
    "inf": ("agreement_inf", "share_shift_inf", "claims_certain_inf"),
}
MARK_VALUE = "mark:"  # prefix of the sums of a plug-in's value per mark


@dataclass(frozen=True)
class MeasureContext:
    """What the variants of a measure depend on."""

    trials: int = 1
    parsers: str = ""
    judges: str = ""
    letters: int = 0  # the largest number of options
    importance: float | None = None  # what the importance of questions was divided by
    probes: int = 0  # values of the axis `probe`; figures of different texts are never pooled
    axes: tuple[str, ...] = ()  # of the criteria of rubrics
    depth: int = 0  # the k of hit@k and the like

    @property
    def has_votes(self) -> bool:
        return self.trials > 1

    @property
    def votes(self) -> str:
        return f"T={self.trials}"

    @property
    def vote_sources(self) -> list[VoteSource]:
        """T counted or expected votes, and the limit of many votes."""
        votes = [VoteSource("", VOTES, self.votes)] if self.has_votes else []
        return [*votes, VoteSource("_inf", LIMIT, "")]

    @property
    def claim_sources(self) -> list[ClaimSource]:
        votes = [ClaimSource("votes", "voted", VOTES, self.votes)] if self.has_votes else []
        stated = [
            ClaimSource("verbal", "verbal", STATED, ""),
            ClaimSource("verbal_open", "verbal_open", STATED_OPEN, ""),
        ]
        return [*stated, *votes, ClaimSource("inf", "shared", LIMIT, "")]


class VoteSource(NamedTuple):
    """Counted or expected votes: the suffix of their sums, and the source and version of their measures."""

    suffix: str
    source: str
    version: str

    @property
    def fields(self) -> dict[str, Any]:
        return {"source": self.source, "version": self.version}

    @property
    def claims(self) -> str:
        """Its source of claims."""
        return "inf" if self.suffix else "votes"


class ClaimSource(NamedTuple):
    """One source of confidence: its name in sums, its group of items, and source and version of its measures."""

    sums: str
    group: str
    source: str
    version: str

    @property
    def n(self) -> str:
        """The sum that counts its claims."""
        return f"claims:{self.sums}"

    @property
    def fields(self) -> dict[str, Any]:
        return {"group": self.group, "source": self.source, "version": self.version, "requires": self.n}


Versions = Callable[[MeasureContext], Sequence[Measure]]


@dataclass(frozen=True, kw_only=True)
class MeasureRecord:
    """One measure: its variants (sums, formula, kind of interval) and its words.

    A plug-in may give `mark_value` instead of `versions`: an expression over the columns of marks.parquet with the
    value of each mark, null if the mark does not count. The measure is then the mean of these values.
    """

    name: str  # in measures.csv; `hit@k` means one measure for each of `depths`
    label: str  # its heading in reports
    meaning: str  # one sentence for readers of reports
    formula_text: str  # formula and edge cases
    origin: str  # the paper, or that it is our choice
    versions: Versions | None = None
    depths: tuple[int, ...] = ()
    unit: str = FRACTION
    mark_value: pl.Expr | None = None
    mark_kind: MeasureKind = MeasureKind.MEAN  # MEAN: values from 0 to 1; SIGNED: from -1 to 1

    def measures(self, context: MeasureContext) -> list[Measure]:
        """The measure and its variants that a study has, each with its own name, in the order of measures.csv."""
        contexts = [replace(context, depth=depth) for depth in self.depths] or [context]
        measures = [
            self._named(self._checked(measure), self.name.replace("@k", f"@{place.depth}"))
            for place in contexts
            for measure in (self.versions or self._mark_means)(place)
        ]
        names = [measure.name for measure in measures]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise WardroundError(f"measure {repeated[0]!r} has two versions of this name; give each its own `variant`")
        return measures

    def _named(self, measure: Measure, base: str) -> Measure:
        return replace(measure, base=base, name=measure_name(base, measure.variant, measure.source))

    def _checked(self, measure: Measure) -> Measure:
        """The measure, unless it names a sum that does not exist."""
        if measure.kind is not MeasureKind.DERIVED:
            for name in (*measure.sums, measure.n, measure.group, measure.required_sum, *(measure.claims or ())):
                require_known(name, self.name)
        return measure

    def _mark_means(self, context: MeasureContext) -> list[Measure]:
        value, weight, n = mark_sums(self.name)
        return [mean_of(self.mark_kind, value, weight, n=n, requires=n)]


def mean_of(kind: MeasureKind, part: str, whole: str, *, n: str = "", **fields: Any) -> Measure:
    """One sum divided by another; n counts the other by default."""
    return Measure(name="", formula=ratio, sums=(part, whole), kind=kind, n=n or whole, **fields)


rate, mean, signed = (partial(mean_of, kind) for kind in (MeasureKind.RATE, MeasureKind.MEAN, MeasureKind.SIGNED))


def composite(formula: Callable[..., Floats], sums: Sequence[str], n: str, **fields: Any) -> Measure:
    """Any other function of sums."""
    return Measure(name="", formula=formula, sums=tuple(sums), n=n, **({"kind": MeasureKind.COMPOSITE} | fields))


def derived(**fields: Any) -> Measure:
    """A figure that measures/derived.py makes of others."""
    return Measure(name="", formula=ratio, sums=(), kind=MeasureKind.DERIVED, n="", **fields)


def mark_sums(name: str) -> tuple[str, str, str]:
    """The sums of a value per mark: values, weights and marks."""
    return f"{MARK_VALUE}{name}", f"{MARK_VALUE}{name}_weight", f"{MARK_VALUE}{name}_n"


def plugin_records() -> list[MeasureRecord]:
    """The records of plug-ins, by name."""
    records = []
    for name, plugin in extensions("measures").items():
        extension = plugin.load()
        try:
            record = extension() if callable(extension) else extension
        except Exception as error:
            problem = f"could not be made: {type(error).__name__}: {error}"
            raise WardroundError(f"measure {name!r} ({plugin.origin}) {problem}") from error
        if not isinstance(record, MeasureRecord):
            raise WardroundError(f"measure {name!r} ({plugin.origin}) is {record!r}; expected a MeasureRecord")
        if record.name != name or (record.versions is None) == (record.mark_value is None):
            problem = f"is named {record.name!r}" if record.name != name else "needs either versions or mark_value"
            raise WardroundError(f"measure {name!r} ({plugin.origin}) {problem}")
        records.append(record)
    return records
