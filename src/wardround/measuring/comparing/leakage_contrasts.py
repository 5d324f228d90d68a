"""What probes of leakage are held against: paired differences, and answers before and after a candidate's cutoff.

Only some of them can show leakage. Whoever knows medicine foretells the right explanation of a case better than that
of another case, and goes on with a stem about the same patient. Paraphrases may as a whole be more or less usual than
what they paraphrase. What neither explains is that a question has its own words foretold better than the same in other
words by more than it has those of another case; nor a liking for the options' own order, nor for older cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log

import numpy as np
import polars as pl

from wardround.measuring.engine.bootstrap import resample_weights
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST

LEVEL = 0.95
ASKED = ("case", "question")
BITS = -pl.col("logprob") / log(2) / pl.col("bytes")


@dataclass(frozen=True)
class Held:
    """One way of holding a probe against another, by some value.

    With `words` both are first held against the same in other words, which can show leakage.
    """

    name: str
    own: str
    counter: str
    value: pl.Expr
    higher: bool  # whether the leaked text has the higher value
    words: bool = False


@dataclass(frozen=True)
class Contrast:
    """A mean difference in the direction of leakage, with its interval. `beyond` also holds for all others together."""

    name: str
    shows: bool
    own: float
    counter: float
    value: float
    n: int
    clusters: int
    low: float | None = None
    high: float | None = None
    beyond: bool = False


def _held(title: str, own: str, value: pl.Expr, higher: bool) -> list[Held]:
    """Against other words, against another case's text, and the first of these against the same of the other case."""
    return [
        Held(f"{title}: own words, other words", own, f"{own}-paraphrase", value, higher),
        Held(f"{title}: own text, another case's", own, f"{own}-other", value, higher),
        Held(f"{title}: own words' lead, another case's", own, f"{own}-other", value, higher, words=True),
    ]


LIKENESS = {"ROUGE-L": pl.col("rouge_l"), "EDS": pl.col("eds")}
HELD = (
    *_held("Bits per byte", "reference", BITS, higher=False),
    *_held("Rationale, ROUGE-L", "rationale", LIKENESS["ROUGE-L"], higher=True),
    *_held("Rationale, EDS", "rationale", LIKENESS["EDS"], higher=True),
    *(
        Held(f"Second half, {name}: own text, another case's", "second-half", "second-half-other", value, higher=True)
        for name, value in LIKENESS.items()
    ),
)
ORDER = "Options' own order: other orders that are less probable, by chance"
BEFORE = "Accuracy: published before the cutoff, after"


def contrasts(marks: pl.DataFrame, probes: Mapping[str, str], cutoff: str | None, seed: int) -> list[Contrast]:
    """All that the marks of one candidate allow. `probes` are the conditions as marks carry them, with their probe."""
    told = marks.with_columns(probe=pl.col("condition").replace_strict(probes, default="none"))
    drawn = _Drawn(told, seed)
    found = [each for held in HELD if (each := _paired(told, held, drawn))]
    found += [each for each in (_order(told, drawn), _before(told, cutoff, drawn)) if each]
    claiming = sum(each.shows for each in found)
    return [drawn.with_interval(each, claiming) for each in found]


class _Drawn:
    """Resamples of the clusters of one candidate's marks: the same for all contrasts."""

    def __init__(self, marks: pl.DataFrame, seed: int) -> None:
        self._clusters = {name: place for place, name in enumerate(marks["cluster"].unique().sort())}
        self._seed = seed
        self._values: dict[str, Floats] = {}

    def note(self, name: str, *sides: pl.DataFrame) -> None:
        """Resamples the mean of `value`; of two sides, the difference of their means."""
        means = []
        for side in sides:
            sums = np.zeros((2, len(self._clusters)))
            place = [self._clusters[cluster] for cluster in side["cluster"]]
            np.add.at(sums[0], place, side["value"].to_numpy())
            np.add.at(sums[1], place, 1.0)
            blocks = [sums @ weights for weights in resample_weights(len(self._clusters), self._seed)]
            total, many = np.hstack(blocks)
            means.append(np.divide(total, many, out=np.full(total.shape, np.nan), where=many > 0))
        self._values[name] = means[0] if len(means) == 1 else means[0] - means[1]

    def with_interval(self, contrast: Contrast, claiming: int) -> Contrast:
        """With its 95% interval. It is `beyond` 0 so that all that can show leakage err in 5% together (Bonferroni)."""
        values = self._values[contrast.name]
        if contrast.clusters < FEWEST or np.isnan(values).all():
            return contrast
        low, high = np.nanquantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        strict = np.nanquantile(values, (1 - LEVEL) / 2 / max(1, claiming))
        return replace(contrast, low=float(low), high=float(high), beyond=bool(contrast.shows and strict > 0))


