"""Writes the tables of a run: measures.csv, comparisons.csv, groups.csv, effects.csv, acceptance.csv."""

from pathlib import Path

import polars as pl

from wardround.core.study import Study
from wardround.measuring.acceptance.endpoints import ACCEPTANCE_FILE, decide
from wardround.measuring.comparing.comparisons import compare
from wardround.measuring.comparing.effects import effects
from wardround.measuring.comparing.groups import compare_groups
from wardround.measuring.engine.encode import EncodedMarks, Marks, encode_once
from wardround.measuring.engine.measurement import measure
from wardround.measuring.engine.reference import are_at_reference, marks_at_reference
from wardround.measuring.engine.tables import write_table
from wardround.measuring.people.against_models import compare_people
from wardround.measuring.people.figures import measure_people, without_people
from wardround.running.progress import NO_PROGRESS, StepProgress

GROUPED = ("accuracy", "hit@1")  # the scores that are compared between groups of patients


def write_measures(
    folder: Path, marks: pl.DataFrame | pl.LazyFrame, study: Study, progress: StepProgress = NO_PROGRESS
) -> Marks:
    """Writes measures.csv, comparisons.csv, if cases have groups groups.csv, if axes are crossed effects.csv.

    With endpoints also acceptance.csv. The same marks always give the same bytes. People have their own measures and
    families of comparisons. Returns the models' marks of the reference condition, encoded, for the report.
    """
    everyone = marks.lazy()
    models = without_people(everyone)
    encoded = encode_once(models, study)
    measures, comparisons = _measured_tables(None if models is everyone else everyone, encoded, study, progress)
    write_table(folder / "measures.csv", measures)
    write_table(folder / "comparisons.csv", comparisons)
    if isinstance(encoded, EncodedMarks) and are_at_reference(encoded.conditions, study):
        at_reference: Marks = encoded
    else:
        at_reference = encode_once(marks_at_reference(models, study), study)
    groups = pl.concat([compare_groups(at_reference, study, measure=name) for name in GROUPED])
    if len(groups):
        write_table(folder / "groups.csv", groups)
    if len(study.varied_axes) > 1:
        write_table(folder / "effects.csv", effects(models, study))
    if study.acceptance:
        write_table(folder / ACCEPTANCE_FILE, decide(marks, study))
    else:
        (folder / ACCEPTANCE_FILE).unlink(missing_ok=True)  # of a study that was amended
    return at_reference


def measured_tables(
    marks: pl.DataFrame | pl.LazyFrame, study: Study, progress: StepProgress = NO_PROGRESS
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables of measures.csv and comparisons.csv."""
    everyone = marks.lazy()
    models = without_people(everyone)
    return _measured_tables(None if models is everyone else everyone, encode_once(models, study), study, progress)


def _measured_tables(
    everyone: pl.LazyFrame | None, models: Marks, study: Study, progress: StepProgress
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The same; `everyone` are the marks with those of people, if there are such, and `models` without them."""
    measures, comparisons = measure(models, study, progress), compare(models, study, progress)
    if everyone is None:
        return measures, comparisons
    of_people = measure_people(everyone, study), compare_people(everyone, study)
    return pl.concat([measures, of_people[0]]), pl.concat([comparisons, of_people[1]])
