"""Contrasts of leakage probes: paired differences, and accuracy before and after a candidate's cutoff.

Only some can show leakage. A candidate that knows medicine gives the right explanation of a case a higher
log-likelihood than that of another case, and continues a stem about the same patient. Paraphrases may in general be
more or less usual than the originals. A rationale quotes the stem, and a candidate copies from it. None of these
explains that the original words lead their paraphrase by more than those of another case do where nothing can be
copied, nor a preference for the options' own order, nor for older cases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.resampling.bootstrap import resample_weights

LEVEL = 0.95
ASKED = ("case", "question")
TEXT = ("text_case", "text_question")  # whose text it is
BITS = -pl.col("logprob") / log(2) / pl.col("bytes")


@dataclass(frozen=True)
class ProbeContrast:
    """One comparison of a probe with another, by some value.

    With `words` each is first compared with its paraphrase. It can show leakage if it has a `margin`: then nothing can
    be copied from the stem, and leakage is claimed for what is above the margin.
    """

    name: str
    own: str
    counter: str
    value: pl.Expr
    higher: bool  # whether the leaked text has the higher value
    words: bool = False
    margin: float | None = None


@dataclass(frozen=True)
class LeakageContrast:
    """A mean difference in the direction of leakage, with its interval; `beyond`: above the margin after adjustment."""

    name: str
    shows: bool
    own: float
    counter: float
    value: float
    n: int
    clusters: int
    low: float | None = None
    high: float | None = None
    margin: float = 0.0
    beyond: bool = False


def _text_contrasts(title: str, own: str, value: pl.Expr, higher: bool) -> list[ProbeContrast]:
    """Against the paraphrase, against another case's text, and the lead over the paraphrase against the other lead."""
    return [
        ProbeContrast(f"{title}: own words, other words", own, f"{own}-paraphrase", value, higher),
        ProbeContrast(f"{title}: own text, another case's", own, f"{own}-other", value, higher),
        _lead(title, own, value, higher),
    ]


def _lead(title: str, own: str, value: pl.Expr, higher: bool, margin: float | None = None) -> ProbeContrast:
    name = f"{title}: own words' lead, another case's"
    return ProbeContrast(name, own, f"{own}-other", value, higher, words=True, margin=margin)


LIKENESS = {"ROUGE-L": pl.col("rouge_l"), "EDS": pl.col("eds")}
MASKED_LIKENESS = {"ROUGE-L": pl.col("rouge_l_masked"), "EDS": pl.col("eds_masked")}
BITS_MARGIN, LIKENESS_MARGIN = 0.05, 0.2  # our choice: what usual words may lead by without any memory
MASKED_BITS = _lead("Bits per byte, nothing to copy", "reference-masked", BITS, False, BITS_MARGIN)
PROBE_CONTRASTS = (
    *_text_contrasts("Bits per byte", "reference", BITS, higher=False),
    MASKED_BITS,
    *_text_contrasts("Rationale, ROUGE-L", "rationale", LIKENESS["ROUGE-L"], higher=True),
    *_text_contrasts("Rationale, EDS", "rationale", LIKENESS["EDS"], higher=True),
    *(
        _lead(f"Rationale, {name} of words not in the stem", "rationale", value, True, LIKENESS_MARGIN)
        for name, value in MASKED_LIKENESS.items()
    ),
    *(
        ProbeContrast(
            f"Second half, {name}: own text, another case's", "second-half", "second-half-other", value, higher=True
        )
        for name, value in LIKENESS.items()
    ),
)
ORDER = "Options' own order: other orders that are less probable, by chance"
BEFORE = "Accuracy: published before the cutoff, after"


def leakage_contrasts(
    marks: pl.DataFrame,
    probes: Mapping[str, str],
    cutoff: str | None,
    seed: int,
    scored_outcomes: Sequence[str] = ("right", "wrong", "unparsed", "refused"),
) -> list[LeakageContrast]:
    """All contrasts that the marks of one candidate allow. `probes`: the probe of each condition."""
    probed = marks.with_columns(probe=pl.col("condition").replace_strict(probes, default="none"))
    added = {"rouge_l_masked": pl.Float64, "eds_masked": pl.Float64, **dict.fromkeys(TEXT, pl.String)}
    missing = {name: dtype for name, dtype in added.items() if name not in marks.columns}  # in earlier marks
    probed = probed.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in missing.items())
    probed = probed.with_columns(pl.coalesce(text, own) for text, own in zip(TEXT, ASKED, strict=True))
    resamples = _Resamples(probed, seed)
    candidates = [_paired(probed, probe_contrast, resamples) for probe_contrast in PROBE_CONTRASTS]
    scored = probed.filter(pl.col("outcome").is_in(scored_outcomes))
    candidates += [_option_order(probed, resamples), _before_cutoff(scored, cutoff, resamples)]
    contrasts = [contrast for contrast in candidates if contrast]
    claims = sum(contrast.shows for contrast in contrasts)
    return [resamples.with_interval(contrast, claims) for contrast in contrasts]


