"""Coverage of differences and of group contrasts, agreement of interval and p, and false alarms."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.core.condition import Condition
from wardround.measuring import compare, compare_groups
from wardround.selfcheck.coverage_designs import CLUSTER_SKILL, QUESTIONS, SIZES, SKILL, KnownTruth, marks_of
from wardround.selfcheck.interval_coverage import REPEATS, TruthCoverage, simulated_study

AXIS, VALUES = "stem", ("full", "options-only")
LOST = (0.0, 0.15)  # share of the right answers that the second condition loses
GROUP_SIZES = (36, 60, 200)  # clusters: three groups of at least 8
GROUPS = {"F": 0.5, "M": 0.25, "X": 0.25}  # shares of the clusters
WORSE = (0.0, 0.2)  # by how much group X is worse
ALPHA = 0.05
MAX_CLUSTERS = 40_000  # of all candidates of a study


class RepeatResults(NamedTuple):
    """For every repeat whether each of some claims holds, and the width of its interval."""

    holds: dict[str, pl.Series]
    width: float


Simulate = Callable[[np.random.Generator, int, int, int, int], RepeatResults]  # repeats, clusters, trials, seed


def measure_comparisons(
    repeats: int = REPEATS,
    seed: int = 0,
    note: Callable[[str], None] = print,
    sizes: Sequence[int] = SIZES,
    group_sizes: Sequence[int] = GROUP_SIZES,
) -> list[TruthCoverage]:
    """Differences between two conditions and contrasts of three groups, without and with a true difference."""
    rows: list[TruthCoverage] = []
    for lost in LOST:
        truth = lost * SKILL[0] / sum(SKILL)
        note(f"differences of {truth:g}: {repeats:,} repeats at {', '.join(map(str, sizes))} clusters")
        for trials in (1, 5):
            for clusters in sizes:
                rows += _repeat(f"difference of {truth:g}", lost, clusters, trials, repeats, seed, _differences)
    for worse in WORSE:
        note(f"three groups, one {worse:g} worse: {repeats:,} repeats at {', '.join(map(str, group_sizes))} clusters")
        for clusters in group_sizes:
            rows += _repeat(f"groups, one {worse:g} worse", worse, clusters, 1, repeats, seed, _groups)
    return rows


def _repeat(
    design: str,
    effect: float,
    clusters: int,
    trials: int,
    repeats: int,
    seed: int,
    simulate: Callable[..., RepeatResults],
) -> list[TruthCoverage]:
    rng = np.random.default_rng([seed, clusters, trials])
    counts: dict[str, int] = {}
    width, batch = 0.0, max(1, MAX_CLUSTERS // clusters)
    for first in range(0, repeats, batch):
        size = min(batch, repeats - first)
        results = simulate(rng, size, clusters, trials, first, effect)
        counts = {name: counts.get(name, 0) + int(holds.sum()) for name, holds in results.holds.items()}
        width += size * results.width
    return [
        TruthCoverage(
            design, clusters, trials, KnownTruth(name, effect, KINDS[name]), repeats, count / repeats, width / repeats
        )
        for name, count in counts.items()
    ]


COVERED, AGREES, QUIET = "interval holds the truth", "interval and p agree", "no false alarm"
ALL_COVERED, BOUNDED = "all intervals hold their truths", "no group is below the bound"
KINDS = {COVERED: "smooth", AGREES: "agreement", QUIET: "boundary", ALL_COVERED: "boundary", BOUNDED: "boundary"}


def _differences(
    rng: np.random.Generator, repeats: int, clusters: int, trials: int, seed: int, lost: float
) -> RepeatResults:
    """One question per cluster, asked under two conditions; the second loses a share of the right answers."""
    skill = rng.beta(*SKILL, size=(repeats, clusters, 1, 1))
    conditions = []
    for value, kept in zip(VALUES, (1.0, 1.0 - lost), strict=True):
        right = rng.random((repeats, clusters, 1, trials)) < skill * kept
        conditions.append(marks_of(right).with_columns(condition=pl.lit(Condition(stem=value).json)))
    family = {"both": {"measure": "accuracy", "between": AXIS}}
    study = simulated_study(repeats, trials, seed, conditions={AXIS: list(VALUES)}, comparisons=family)
    marks = pl.concat(conditions).with_columns(pl.col("condition").cast(conditions[0].schema["condition"]))
    lines = compare(marks, study)
    truth = lost * SKILL[0] / sum(SKILL)  # the first condition minus the second
    excludes_zero = (lines["low"] > 0) | (lines["high"] < 0)
    holds = {
        COVERED: (lines["low"] <= truth + 1e-9) & (truth - 1e-9 <= lines["high"]),
        AGREES: excludes_zero == (lines["p"] <= ALPHA),
    }
    if not lost:
        holds[QUIET] = lines["p_adjusted"].is_null() | (lines["p"] > ALPHA)
    return RepeatResults(holds, float((lines["high"] - lines["low"]).mean()))  # type: ignore[arg-type]


def _groups(
    rng: np.random.Generator, repeats: int, clusters: int, trials: int, seed: int, worse: float
) -> RepeatResults:
    """Correlated clusters in three groups, of which the last is worse."""
    sizes = [round(share * clusters) for share in GROUPS.values()]
    group = np.repeat(list(GROUPS), sizes)
    kept = np.where(group == list(GROUPS)[-1], 1 - worse, 1.0)
    skill = rng.beta(*CLUSTER_SKILL, size=(repeats, len(group), 1, 1)) * kept[:, None, None]
    right = rng.random((repeats, len(group), QUESTIONS, trials)) < skill
    marks = marks_of(right).with_columns(pl.Series("sex", np.broadcast_to(group[:, None, None], right.shape).ravel()))
    lines = compare_groups(marks, simulated_study(repeats, trials, seed), ["sex"])
    mean = CLUSTER_SKILL[0] / sum(CLUSTER_SKILL)
    values = {name: mean * (1 - worse * (name == list(GROUPS)[-1])) for name in GROUPS}
    rests = {
        name: sum(values[other] * size for other, size in zip(GROUPS, sizes, strict=True) if other != name)
        / sum(size for other, size in zip(GROUPS, sizes, strict=True) if other != name)
        for name in GROUPS
    }
    truths = {f'{{"sex":"{name}"}}': values[name] - rests[name] for name in GROUPS}
    truth = pl.col("slice").replace_strict(truths, return_dtype=pl.Float64)
    covered = (pl.col("difference_low") <= truth + 1e-9) & (truth - 1e-9 <= pl.col("difference_high"))
    by_candidate = lines.group_by("candidate").agg(
        covered.all().alias("covered"),
        (pl.col("p_adjusted") > ALPHA).all().alias("quiet"),
        (pl.col("at_least").first() <= min(values.values())).alias("bounded"),
    )
    holds = {ALL_COVERED: by_candidate["covered"], BOUNDED: by_candidate["bounded"]}
    if not worse:
        holds[QUIET] = by_candidate["quiet"]
    return RepeatResults(holds, float((lines["difference_high"] - lines["difference_low"]).mean()))  # type: ignore[arg-type]
