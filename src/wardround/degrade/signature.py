"""What every degradation function takes and returns, those of plug-ins included."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Image = NDArray[np.float32]  # (h, w) grey or (h, w, 3) RGB, black 0 and white 1, or attenuation relative to water
SeverityParameters = Mapping[str, Any]  # of one type at one severity: numbers, and words such as "nearest"
DegradationFunction = Callable[[Image, SeverityParameters, Generator], Image]
Value = float | str
LevelValues = tuple[Value, Value, Value]  # at L0, L1 and L2