class _Resamples:
    """Resamples of the clusters of one candidate's marks: the same for all contrasts."""

    def __init__(self, marks: pl.DataFrame, seed: int) -> None:
        self._clusters = {name: place for place, name in enumerate(marks["cluster"].unique().sort())}
        self._seed = seed
        self._values: dict[str, Floats] = {}

    def add(self, name: str, *sides: pl.DataFrame) -> None:
        """Resamples the mean of `value`; of two sides, the difference of their means."""
        means = []
        for side in sides:
            sums = np.zeros((2, len(self._clusters)))
            place = [self._clusters[cluster] for cluster in side["cluster"]]
            np.add.at(sums[0], place, side["value"].to_numpy())
            np.add.at(sums[1], place, 1.0)
            blocks = [sums @ weights for weights in resample_weights(len(self._clusters), self._seed)]
            total, count = np.hstack(blocks)
            means.append(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))
        self._values[name] = means[0] if len(means) == 1 else means[0] - means[1]

    def with_interval(self, contrast: LeakageContrast, claims: int) -> LeakageContrast:
        """Adds the 95% interval; `beyond` is adjusted for all contrasts that can show leakage (Bonferroni)."""
        values = self._values[contrast.name]
        if contrast.clusters < FEWEST or np.isnan(values).all():
            return contrast
        low, high = np.nanquantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        strict = np.nanquantile(values, (1 - LEVEL) / 2 / max(1, claims))
        beyond = bool(contrast.shows and strict > contrast.margin)
        return replace(contrast, low=float(low), high=float(high), beyond=beyond)


def _paired(marks: pl.DataFrame, probe_contrast: ProbeContrast, resamples: _Resamples) -> LeakageContrast | None:
    """The same question probed with its own text and with the other one; a lead, the same text after both questions.

    A text's own style is then the same on both sides. One that is nobody's counterpart is left out.
    """
    probes = probe_contrast.own, probe_contrast.counter
    own, counter = (_by_question(marks, probe, probe_contrast) for probe in probes)
    if probe_contrast.words:
        counter = counter.group_by(*TEXT, maintain_order=True).agg(pl.col("value").mean())
        both = own.join(counter, on=TEXT, suffix="_b", maintain_order="left").drop_nulls()
    else:
        both = own.join(counter.drop("cluster"), on=ASKED, suffix="_b", maintain_order="left").drop_nulls()
    if both.is_empty():
        return None
    sign = 1 if probe_contrast.higher or probe_contrast.words else -1
    both = both.with_columns(value=sign * (pl.col("value") - pl.col("value_b")), own="value")
    contrast = _contrast(probe_contrast.name, probe_contrast.margin is not None, both, resamples)
    return replace(contrast, margin=probe_contrast.margin or 0.0)


def _option_order(marks: pl.DataFrame, resamples: _Resamples) -> LeakageContrast | None:
    """The share of other orders that are less probable than the options' own, ties as half: 0.5 by chance."""
    own = _values(marks, "options@0", pl.col("logprob"))
    others = marks.filter(pl.col("probe").str.starts_with("options@"), pl.col("probe") != "options@0")
    both = own.join(others.select(*ASKED, other="logprob"), on=ASKED, maintain_order="left").drop_nulls()
    if both.is_empty():
        return None
    beaten = (pl.col("value") > pl.col("other")).cast(pl.Float64) + 0.5 * (pl.col("value") == pl.col("other"))
    share = both.group_by(*ASKED, "cluster", maintain_order=True).agg(own=beaten.mean())
    share = share.with_columns(value=pl.col("own") - 0.5, value_b=pl.lit(0.5))
    return _contrast(ORDER, True, share, resamples)


def _before_cutoff(marks: pl.DataFrame, cutoff: str | None, resamples: _Resamples) -> LeakageContrast | None:
    """Accuracy on cases published before and after the cutoff; a date that says neither is left out."""
    if cutoff is None or "published" not in marks.columns:
        return None
    known = pl.col("published").is_not_null() & pl.col("published").str.slice(0, len(cutoff)).ne(cutoff)
    known &= pl.lit(cutoff).str.starts_with(pl.col("published")).not_()
    right = (pl.col("outcome") == "right").cast(pl.Float64)
    asked = marks.filter(known, pl.col("k").is_not_null())
    dated = asked.group_by(*ASKED, "cluster", "published", maintain_order=True).agg(value=right.mean())
    before, after = (dated.filter(side) for side in (pl.col("published") < cutoff, pl.col("published") >= cutoff))
    if before.is_empty() or after.is_empty():
        return None
    resamples.add(BEFORE, before, after)
    first, second = (float(side["value"].to_numpy().mean()) for side in (before, after))
    clusters = min(side["cluster"].n_unique() for side in (before, after))
    return LeakageContrast(BEFORE, True, first, second, first - second, len(before) + len(after), clusters)


def _by_question(marks: pl.DataFrame, probe: str, probe_contrast: ProbeContrast) -> pl.DataFrame:
    """The mean value of a probe for each question; with `words`, its lead over the paraphrase."""
    values = _values(marks, probe, probe_contrast.value)
    if not probe_contrast.words:
        return values
    sign = 1 if probe_contrast.higher else -1
    other_words = _values(marks, f"{probe}-paraphrase", probe_contrast.value).drop("cluster")
    both = values.join(other_words, on=ASKED, suffix="_w", maintain_order="left").drop_nulls()
    texts = marks.filter(pl.col("probe") == probe).select(*ASKED, *TEXT).unique(ASKED, maintain_order=True)
    both = both.join(texts, on=ASKED, maintain_order="left")
    return both.select(*ASKED, *TEXT, "cluster", value=sign * (pl.col("value") - pl.col("value_w")))


def _values(marks: pl.DataFrame, probe: str, value: pl.Expr) -> pl.DataFrame:
    values = marks.filter(pl.col("probe") == probe).select(*ASKED, "cluster", value=value).drop_nulls()
    return values.group_by(*ASKED, "cluster", maintain_order=True).agg(pl.col("value").mean())


def _contrast(name: str, shows: bool, both: pl.DataFrame, resamples: _Resamples) -> LeakageContrast:
    resamples.add(name, both)
    own, counter, value = (float(both[column].to_numpy().mean()) for column in ("own", "value_b", "value"))
    return LeakageContrast(name, shows, own, counter, value, len(both), both["cluster"].n_unique())
