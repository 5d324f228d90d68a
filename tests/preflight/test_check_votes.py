"""`wardround check` compares votes with the log-probabilities of a few items."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exam_server import ExamServer, text_of
from exam_study import write_cases, write_study
from scipy.stats import kstest

from wardround.preflight import VOTES, check_study, votes_p_value

SHARES = {"A": 0.6, "B": 0.25, "C": 0.1, "D": 0.05}


def tokens(body: dict[str, Any]) -> list[tuple[str, float]]:
    return [(letter, math.log(share)) for letter, share in SHARES.items()]


@pytest.mark.parametrize("power", [1.0, 3.0])  # votes at temperature 1, and at a third of it
def test_votes_at_another_temperature_raise_a_warning(tmp_path: Path, power: float) -> None:
    weights = [share**power for share in SHARES.values()]

    def vote(body: dict[str, Any], index: int) -> str:
        """The same in any order of calls."""
        return random.Random(f"{text_of(body)} {index}").choices(list(SHARES), weights)[0]

    with ExamServer(vote, first_token=tokens) as server:
        write_cases(tmp_path / "cases", 8)
        study = write_study(tmp_path, server.url, conditions={"confidence": "logprobs"})
        (candidate,) = check_study(study, runs=tmp_path / "runs", note=lambda line: None).summary["candidates"]
    assert bool(candidate["warnings"]) == (power != 1.0)
    assert all("20 votes on each of 5 items disagree" in line for line in candidate["warnings"])


def test_p_values_of_honest_votes_are_not_too_small() -> None:
    rng = np.random.default_rng(11)
    shares = np.array([0.7, 0.2, 0.05, 0.04, 0.01])
    p_values = [votes_p_value([(rng.multinomial(VOTES, shares).astype(float), shares)]) for _ in range(200)]
    assert kstest(p_values, "uniform", alternative="greater").pvalue > 0.001
