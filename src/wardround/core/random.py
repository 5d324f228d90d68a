"""Random streams that depend on a seed and on fixed names, and on nothing else: the same on every machine."""

import random

import numpy as np

from wardround.core.canonical import blake


def stream(seed: int, name: str) -> np.random.Generator:
    """numpy's generator for the study's seed and this name; asked for again, it starts again."""
    return np.random.Generator(np.random.PCG64(int.from_bytes(blake([seed, name])[:16], "big")))


def seeded(*names: object) -> random.Random:
    """Python's generator for these names, the seed among them; asked for again, it starts again."""
    return random.Random(int.from_bytes(blake([str(name) for name in names])[:8], "big"))
