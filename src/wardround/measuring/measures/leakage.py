"""Leakage (ClinBench, after 2404.18824): how well a candidate foretells reference texts."""

from __future__ import annotations

import numpy as np

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.item_sums import Marked

COARSE = 2.0**10  # surprises reach thousands per text: they are kept in multiples of 2**-20


def leakage_sums(marks: Marked) -> dict[str, Floats]:
    """Surprise (negative log-probability), tokens and bytes of the texts; likeness of what was generated."""
    found: dict[str, Floats] = {}
    if marks.has("logprob"):
        surprise = -marks.floats("logprob")
        for unit in ("tokens", "bytes"):
            size = marks.floats(unit)
            told = ~np.isnan(surprise) & (size > 0)
            rounded = exact(np.where(told, surprise, 0.0) / COARSE) * COARSE
            found |= {f"surprise_{unit}": marks.total(rounded), unit: marks.total(np.where(told, size, 0.0))}
            found[f"texts_{unit}"] = marks.total(told)
    for name in ("rouge_l", "eds"):
        if marks.has(name):
            values = marks.floats(name)
            told = ~np.isnan(values)
            found |= {name: marks.total(exact(np.where(told, values, 0.0))), f"{name}_of": marks.total(told)}
    return found