def _paired(told: pl.DataFrame, held: Held, drawn: _Drawn) -> Contrast | None:
    """The same question probed with its own text and with the other one."""
    own, counter = (_by_question(told, probe, held) for probe in (held.own, held.counter))
    both = own.join(counter.drop("cluster"), on=ASKED, suffix="_b", maintain_order="left").drop_nulls()
    if both.is_empty():
        return None
    sign = 1 if held.higher or held.words else -1
    both = both.with_columns(value=sign * (pl.col("value") - pl.col("value_b")), own="value")
    return _contrast(held.name, held.words, both, drawn)


def _order(told: pl.DataFrame, drawn: _Drawn) -> Contrast | None:
    """The share of other orders that are less probable than the options' own, ties as half: 0.5 by chance."""
    own = _values(told, "options@0", pl.col("logprob"))
    others = told.filter(pl.col("probe").str.starts_with("options@"), pl.col("probe") != "options@0")
    both = own.join(others.select(*ASKED, other="logprob"), on=ASKED, maintain_order="left").drop_nulls()
    if both.is_empty():
        return None
    beaten = (pl.col("value") > pl.col("other")).cast(pl.Float64) + 0.5 * (pl.col("value") == pl.col("other"))
    share = both.group_by(*ASKED, "cluster", maintain_order=True).agg(own=beaten.mean())
    share = share.with_columns(value=pl.col("own") - 0.5, value_b=pl.lit(0.5))
    return _contrast(ORDER, True, share, drawn)


def _before(told: pl.DataFrame, cutoff: str | None, drawn: _Drawn) -> Contrast | None:
    """Accuracy on cases published before and after the cutoff; a date that says neither is left out."""
    if cutoff is None or "published" not in told.columns:
        return None
    known = pl.col("published").is_not_null() & pl.col("published").str.slice(0, len(cutoff)).ne(cutoff)
    known &= pl.lit(cutoff).str.starts_with(pl.col("published")).not_()
    scored = pl.col("outcome").is_in(("right", "wrong", "unparsed"))
    right = (pl.col("outcome") == "right").cast(pl.Float64)
    asked = told.filter(known, scored, pl.col("k").is_not_null())
    dated = asked.group_by(*ASKED, "cluster", "published", maintain_order=True).agg(value=right.mean())
    before, after = (dated.filter(side) for side in (pl.col("published") < cutoff, pl.col("published") >= cutoff))
    if before.is_empty() or after.is_empty():
        return None
    drawn.note(BEFORE, before, after)
    first, second = (float(side["value"].to_numpy().mean()) for side in (before, after))
    clusters = min(side["cluster"].n_unique() for side in (before, after))
    return Contrast(BEFORE, True, first, second, first - second, len(before) + len(after), clusters)


def _by_question(told: pl.DataFrame, probe: str, held: Held) -> pl.DataFrame:
    """The value of a probe for each question, over its trials; with `words`, by how much its own words lead."""
    found = _values(told, probe, held.value)
    if not held.words:
        return found
    sign = 1 if held.higher else -1
    other_words = _values(told, f"{probe}-paraphrase", held.value).drop("cluster")
    both = found.join(other_words, on=ASKED, suffix="_w", maintain_order="left").drop_nulls()
    return both.select(*ASKED, "cluster", value=sign * (pl.col("value") - pl.col("value_w")))


def _values(told: pl.DataFrame, probe: str, value: pl.Expr) -> pl.DataFrame:
    there = told.filter(pl.col("probe") == probe).select(*ASKED, "cluster", value=value).drop_nulls()
    return there.group_by(*ASKED, "cluster", maintain_order=True).agg(pl.col("value").mean())


def _contrast(name: str, shows: bool, both: pl.DataFrame, drawn: _Drawn) -> Contrast:
    drawn.note(name, both)
    own, counter, value = (float(both[column].to_numpy().mean()) for column in ("own", "value_b", "value"))
    return Contrast(name, shows, own, counter, value, len(both), both["cluster"].n_unique())
