"""The pages of a site, rendered from its record alone: what a page prints is in site.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wardround import __version__
from wardround.core.canonical import canonical_json
from wardround.exporting.site.records import FIGURE_FIELDS, Record
from wardround.reporting.figures import svg
from wardround.reporting.labels import measure_meaning, measure_title, slice_title, slice_words, value_meaning
from wardround.reporting.numbers import count, is_percentage, number, percent
from wardround.reporting.run_files import MeasureLine
from wardround.reporting.tables.figure_cell import FigureCell, draw_track, format_line, measure_scale
from wardround.reporting.templating import CONTROLS

SHARED_ASSETS = ("palette.css", "style.css", "theme.js", "tables.js")  # those of the report
POLICY = (
    "default-src 'none'; img-src 'self' file: data:; script-src 'self' file:; style-src 'self' file:; "
    "base-uri 'none'; form-action 'none'"
)
MAX_ROWS = 10  # of a table on the first page; our choice
MAX_DETAILS = 12  # of an event in the feed and on the page of changes
KINDS = {"added": "New run", "changed": "Changed", "removed": "Removed", "unreadable": "Could not be read"}


def static_files() -> Iterator[tuple[str, bytes]]:
    """Style sheets and scripts by name: the site's own, and those that it shares with the report."""
    own, shared = files("wardround.exporting.site") / "static", files("wardround.reporting") / "templates" / "assets"
    yield from sorted((file.name, file.read_bytes()) for file in own.iterdir() if file.is_file())
    yield from ((name, (shared / name).read_bytes()) for name in SHARED_ASSETS)


def render_pages(site: Record, builds: Sequence[Record]) -> dict[str, str]:
    """All pages by their path."""
    common = {"site": site, "builds": builds, **_lookups(site)}
    pages = {
        "index.html": _render("index.html", "", **common),
        "changes.html": _render("changes.html", "", **common),
        "methods.html": _render("methods.html", "", **common),
    }
    for case_set in site["case_sets"]:
        runs = [run for run in site["runs"] if run["case_set"] == case_set["hash"]]
        own = {run["id"] for run in runs}
        figures = [figure for figure in site["figures"] if figure["run"] in own]
        context = {"case_set": case_set, "runs": runs, "figures": figures, "first_measure": _first_measure(case_set)}
        pages[f"case-sets/{case_set['id']}.html"] = _render("case_set.html", "../", **common, **context)
    for candidate in site["candidates"]:
        rows = [
            (case_set, table, row)
            for case_set in site["case_sets"]
            for table in case_set["tables"]
            for row in table["rows"]
            if row["candidate"] == candidate["name"]
        ]
        figures = [figure for figure in site["figures"] if figure["candidate"] == candidate["name"]]
        context = {"candidate": candidate, "rows": rows, "figures": figures}
        pages[f"candidates/{candidate['page']}.html"] = _render("candidate.html", "../", **common, **context)
    return pages


def describe_event(event: Record) -> tuple[str, str]:
    """A change as a title and a text."""
    details = event["details"]
    title = f"{KINDS[event['kind']]}: {event['run']}"
    if event["kind"] == "added":
        title += f", {count(len(details))} {'candidate' if len(details) == 1 else 'candidates'}"
    elif event["kind"] == "changed":
        title += f", {count(len(details))} {'change' if len(details) == 1 else 'changes'}"
    lines = [describe_detail(detail) for detail in details[:MAX_DETAILS]]
    if len(details) > MAX_DETAILS:
        lines.append(f"and {count(len(details) - MAX_DETAILS)} more in changes.json")
    texts = {
        "removed": "The run is not in this build.",
        "unreadable": "The folder of the run could not be read, so its figures are not in this build.",
    }
    return title, "; ".join(lines) + "." if lines else texts.get(event["kind"], "The run has no scores.")


