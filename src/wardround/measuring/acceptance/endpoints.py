"""The endpoints of a study, decided after the run (acceptance.csv). endpoint_checks.py refuses some before it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.core.study_tables.endpoint import Endpoint
from wardround.measuring.acceptance.against_candidate import paired_figures
from wardround.measuring.acceptance.against_number import measured_figures
from wardround.measuring.acceptance.against_people import people_figures
from wardround.measuring.acceptance.endpoint_checks import (
    check_endpoints,
    people_of,
    testable_measures,
    tested_against,
)
from wardround.measuring.acceptance.figure import EndpointFigure, FiguresBySlice
from wardround.measuring.acceptance.verdicts import PASS, EndpointVerdict, PartVerdict, adjust, limits_of
from wardround.measuring.engine.encode import EncodedMarks, encode_marks, is_empty
from wardround.measuring.engine.measure import Measure, from_any_source
from wardround.measuring.engine.measurement import measures_for_marks
from wardround.measuring.engine.tables import restore_texts, table_schema
from wardround.measuring.people.figures import without_people

ACCEPTANCE_FILE = "acceptance.csv"
ACCEPTANCE = table_schema(
    *("endpoint", "candidate", "measure", "test", "against", "slice", "value", "low", "high", "above", "below"),
    *("p", "p_adjusted", "part_verdict", "verdict", "clusters_needed", "n", "clusters", "method", "note"),
    **dict.fromkeys(("endpoint", "test", "against", "part_verdict", "verdict", "note"), pl.String),
    clusters_needed=pl.Int64,
)


def decide(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """The table of acceptance.csv: endpoint by endpoint, for every model but the one it is tested against."""
    check_endpoints(study)
    models = without_people(marks.lazy())
    if not study.acceptance or is_empty(models):
        return pl.DataFrame(schema=ACCEPTANCE)
    encoded = encode_marks(models, study)
    testable = testable_measures(measures_for_marks(encoded, study))
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
    names = {"name": "candidate", "verdict": "verdict", "clusters_needed": "clusters_needed", "note": "note"}
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
    against = tested_against(study, endpoint, key)
    measure = _measure(endpoint, testable, study)
    scope = endpoint.where, endpoint.groups
    if against in people_of(study):
        figures = people_figures(marks, study, measure.name, *scope, str(against))
    elif isinstance(against, str):
        figures = paired_figures(encoded, study, measure, endpoint, against)
    else:
        figures = measured_figures(encoded, study, measure, *scope)
    limits = limits_of(endpoint, measure.base)
    slices = _tested_slices(figures, endpoint.groups)
    models = [candidate.name for candidate in study.candidates if candidate.name not in people_of(study)]
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
    common["clusters_needed"] = decided.clusters_needed
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


def _measure(endpoint: Endpoint, measures: Sequence[Measure], study: Study) -> Measure:
    """The measure of this name; without one, the same from another source of confidence."""
    by_name = {measure.name: measure for measure in measures}
    return next(by_name[name] for name in from_any_source(endpoint.measure) if name in by_name)
