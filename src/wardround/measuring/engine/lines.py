"""Lines of measures.csv, collected as arrays and made into one table at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.slices import Slicing
from wardround.measuring.engine.sums import Integers
from wardround.measuring.engine.tables import MEASURES

EVERYONE = "*"  # the candidate of figures over all candidates
FIGURES = ("value", "low", "high", "unparsed", "refused")


@dataclass
class MeasureLines:
    """Estimates by measure, slicing, slice and candidate, all as numbers."""

    columns: dict[str, list[NDArray[np.generic]]] = field(default_factory=dict)
    labels: dict[tuple[int, int], str] = field(default_factory=dict)  # slices that no slicing has

    def add(
        self,
        place: int,
        slicing: int,
        slice: Integers,
        candidate: Integers,
        **figures: Floats | Integers | NDArray[np.object_],
    ) -> None:
        """Some lines of one measure in one slicing."""
        count = len(slice)
        numbers = {"place": np.full(count, place), "slicing": np.full(count, slicing)}
        for name, values in (numbers | {"number": slice, "candidate": candidate} | figures).items():
            self.columns.setdefault(name, []).append(values)

    def label(self, slicing: int, number: int, slice: str) -> None:
        """Names a slice beyond those of its slicing, such as a mean over them."""
        self.labels[slicing, number] = slice

    def table(self, defined: Sequence[Measure], slicings: Sequence[Slicing], candidates: Sequence[str]) -> pl.DataFrame:
        """All lines: by measure, then slice, then candidate."""
        if not self.columns:
            return pl.DataFrame(schema=MEASURES)
        method = pl.Series("method", np.concatenate(self.columns["method"]).tolist(), dtype=pl.String)
        lines = pl.DataFrame({name: np.concatenate(v) for name, v in self.columns.items() if name != "method"})
        lines = lines.with_columns(method).sort("place", "slicing", "number", "candidate")
        places = [(s, n, name) for s, slicing in enumerate(slicings) for n, name in enumerate(slicing.slices)]
        places += [(s, n, name) for (s, n), name in self.labels.items()]
        slices = pl.DataFrame(
            places, schema={"slicing": pl.Int64, "number": pl.Int64, "slice": pl.String}, orient="row"
        )
        lines = lines.join(slices, on=("slicing", "number"), how="left", maintain_order="left")
        return lines.with_columns(
            pl.Series("measure", [measure.name for measure in defined])[lines["place"]],
            pl.Series("version", [measure.version or None for measure in defined], dtype=pl.String)[lines["place"]],
            pl.Series("candidate", [*candidates, EVERYONE])[lines["candidate"]],
            pl.col(*FIGURES).fill_nan(None),
        ).select(pl.col(name).cast(dtype) for name, dtype in MEASURES.items())
