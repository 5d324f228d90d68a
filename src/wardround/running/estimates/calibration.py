"""Calibration: how many tokens a server bills for what our rules count, from its own usage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wardround.running.estimates.ask_size import AskSize

IMAGE_RULES = ("by_family", "by_patches", "by_tiles", "by_number")  # the first holds as long as nothing is known
PRIOR = 0.01  # weight of our own rules against one observed call
MANY = 2000  # observed calls are enough


@dataclass(frozen=True)
class TokenRates:
    """Billed tokens per token of our rules, and the rule of images that fits the server best."""

    text: float = 1.0
    images: float = 1.0
    rule: str = IMAGE_RULES[0]

    def tokens(self, size: AskSize) -> float:
        images: float = getattr(size, self.rule)
        return self.text * size.text + self.images * images


def fit_rates(observed: Sequence[tuple[AskSize, float]]) -> TokenRates:
    """The rates that come nearest to the billed tokens of observed prompts, by relative error."""
    if not observed:
        return TokenRates()
    return min((_fit(rule, observed[:MANY]) for rule in IMAGE_RULES), key=lambda fit: fit[0])[1]


def _fit(rule: str, observed: Sequence[tuple[AskSize, float]]) -> tuple[float, TokenRates]:
    """Least squares, drawn a little to our own rules, which decide what the observed calls leave open."""
    rows = np.array([[size.text / billed, getattr(size, rule) / billed] for size, billed in observed])
    matrix = np.vstack([rows, PRIOR * np.eye(2)])
    target = np.concatenate([np.ones(len(rows)), [PRIOR, PRIOR]])
    text, images = np.clip(np.linalg.lstsq(matrix, target, rcond=None)[0], 0.0, None)
    error = float(np.sum((rows @ (text, images) - 1) ** 2))
    return round(error, 9), TokenRates(float(text), float(images), rule)
