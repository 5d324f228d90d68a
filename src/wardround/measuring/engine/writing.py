"""The tables of a run, written beside its marks."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from wardround.core.study import Study
from wardround.measuring.comparing.comparisons import compare
from wardround.measuring.comparing.effects import effects
from wardround.measuring.engine.measurement import measure
from wardround.measuring.engine.tables import write_table
from wardround.measuring.people.against_models import compare_people
from wardround.measuring.people.figures import measure_people, of_models


def write_measures(folder: Path, marks: pl.DataFrame | pl.LazyFrame, study: Study) -> None:
    """Writes measures.csv, comparisons.csv and, where axes are crossed, effects.csv.

    The same marks give the same bytes on every run. People have figures and a family of comparisons of their own.
    """
    models = of_models(marks.lazy())
    write_table(folder / "measures.csv", pl.concat([measure(models, study), measure_people(marks.lazy(), study)]))
    write_table(folder / "comparisons.csv", pl.concat([compare(models, study), compare_people(marks.lazy(), study)]))
    if len(study.varied_axes) > 1:
        write_table(folder / "effects.csv", effects(models, study))
