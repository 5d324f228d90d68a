"""Drawing tokens: filters of the distribution, and noise that depends on a trial's own seed alone."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from wardround.candidates.transformers.job import TokenSampling

GOLDEN, MIX_A, MIX_B = (np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def uniform_numbers(seeds: Sequence[int], steps: Sequence[int]) -> NDArray[np.float64]:
    """One number in [0, 1) for each seed and step, by SplitMix64: the same whatever else is drawn."""
    with np.errstate(over="ignore"):
        state = _mixed(np.asarray(seeds, np.uint64) * GOLDEN) + (np.asarray(steps, np.uint64) + np.uint64(1)) * GOLDEN
        return (_mixed(state) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * MIX_A
    state = (state ^ (state >> np.uint64(27))) * MIX_B
    return state ^ (state >> np.uint64(31))


def draw_tokens(logits: torch.Tensor, settings: Sequence[TokenSampling], uniform: NDArray[np.float64]) -> torch.Tensor:
    """One token for each row of `logits`: the likeliest at temperature 0, else the one at its place in the
    cumulative distribution."""
    if all(row.temperature == 0 for row in settings):
        return logits.argmax(-1)
    probabilities, tokens = filtered(logits, settings)
    cumulative = probabilities.double().cumsum(-1)
    place = torch.from_numpy(uniform).to(logits.device)[:, None] * cumulative[:, -1:]
    # the last token with a probability, if rounding leads beyond all
    last = (probabilities > 0).long().cumsum(-1).argmax(-1, keepdim=True)
    drawn = torch.minimum(torch.searchsorted(cumulative, place, right=True), last)
    if tokens is not None:
        drawn = tokens.gather(-1, drawn)
    greedy = torch.tensor([row.temperature == 0 for row in settings], device=logits.device)
    return torch.where(greedy, logits.argmax(-1), drawn[:, 0])


def filtered(logits: torch.Tensor, settings: Sequence[TokenSampling]) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The probabilities from which tokens are drawn and, if they are sorted, the token at each place."""
    temperature = torch.tensor([row.temperature or 1.0 for row in settings], device=logits.device)
    scaled = logits.float() / temperature[:, None]
    if all(row.top_k <= 0 and row.top_p >= 1 for row in settings):
        return scaled.softmax(-1), None
    size = logits.shape[-1]
    scaled, tokens = scaled.sort(dim=-1, descending=True, stable=True)
    kept = torch.tensor([row.top_k if row.top_k > 0 else size for row in settings], device=logits.device)
    ranks = torch.arange(size, device=logits.device)
    probabilities = scaled.masked_fill(ranks >= kept[:, None], -torch.inf).softmax(-1)
    top_p = torch.tensor([row.top_p for row in settings], device=logits.device)[:, None]
    before = probabilities.cumsum(-1) - probabilities
    # at top_p = 1 nothing is cut, not even what rounding puts beyond 1
    return probabilities.masked_fill((before >= top_p) & (top_p < 1) & (ranks > 0), 0.0), tokens
