"""`wardround check` holds votes against the log-probabilities of a few items."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exam_server import ExamServer
from exam_study import write_cases, write_study
from scipy.stats import kstest

from wardround.preflight import VOTES, chance_of, check_study

SHARES = {"A": 0.6, "B": 0.25, "C": 0.1, "D": 0.05}


def tokens(body: dict[str, Any]) -> list[tuple[str, float]]:
    return [(letter, math.log(share)) for letter, share in SHARES.items()]


@pytest.mark.parametrize("power", [1.0, 3.0])  # votes at temperature 1, and at a third of it
def test_votes_of_another_temperature_are_warned_of(tmp_path: Path, power: float) -> None:
    drawing = random.Random(5)
    weights = [share**power for share in SHARES.values()]
    with ExamServer(lambda body, index: drawing.choices(list(SHARES), weights)[0], first_token=tokens) as server:
        write_cases(tmp_path / "cases", 8)
        study = write_study(tmp_path, server.url, conditions={"confidence": "logprobs"})
        (told,) = check_study(study, runs=tmp_path / "runs", note=lambda line: None).told["candidates"]
    assert bool(told["warnings"]) == (power != 1.0)
    assert all("20 votes on each of 5 items disagree" in line for line in told["warnings"])


def test_honest_votes_are_accused_as_rarely_as_said() -> None:
    drawing = np.random.default_rng(11)
    shares = np.array([0.7, 0.2, 0.05, 0.04, 0.01])
    chances = [chance_of([(drawing.multinomial(VOTES, shares).astype(float), shares)]) for _ in range(200)]
    assert kstest(chances, "uniform", alternative="greater").pvalue > 0.001
