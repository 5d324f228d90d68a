"""Builds a leaderboard: reads the runs and the last build, and puts the new site in its place when it is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput, WardroundError
from wardround.core.files import refuse_inside, replacement_folder, restore_folder
from wardround.exporting.site.changes import History, find_changes
from wardround.exporting.site.feed import render_feed
from wardround.exporting.site.pages import describe_event, render_pages, static_files
from wardround.exporting.site.records import FORMAT, Record, page_name, site_record
from wardround.exporting.site.site_runs import SiteRun, read_runs, relative_link

SITE, CHANGES, FEED, REPORTS = "site.json", "changes.json", "feed.xml", "reports"
OWN = (  # the names at the top of a site; everything else in its folder is left alone
    *(SITE, CHANGES, FEED, REPORTS, "index.html", "changes.html", "methods.html"),
    *("case-sets", "candidates", "static"),
)
TITLE = "Leaderboard"


@dataclass(frozen=True)
class BuiltSite:
    """What a build consists of; `problems` has a line for each folder that could not be read."""

    index: Path
    case_sets: int
    runs: int
    candidates: int
    changes: int
    problems: list[str]

    def to_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "index": str(self.index)}


def build_site(
    paths: Sequence[Path],
    out: Path,
    *,
    title: str = TITLE,
    url: str | None = None,
    explorers: Sequence[str] = (),
    copy_reports: bool = False,
    strict: bool = False,
    built: datetime | None = None,
    note: Callable[[str], None] = print,
) -> BuiltSite:
    """Writes the site of these runs (folders, or folders of runs) into `out`.

    `url`: where it will be published. Then links lead only to what lies in the site, and to named explorers.
    `explorers`: exported explorers to link, as DIR or RUN=DIR. `built`: the time of this build, for the history.
    """
    out = out.resolve()
    if url is not None and not url.startswith(("http://", "https://")):
        raise WardroundError(f"--url {url}: expected an address that begins with https:// or http://")
    restore_folder(out, OWN)
    old_site, old_changes = _read_last_build(out)
    read = read_runs(paths, explorers, is_published=url is not None)
    if read.problems and (strict or not read.runs):
        raise WardroundError(next(iter(read.problems.values())))
    for line in read.problems.values():
        note(line)
    refuse_inside(out, (run.files.folder for run in read.runs))
    if inner := next((run.files.folder for run in read.runs if run.files.folder.is_relative_to(out)), None):
        raise BadInput(inner, f"lies inside the site {out}; name another folder by --out")
    links = {run.id: _links(run, out, is_published=url is not None, copy_report=copy_reports) for run in read.runs}
    site = site_record(read.runs, title, links)
    events = find_changes(old_site, site, read.problems)
    history = History.from_json(old_changes).with_build(events, _time(built))
    with replacement_folder(out, OWN) as draft:
        for name, data in static_files():
            _write(draft / "static" / name, data)
        for name, html in render_pages(site, history.builds).items():
            _write(draft / name, html.encode())
        for run in read.runs if copy_reports else ():
            if run.report is not None:
                _write(draft / links[run.id]["report"], run.report.read_bytes())
        _write(draft / FEED, render_feed(title, history.builds, url, describe_event))
        _write(draft / SITE, _json(site))
        _write(draft / CHANGES, _json(history.to_json()))
    return BuiltSite(
        out / "index.html",
        len(site["case_sets"]),
        len(site["runs"]),
        len(site["candidates"]),
        len(events),
        list(read.problems.values()),
    )


def _links(run: SiteRun, out: Path, *, is_published: bool, copy_report: bool) -> Record:
    """The addresses of a run's report and explorer, from the folder of the site; None if there is none to link."""
    report = explorer = None
    if run.report is not None and copy_report:
        report = f"{REPORTS}/{page_name(run.id)}.html"
    elif run.report is not None and not is_published:
        report = relative_link(run.report, out)
    if run.explorer is not None:
        explorer = relative_link(run.explorer / "index.html", out)
    return {"report": report, "explorer": explorer}


def _read_last_build(out: Path) -> tuple[Record | None, Record | None]:
    """site.json and changes.json of the last build; refuses a folder whose files this build would overwrite."""
    if out.exists() and not out.is_dir():
        raise BadInput(out, "is a file; expected a folder for the site")
    if not (out / SITE).exists():
        if clash := next((name for name in OWN if (out / name).exists()), None):
            raise BadInput(out / clash, f"would be overwritten, and {out.name} is not a site (it has no {SITE})")
        return None, None
    site = _read_json(out / SITE)
    if site.get("format") != FORMAT:
        raise BadInput(out / SITE, f"has the format {site.get('format')!r}; expected {FORMAT!r}: name another folder")
    return site, _read_json(out / CHANGES) if (out / CHANGES).exists() else None


def _read_json(path: Path) -> Record:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise BadInput(path, f"cannot be read ({error}); remove the folder to begin a new site") from None
    if not isinstance(document, dict):
        raise BadInput(path, "expected a JSON object; remove the folder to begin a new site")
    return document


def _time(built: datetime | None) -> str:
    """The time of a build in UTC, to the second; SOURCE_DATE_EPOCH sets it, as for other reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if built is None:
        built = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return built.astimezone(UTC).replace(microsecond=0).isoformat()


def _json(document: Record) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
