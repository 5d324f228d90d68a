"""The catalogue of measures: all records, the measures of a study, and the table of docs/measures.md."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from wardround.core.errors import WardroundError
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.measures.record import MeasureContext, MeasureRecord, plugin_records
from wardround.measuring.measures.records.answers import CHAINS, CHOICES, MODALITIES, OPTIONS, WORST_OF_K
from wardround.measuring.measures.records.confidence import CLAIMS, OVERCONFIDENCE, VOTES
from wardround.measuring.measures.records.consequences import CONSEQUENCES
from wardround.measuring.measures.records.evidence import EVIDENCE, RETRIEVAL
from wardround.measuring.measures.records.rubrics import AXIS, RUBRICS
from wardround.measuring.measures.records.selective import SELECTIVE
from wardround.measuring.measures.records.texts import KAPPA, LEAKAGE

RECORDS = (  # in the order in which measures.csv has them
    *(*CHOICES, *EVIDENCE, *RETRIEVAL, *VOTES, WORST_OF_K, *CHAINS, *CLAIMS, *SELECTIVE, *CONSEQUENCES, MODALITIES),
    *(*OVERCONFIDENCE, *OPTIONS, *LEAKAGE, KAPPA, *RUBRICS),
)
_INTERVALS = {
    MeasureKind.RATE: "rate",
    MeasureKind.MEAN: "mean",
    MeasureKind.SIGNED: "signed",
    MeasureKind.AUROC: "AUROC",
    MeasureKind.CALIBRATION: "calibration",
    MeasureKind.BOUNDED: "bounded mean",
    MeasureKind.AREA: "area",
    MeasureKind.COMPOSITE: "composite",
    MeasureKind.REFERENCE: "none",
    MeasureKind.CONDITION: "share of resamples",
    MeasureKind.DERIVED: "derived",
}
_EVERYTHING = MeasureContext(trials=16, letters=2, probes=1, axes=("NAME",))


def measure_records() -> tuple[MeasureRecord, ...]:
    """wardround's own records, then those of plug-ins."""
    records = (*RECORDS, *plugin_records())
    names = [record.name for record in records]
    if repeated := [name for name in names[len(RECORDS) :] if names.count(name) > 1]:
        raise WardroundError(f"a plug-in registers the measure {repeated[0]!r}, which wardround already has")
    return records


def find_record(measure: str) -> MeasureRecord | None:
    """The record of a measure by its name in measures.csv, such as hit@1 or ece_stated; None if it has none."""
    return _find(measure)[0]


def find_measure(name: str) -> Measure | None:
    """The measure or variant of this name, as in a study that has all of them; None if there is none."""
    return _find(name)[1]


def _find(name: str) -> tuple[MeasureRecord | None, Measure | None]:
    own = _own_by_name()
    if name.startswith(f"{AXIS}_"):  # one for each axis that the rubrics of a study name
        record, measure = own[f"{AXIS}_NAME"]
        return record, measure and replace(measure, name=name)
    return own[name] if name in own else _by_name(plugin_records()).get(name, (None, None))


@cache
def _own_by_name() -> dict[str, tuple[MeasureRecord, Measure | None]]:
    return _by_name(RECORDS)


def _by_name(records: Sequence[MeasureRecord]) -> dict[str, tuple[MeasureRecord, Measure | None]]:
    """Records and measures by name in measures.csv; a name such as `uas` has a record even if no study has it."""
    by_name: dict[str, tuple[MeasureRecord, Measure | None]] = {record.name: (record, None) for record in records}
    for record in records:
        for measure in record.measures(_EVERYTHING):
            by_name[measure.name] = record, measure
    return by_name


def define_measures(context: MeasureContext) -> list[Measure]:
    """All measures of a study, in the order in which they are written."""
    of_plugins = measure_records()[len(RECORDS) :]
    return [*_own_measures(context), *(measure for record in of_plugins for measure in record.measures(context))]


@lru_cache(maxsize=16)
def _own_measures(context: MeasureContext) -> tuple[Measure, ...]:
    return tuple(measure for record in RECORDS for measure in record.measures(context))


def interval_classes(record: MeasureRecord) -> str:
    """The classes of interval that a measure and its variants have, as docs/measures.md names them."""
    kinds = dict.fromkeys(measure.kind for measure in record.measures(_EVERYTHING))
    return "; ".join(_INTERVALS[kind] for kind in kinds)


def measure_table() -> str:
    """The table of docs/measures.md."""
    lines = ["| measure | meaning | formula and edge cases | unit | interval | from |", "|---|---|---|---|---|---|"]
    for record in RECORDS:
        cells = record.meaning, record.formula_text, record.unit, interval_classes(record), record.origin
        lines.append(f"| {' | '.join((record.name, *cells))} |")
    return "\n".join(lines) + "\n"
