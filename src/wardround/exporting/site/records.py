"""site.json: everything that the pages of a site print, as one record. It holds figures, and no text of a case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from wardround.core.condition import DEFAULTS
from wardround.exporting.shared_manifest import shared_manifest
from wardround.exporting.site.ranking import rank_runs
from wardround.exporting.site.site_runs import SiteRun, differences, group_comparable
from wardround.reporting.absence import missing_reason
from wardround.reporting.reference_condition import chance_accuracy, score_measures
from wardround.reporting.run_files import TEXT_ONLY, MeasureLine
from wardround.reporting.setting_labels import setting_notes
from wardround.reporting.summary.figures import summary_figures
from wardround.reporting.summary.limits import limits
from wardround.running.settings.verdict import verdicts_of

FORMAT = "wardround-site-1"
IMAGE_KEYS = ("images", "degradation", "type", "severity", "category")  # slices that are about images
FIGURE_FIELDS = ("value", "low", "high", "n", "clusters", "unparsed", "refused", "method", "version")
COUNTS = ("asks", "calls", "tokens_in", "tokens_out", "cost", "refused", "failed")
OF_CANDIDATE = ("provider", "model", "revision", "reported_models", "settings")

_PLACES = re.compile(r"[\w+.-]+://\S+|(?<![\w.])/(?:[^\s/]+/)+[^\s/;,)]*")

Record = dict[str, Any]


def site_record(runs: Sequence[SiteRun], title: str, links: Mapping[str, Record]) -> Record:
    """The record of a site; `links` has the addresses of each run's report and explorer, from the site's folder."""
    by_hash: dict[str, list[SiteRun]] = {}
    for run in runs:
        by_hash.setdefault(run.case_set_hash, []).append(run)
    case_sets = [_case_set(own) for own in by_hash.values()]
    case_sets.sort(key=lambda record: (record["name"].casefold(), record["hash"]))
    names = sorted({name for run in runs for name in run.files.candidates}, key=lambda name: (name.casefold(), name))
    return {
        "format": FORMAT,
        "title": title,
        "case_sets": case_sets,
        "runs": [_run(run, links[run.id]) for run in runs],
        "candidates": [_candidate(name, runs) for name in names],
        "figures": [figure for run in runs for figure in _figures(run)],
    }


def page_name(name: str, identity: str | None = None) -> str:
    """A file name for any text: readable letters and a hash of the name, or of what identifies it if names repeat."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    readable = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return f"{readable or 'x'}-{sha256((identity or name).encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def without_places(sentences: Sequence[str]) -> list[str]:
    """Sentences in which addresses and folders, which a server's message may quote, are left out."""
    return [_PLACES.sub("[left out]", str(sentence)) for sentence in sentences]


def _case_set(runs: Sequence[SiteRun]) -> Record:
    first = runs[0]
    cases = first.files.manifest.get("cases") or {}
    groups = group_comparable(runs)
    tables = [_table(number, group) for number, group in enumerate(groups, 1)]
    return {
        "id": page_name(first.case_set_name, first.case_set_hash),
        "name": first.case_set_name,
        "hash": first.case_set_hash,
        **{key: cases.get(key) for key in ("cases", "questions", "images")},
        "tables": tables,
        "not_comparable": [
            {"tables": [a, b], "reasons": differences(groups[a - 1][0], groups[b - 1][0])}
            for a in range(1, len(groups) + 1)
            for b in range(a + 1, len(groups) + 1)
        ],
    }


def _table(number: int, runs: Sequence[SiteRun]) -> Record:
    """Comparable runs as one ranking by their headline measure."""
    first, ranking = runs[0], rank_runs(runs)
    measure = first.measure or ""
    rows = []
    for run in runs:
        for name in run.files.candidates:
            line = run.files.find_line(measure, name, {})
            entry = (run.id, name)
            places = None if entry in ranking.notes else ranking.ranges.get(entry)
            rows.append(
                {
                    **_figure(run, name, measure, {}, line),
                    "rank": list(places) if places else None,
                    "rank_note": ranking.notes.get(entry, ""),
                }
            )
    rows.sort(key=lambda row: (row["value"] is None, -(row["value"] or 0.0), row["candidate"], row["run"]))
    varied = {axis: value for axis, value in first.condition.items() if value != DEFAULTS.get(axis)}
    return {
        "number": number,
        "runs": [run.id for run in runs],
        "measure": measure,
        "condition": first.condition,
        "unusual": {**first.files.study.reference_condition, **varied},
        "trials": first.files.study.trials,
        "questions": len(first.questions),
        "cases": len({case for case, _ in first.questions}),
        "chance": chance_accuracy(first.files, measure),
        "ranked": ranking.count,
        "basis": ranking.basis,
        "rows": rows,
    }


def _run(run: SiteRun, links: Record) -> Record:
    files = run.files
    figures = summary_figures(files)
    return {
        "id": run.id,
        "study": files.name,
        "case_set": run.case_set_hash,
        "status": str(files.manifest.get("status") or "unknown"),
        **{key: files.manifest.get(key) for key in ("started", "finished", "wardround")},
        "candidates": files.candidates,
        "conditions": len(files.conditions),
        "trials": files.study.trials,
        "measures_elsewhere": [name for name in files.measure_names if name not in score_measures(files)],
        "setting_notes": without_places(setting_notes(files)),
        "limits": without_places(limits(files, figures)) if figures else [],
        **links,
    }


def _candidate(name: str, runs: Sequence[SiteRun]) -> Record:
    """A candidate by its name, with an entry for each run that asked it."""
    return {"name": name, "page": page_name(name), "entries": [_entry(name, run) for run in runs if _has(name, run)]}


def _has(name: str, run: SiteRun) -> bool:
    return name in run.files.candidates


def _entry(name: str, run: SiteRun) -> Record:
    files = run.files
    shared: Record = next((own for own in shared_manifest(files).get("candidates", []) if own.get("name") == name), {})
    settings = {candidate.name: candidate for candidate in files.study.candidates}
    own = settings.get(name)
    return {
        "run": run.id,
        **{key: shared.get(key) for key in OF_CANDIDATE},
        "deviations": without_places(shared.get("deviations") or []),
        "group": own.group if own else None,
        "text_only": name in files.text_only,
        "is_person": name in files.people,
        "remark": files.remark(name),
        "verdicts": [
            {**verdict.to_dict(), "evidence": without_places([verdict.evidence])[0]}
            for verdict in verdicts_of(files.candidate_entries.get(name, {}))
        ],
        **{key: shared.get(key) for key in COUNTS},
    }


def _figures(run: SiteRun) -> list[Record]:
    """All measures at the reference condition, and the scores by each condition and each group of cases."""
    scores = score_measures(run.files)
    slices = dict.fromkeys(
        tuple(line.slice.items())
        for line in run.files.measure_lines
        if line.measure in scores and len(line.slice) == 1 and "mean" not in line.slice.values()
    )
    wanted: list[tuple[str, dict[str, str]]] = [(measure, {}) for measure in run.files.measure_names]
    wanted += [(measure, dict(slice)) for measure in scores for slice in slices]
    figures = []
    for measure, slice in wanted:
        for name in run.files.candidates:
            line = run.files.find_line(measure, name, slice)
            if line is not None and line.measure == measure:
                figures.append(_figure(run, name, measure, slice, line))
            elif measure in scores and name in run.files.text_only and set(slice) & set(IMAGE_KEYS):
                figures.append(_figure(run, name, measure, slice, None))
    return figures


def _figure(run: SiteRun, name: str, measure: str, slice: Mapping[str, str], line: MeasureLine | None) -> Record:
    """A line of measures.csv; `missing` says why it has no value."""
    is_blind = name in run.files.text_only and bool(set(slice) & set(IMAGE_KEYS))
    fields: Record = dict.fromkeys(FIGURE_FIELDS)
    if line is not None and not is_blind:
        fields = {field: getattr(line, field) for field in FIGURE_FIELDS}
    missing = TEXT_ONLY if is_blind else missing_reason(run.files, measure, name, slice)
    return {
        "run": run.id,
        "candidate": name,
        "measure": measure,
        "slice": dict(slice),
        **fields,
        "missing": missing if fields["value"] is None else "",
        "remark": run.files.remark(name),
    }
