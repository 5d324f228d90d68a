"""The endpoints of a study: checked before the run, decided after it (acceptance.csv)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.endpoint import PEOPLE, Endpoint
from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.measuring.acceptance.against_candidate import paired_figures
from wardround.measuring.acceptance.against_number import measured_figures
from wardround.measuring.acceptance.against_people import people_figures
from wardround.measuring.acceptance.figure import EndpointFigure, FiguresBySlice
from wardround.measuring.acceptance.verdicts import PASS, EndpointVerdict, PartVerdict, adjust, limits_of
from wardround.measuring.comparing.families import is_paired
from wardround.measuring.engine.encode import EncodedMarks, encode_marks, is_empty
from wardround.measuring.engine.measure import Measure, MeasureKind, from_any_source
from wardround.measuring.engine.measurement import measures_for_marks
from wardround.measuring.engine.slices import SUBJECT_KEYS
from wardround.measuring.engine.tables import restore_texts, table_schema
from wardround.measuring.measures.catalogue import define_measures
from wardround.measuring.measures.record import MeasureContext
from wardround.measuring.people.against_models import COMPARED
from wardround.measuring.people.figures import without_people

ACCEPTANCE_FILE = "acceptance.csv"
UNTESTED = (MeasureKind.DERIVED, MeasureKind.REFERENCE, MeasureKind.CONDITION)
ACCEPTANCE = table_schema(
    *("endpoint", "candidate", "measure", "test", "against", "slice", "value", "low", "high", "above", "below"),
    *("p", "p_adjusted", "part_verdict", "verdict", "cases_needed", "n", "clusters", "method", "note"),
    **dict.fromkeys(("endpoint", "test", "against", "part_verdict", "verdict", "note"), pl.String),
    cases_needed=pl.Int64,
)


def check_endpoints(study: Study) -> None:
    """Refuses endpoints that could not be decided, before anything is spent."""
    measures = [m for m in define_measures(MeasureContext(study.trials)) if _is_testable(m)]
    for name, endpoint in study.acceptance.items():
        key, against = f"acceptance.{name}", _against(study, endpoint, f"acceptance.{name}")
        paired = [m.name for m in measures if not isinstance(against, str) or is_paired(m)]
        known = list(COMPARED) if against in _people(study) else list(dict.fromkeys(paired))
        names = from_any_source(endpoint.measure)
        if not set(names) & set(known):
            expected = ", ".join(known)
            raise WardroundError(f"{key}: {endpoint.measure!r} cannot be tested; expected one of {expected}")
        _check_number(key, against, [m for m in measures if m.name in names])
        senseless = {group for m in measures if m.name in names for group in m.never_by}
        for group in endpoint.groups:
            if group not in SUBJECT_KEYS:
                expected = ", ".join(SUBJECT_KEYS)
                raise WardroundError(f"{key}: unknown group {group!r}; expected some of {expected}")
            if group in senseless:
                raise WardroundError(f"{key}: {endpoint.measure} has no meaning by {group}")


def _check_number(key: str, number: str | float, measures: Sequence[Measure]) -> None:
    """Refuses a number that the measure cannot reach, such as a percentage."""
    for measure in measures:
        low, high = (-1.0, 1.0) if measure.kind is MeasureKind.SIGNED else measure.bounds
        if not isinstance(number, str) and not low <= number <= high:
            raise WardroundError(f"{key}: {measure.name} lies between {low:g} and {high:g}, so it is never {number:g}")


def decide(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """The table of acceptance.csv: endpoint by endpoint, for every model but the one it is tested against."""
    check_endpoints(study)
    models = without_people(marks.lazy())
    if not study.acceptance or is_empty(models):
        return pl.DataFrame(schema=ACCEPTANCE)
    encoded = encode_marks(models, study)
    testable = [m for m in measures_for_marks(encoded, study) if _is_testable(m)]
    decided = {
        name: _parts_by_candidate(endpoint, f"acceptance.{name}", marks.lazy(), encoded, testable, study)
        for name, endpoint in study.acceptance.items()
    }
    primary = primary_endpoint(study)
    verdicts: dict[tuple[str, str], EndpointVerdict] = {}
    for candidate in dict.fromkeys(name for parts in decided.values() for name in parts):
        own = [
            EndpointVerdict(name, candidate, parts[candidate]) for name, parts in decided.items() if candidate in parts
        ]
        verdicts |= {(verdict.endpoint, candidate): verdict for verdict in adjust(own, primary)}
    rows = [
        row
        for name, endpoint in study.acceptance.items()
        for candidate in decided[name]
        for row in _rows(endpoint, verdicts[name, candidate], primary, verdicts.get((primary or "", candidate)))
    ]
    return pl.DataFrame(rows, schema=ACCEPTANCE)


def summary(folder: Path, study: Study) -> list[dict[str, Any]]:
    """The verdicts of acceptance.csv, for the manifest."""
    if not study.acceptance:
        return []
    table = restore_texts(pl.read_csv(folder / ACCEPTANCE_FILE, schema_overrides=ACCEPTANCE))
    table = table.unique(["endpoint", "candidate"], keep="first", maintain_order=True)  # the whole comes before groups
    names = {"name": "candidate", "verdict": "verdict", "cases_needed": "cases_needed", "note": "note"}
    return [
        {
            "name": name,
            "primary": name == primary_endpoint(study),
            "candidates": table.filter(endpoint=name).select(**names).to_dicts(),
        }
        for name in study.acceptance
    ]


def primary_endpoint(study: Study) -> str | None:
    """The endpoint that is tested without adjustment: the one so declared, or the only one."""
    declared = [name for name, endpoint in study.acceptance.items() if endpoint.primary]
    return next(iter(declared or (list(study.acceptance) if len(study.acceptance) == 1 else [])), None)


def _parts_by_candidate(
    endpoint: Endpoint,
    key: str,
    marks: pl.LazyFrame,
    encoded: EncodedMarks,
    testable: Sequence[Measure],
    study: Study,
) -> dict[str, list[PartVerdict]]:
    """The figures that decide an endpoint, of every candidate that it is about."""
    against = _against(study, endpoint, key)
    measure = _measure(endpoint, testable, study)
    scope = endpoint.where, endpoint.groups
    if against in _people(study):
        figures = people_figures(marks, study, measure.name, *scope, str(against))
    elif isinstance(against, str):
        figures = paired_figures(encoded, study, measure, endpoint, against)
    else:
        figures = measured_figures(encoded, study, measure, *scope)
    limits = limits_of(endpoint, measure.base)
    slices = _tested_slices(figures, endpoint.groups)
    models = [candidate.name for candidate in study.candidates if candidate.name not in _people(study)]
    return {
        name: [PartVerdict(slice, figures.get(name, {}).get(slice, EndpointFigure()), limits) for slice in slices]
        for name in dict.fromkeys([*models, *encoded.candidates])
        if name != against
    }


def _tested_slices(figures: FiguresBySlice, groups: Sequence[str]) -> list[str]:
    """The whole and every group in which anything was asked; of a key that no case states, one that cannot pass."""
    asked = [slice for own in figures.values() for slice, figure in own.items() if figure.method]
    slices = list(dict.fromkeys([canonical_json({}), *asked]))
    stated = {key for slice in slices for key in json.loads(slice)}
    return slices + [canonical_json({key: "not stated"}) for key in groups if key not in stated]


def _rows(
    endpoint: Endpoint, decided: EndpointVerdict, primary_name: str | None, primary: EndpointVerdict | None
) -> list[dict[str, Any]]:
    note = None
    if primary_name not in (None, decided.endpoint) and (primary is None or primary.verdict != PASS):
        note = f"exploratory: the primary endpoint {primary_name} is not {'tested' if primary is None else 'passed'}"
    reference = endpoint.reference
    names = {"endpoint": decided.endpoint, "candidate": decided.candidate, "measure": endpoint.measure}
    names |= {"test": endpoint.test, "against": reference if isinstance(reference, str) else f"{reference:g}"}
    common = names | {"p_adjusted": decided.p_adjusted, "verdict": decided.verdict, "note": note}
    common["cases_needed"] = decided.cases_needed
    return [
        common
        | {
            "slice": canonical_json(json.loads(part.slice) | endpoint.where),
            "above": part.limits.above,
            "below": part.limits.below,
            "p": part.p,
        }
        | {name: getattr(part.figure, name) for name in ("value", "low", "high", "n", "clusters")}
        | {"part_verdict": part.verdict, "method": part.figure.method or "no answers"}
        for part in decided.parts
    ]


def _is_testable(measure: Measure) -> bool:
    return measure.kind not in UNTESTED and not measure.only_by


def _measure(endpoint: Endpoint, measures: Sequence[Measure], study: Study) -> Measure:
    """The measure of this name; without one, the same from another source of confidence."""
    by_name = {measure.name: measure for measure in measures}
    return next(by_name[name] for name in from_any_source(endpoint.measure) if name in by_name)


def _against(study: Study, endpoint: Endpoint, key: str) -> str | float:
    """The candidate or the number that an endpoint is tested against."""
    reference = endpoint.reference
    if not isinstance(reference, str):
        return reference
    if reference == PEOPLE and len(people := _people(study)) == 1:
        return people[0]
    names = [candidate.name for candidate in study.candidates]
    if reference not in names:
        raise WardroundError(f"{key}: against = {reference!r}; expected a number, people or one of {', '.join(names)}")
    return reference


def _people(study: Study) -> list[str]:
    return [candidate.name for candidate in study.candidates if candidate.provider == "people"]
