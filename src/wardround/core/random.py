"""Random streams that depend on the study's seed and on a fixed name, and on nothing else."""

from __future__ import annotations

import numpy as np

from wardround.core.canonical import blake


def stream(seed: int, name: str) -> np.random.Generator:
    """The stream of this name; asked for again, it starts again."""
    return np.random.Generator(np.random.PCG64(int.from_bytes(blake([seed, name])[:16], "big")))