def describe_detail(detail: Record) -> str:
    """One change in words."""
    if detail["what"] in ("status", "case_set"):
        return f"{detail['what'].replace('_', ' ')}: {str(detail['old'])[:12]}, now {str(detail['new'])[:12]}"
    if detail["what"] == "rank":
        return f"{detail['candidate']}: rank {_rank_words(detail['old'])}, now {_rank_words(detail['new'])}"
    where = slice_words(detail["slice"])
    name = ", ".join(filter(None, (f"{detail['candidate']}: {measure_title(detail['measure'])}", where)))
    old, new = (detail[side] and _figure_words({**detail, **detail[side]}) for side in ("old", "new"))
    if detail["what"] == "score":
        return f"{name} {new}"
    if old is None:
        return f"{name} {new}, new"
    return f"{name} {old}, {'removed' if new is None else f'now {new}'}"


def rank_text(rank: Sequence[int] | None) -> str:
    """A range of ranks: 2, or 2 to 4; empty if there is none."""
    if rank is None:
        return ""
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]} to {rank[1]}"


def _rank_words(side: Record) -> str:
    if side["rank"]:
        return f"{rank_text(side['rank'])} of {side['ranked']}"
    note = side.get("rank_note")  # absent in histories of earlier versions
    return f"none ({note})" if note else "none"


def _figure_words(figure: Record) -> str:
    cell = figure_cell(figure)
    interval = f" ({cell.interval})" if cell.interval else ""
    return f"{cell.value or cell.note}{interval}, n {count(figure['n'])}"


def figure_cell(figure: Record) -> FigureCell:
    """A figure as the report prints it."""
    fields = {name: figure.get(name) for name in FIGURE_FIELDS}
    line = MeasureLine(figure["measure"], figure["candidate"], figure["slice"], **fields)
    return format_line(line, figure.get("missing") or None)


def row_track(row: Record, chance: float | None) -> Markup:
    """The drawing of a score with its interval."""
    return draw_track(row["candidate"], figure_cell(row), measure_scale(row["measure"], chance))


def score_axis(measure: str, chance: float | None) -> Markup:
    return svg.axis(measure_scale(measure, chance)) if is_percentage(measure) else Markup("")


def slice_options(figures: Sequence[Record]) -> dict[str, list[tuple[str, str]]]:
    """The choices of a filter by slice: title of the key -> JSON of the slice and its value."""
    options: dict[str, list[tuple[str, str]]] = {}
    for slice in {canonical_json(figure["slice"]): figure["slice"] for figure in figures if figure["slice"]}.values():
        key, value = next(iter(slice.items()))
        options.setdefault(slice_title(key), []).append((canonical_json(slice), value))
    return options


def _first_measure(case_set: Record) -> str:
    return str(case_set["tables"][0]["measure"])


def _lookups(site: Record) -> Record:
    candidates = {candidate["name"]: candidate for candidate in site["candidates"]}
    entries = {(entry["run"], name): entry for name, candidate in candidates.items() for entry in candidate["entries"]}
    return {
        "page_of": {name: f"candidates/{candidate['page']}.html" for name, candidate in candidates.items()},
        "entry_of": entries,
        "run_of": {run["id"]: run for run in site["runs"]},
        "case_set_of": {case_set["hash"]: case_set for case_set in site["case_sets"]},
        "groups": sorted({entry["group"] for entry in entries.values() if entry["group"]}),
        "max_rows": MAX_ROWS,
        "max_details": MAX_DETAILS,
    }


def _summary(entry: Mapping[str, Any]) -> str:
    """Provider and model of a candidate, and what sets it apart."""
    parts = (entry.get("provider"), entry.get("model"), entry.get("group"), entry.get("remark"))
    return " · ".join(dict.fromkeys(str(part) for part in parts if part))


@cache
def _environment() -> Environment:
    loader = PackageLoader("wardround.exporting.site", "templates")
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    for function in (
        *(percent, count, number, measure_title, measure_meaning, slice_words, slice_title, value_meaning),
        *(canonical_json, rank_text, figure_cell, describe_event, describe_detail),
    ):
        env.filters[function.__name__] = function
    env.filters["summary"] = _summary
    env.globals.update(row_track=row_track, score_axis=score_axis, slice_options=slice_options)
    return env


def _render(template: str, root: str, **context: Any) -> str:
    """A page; `root` leads from it to the folder of the site. Control characters are shown as U+FFFD."""
    context |= {"root": root, "current": template, "policy": POLICY, "version": __version__}
    html = _environment().get_template(template).render(context)
    return CONTROLS.sub("\ufffd", html)
