"""How often endpoints of acceptance pass or fail a candidate whose true value is exactly at the limit."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wardround.measuring.acceptance.endpoints import decide
from wardround.measuring.acceptance.verdicts import FAIL, PASS
from wardround.selfcheck.coverage_designs import CLUSTER_SKILL, QUESTIONS, SIZES, KnownTruth, marks_of
from wardround.selfcheck.interval_coverage import TruthCoverage, simulated_study

REPEATS = 400  # drawn subsets of pairs make a verdict costly
CANDIDATES = 10  # of one study, all tested against the same one: more would be alike
AGAINST = "0"
ACCURACY = CLUSTER_SKILL[0] / sum(CLUSTER_SKILL)
MARGIN = 0.1
CLAIMS = {"no pass at the limit": PASS, "no fail at the limit": FAIL}


class EndpointDesign(NamedTuple):
    """An endpoint, and by how much the candidates that are tested are worse than the other one."""

    name: str
    endpoint: dict[str, Any]
    worse: float


ENDPOINTS = (
    EndpointDesign("superiority to a number", {"threshold": ACCURACY}, 0.0),
    EndpointDesign("superiority to a candidate", {"against": AGAINST}, 0.0),
    EndpointDesign("non-inferiority", {"test": "non-inferiority", "against": AGAINST, "margin": MARGIN}, MARGIN),
    EndpointDesign("equivalence", {"test": "equivalence", "against": AGAINST, "margin": MARGIN}, MARGIN),
)


def measure_acceptance(
    repeats: int = REPEATS,
    seed: int = 0,
    note: Callable[[str], None] = print,
    sizes: Sequence[int] = SIZES,
) -> list[TruthCoverage]:
    """The shares of verdicts that are not a false pass or a false fail: one answer a cluster, and correlated ones."""
    rows = []
    for design in ENDPOINTS:
        note(f"{design.name}: {repeats:,} verdicts at the limit, at {', '.join(map(str, sizes))} clusters")
        for questions in (1, QUESTIONS):
            for clusters in sizes:
                rng = np.random.default_rng([seed, clusters, questions])
                verdicts = _verdicts(rng, design, questions, clusters, repeats)
                name = f"{design.name}, {questions} answers a cluster" if questions > 1 else design.name
                rows += [
                    TruthCoverage(
                        *(name, clusters, 1, KnownTruth(claim, design.worse, "verdict"), len(verdicts)),
                        coverage=float((verdicts != wrong).mean()),  # type: ignore[arg-type]
                        width=0.0,
                    )
                    for claim, wrong in CLAIMS.items()
                ]
    return rows


def _verdicts(
    rng: np.random.Generator, design: EndpointDesign, questions: int, clusters: int, repeats: int
) -> pl.Series:
    verdicts = []
    for first in range(0, repeats, CANDIDATES):
        skill = np.broadcast_to(rng.beta(*CLUSTER_SKILL, size=(1, clusters, 1, 1)), (CANDIDATES + 1, clusters, 1, 1))
        own = rng.beta(*CLUSTER_SKILL, size=skill.shape)
        chances = np.where(rng.random(skill.shape) < 0.5, skill, own)  # candidates agree on half of the cases
        chances[1:] *= 1 - design.worse / ACCURACY
        right = rng.random((CANDIDATES + 1, clusters, questions, 1)) < chances
        endpoint = {"limit": {"measure": "accuracy"} | design.endpoint}
        study = simulated_study(CANDIDATES + 1, 1, first, acceptance=endpoint)
        verdicts.append(decide(marks_of(right), study).filter(pl.col("candidate") != AGAINST)["verdict"])
    return pl.concat(verdicts)
