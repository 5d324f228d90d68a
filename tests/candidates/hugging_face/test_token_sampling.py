"""Tokens are drawn from the distribution that `transformers` makes of the same settings, by each trial's own seed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from wardround.candidates.transformers.job import TokenSampling


@pytest.mark.parametrize(
    "settings",
    [
        TokenSampling(),
        TokenSampling(temperature=0.3),
        TokenSampling(top_k=5),
        TokenSampling(top_p=0.7),
        TokenSampling(temperature=1.7, top_k=20, top_p=0.9),
        TokenSampling(top_k=1000),
    ],
)
def test_the_filtered_distribution_is_that_of_transformers(settings: TokenSampling) -> None:
    import torch
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    from wardround.candidates.transformers.token_sampling import filtered

    logits = torch.randn(3, 50, generator=torch.Generator().manual_seed(1)) * 2
    expected = TemperatureLogitsWarper(settings.temperature)(None, logits)
    if settings.top_k:
        expected = TopKLogitsWarper(settings.top_k)(None, expected)
    if settings.top_p < 1:
        expected = TopPLogitsWarper(settings.top_p)(None, expected)
    # a row with other settings beside it changes nothing
    probabilities, tokens = filtered(logits[[0, 1, 2, 0]], [settings] * 3 + [TokenSampling(top_k=2)])
    assert tokens is not None
    found = torch.zeros(4, 50).scatter(-1, tokens, probabilities)[:3]
    assert torch.allclose(found / found.sum(-1, keepdim=True), expected.softmax(-1), atol=1e-6)


def test_draws_follow_the_distribution() -> None:
    import torch

    from wardround.candidates.transformers.token_sampling import draw_tokens, uniform_numbers

    logits = torch.tensor([1.0, 0.0, -1.0, 2.0, float("-inf")])
    many = 20_000
    drawn = draw_tokens(logits.expand(many, -1), [TokenSampling()] * many, uniform_numbers(range(many), [3] * many))
    counts = Counter(drawn.tolist())
    assert 4 not in counts
    expected = logits[:4].double().softmax(-1).numpy() * many
    assert chisquare([counts[n] for n in range(4)], expected).pvalue > 0.001


def test_temperature_0_is_the_likeliest_token_also_beside_others() -> None:
    import torch

    from wardround.candidates.transformers.token_sampling import draw_tokens

    logits = torch.tensor([[0.0, 1.0, 0.9], [0.0, 1.0, 0.9]])
    mixed = [TokenSampling(temperature=0.0), TokenSampling(top_p=0.99)]
    assert draw_tokens(logits, mixed, np.array([0.0, 0.999])).tolist() == [1, 0]


def test_numbers_are_uniform_and_belong_to_their_seed_and_step() -> None:
    from wardround.candidates.transformers.token_sampling import uniform_numbers

    by_seed, by_step = uniform_numbers(range(5000), [0] * 5000), uniform_numbers([7] * 5000, range(5000))
    assert kstest(by_seed, "uniform").pvalue > 0.001
    assert kstest(by_step, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(by_step[:-1], by_step[1:])[0, 1]) < 0.05
    assert uniform_numbers([3, 7], [9, 12])[1] == by_step[12]
