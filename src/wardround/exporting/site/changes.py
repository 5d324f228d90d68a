"""What changed between two builds of a site: runs, figures, ranks. The history of it is changes.json."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from wardround.core.canonical import canonical_json

HISTORY_FORMAT = "wardround-site-changes-1"
COMPARED = ("value", "low", "high", "n", "unparsed", "refused")
RANK_FIELDS = ("rank", "ranked", "rank_note")
Record = dict[str, Any]


@dataclass(frozen=True)
class History:
    """The builds that changed something, the latest first."""

    builds: list[Record]

    @classmethod
    def from_json(cls, document: Mapping[str, Any] | None) -> History:
        return cls(list((document or {}).get("builds") or []))

    def with_build(self, events: Sequence[Record], built: str) -> History:
        """The history with a build; one that changed nothing leaves it as it is."""
        if not events:
            return self
        number = 1 + max((int(build["number"]) for build in self.builds), default=0)
        named = [{**event, "guid": _guid(number, event)} for event in events]
        return History([{"number": number, "built": built, "events": named}, *self.builds])

    def to_json(self) -> Record:
        return {"format": HISTORY_FORMAT, "builds": self.builds}


def find_changes(old: Mapping[str, Any] | None, new: Mapping[str, Any], unreadable: Collection[str]) -> list[Record]:
    """One event for each run that is new, gone, unreadable now, or has other figures or ranks than before."""
    before, now = _by_run(old or {}), _by_run(new)
    events: list[Record] = []
    for run, own in now.items():
        if run not in before:
            events.append({"kind": "added", "run": run, "details": _scores(own)})
            continue
        details = _differences(before[run], own)
        if details:
            events.append({"kind": "changed", "run": run, "details": details})
    for run in before:
        if run not in now:
            events.append({"kind": "unreadable" if run in unreadable else "removed", "run": run, "details": []})
    order = {"added": 0, "changed": 1, "removed": 2, "unreadable": 3}
    return sorted(events, key=lambda event: (order[event["kind"]], event["run"]))


def _by_run(site: Mapping[str, Any]) -> dict[str, Record]:
    """Status, scores with ranks, and figures of each run."""
    runs: dict[str, Record] = {
        run["id"]: {"status": run["status"], "case_set": run["case_set"], "scores": {}, "figures": {}}
        for run in site.get("runs", [])
    }
    for table in (table for case_set in site.get("case_sets", []) for table in case_set["tables"]):
        for row in table["rows"]:
            runs[row["run"]]["scores"][row["candidate"]] = {**row, "ranked": table["ranked"]}
    for figure in site.get("figures", []):
        key = (figure["candidate"], figure["measure"], canonical_json(figure["slice"]))
        runs[figure["run"]]["figures"][key] = figure
    return runs


def _scores(run: Record) -> list[Record]:
    return [_detail("score", row, None, row) for row in run["scores"].values()]


def _differences(old: Record, new: Record) -> list[Record]:
    details: list[Record] = []
    for name in ("status", "case_set"):
        if old[name] != new[name]:
            details.append({"what": name, "old": old[name], "new": new[name]})
    for candidate, row in new["scores"].items():
        earlier = old["scores"].get(candidate)
        if earlier is not None and earlier["rank"] != row["rank"]:  # a longer table alone is not a change
            details.append(
                {
                    "what": "rank",
                    "candidate": candidate,
                    "old": {key: earlier.get(key) for key in RANK_FIELDS},
                    "new": {key: row.get(key) for key in RANK_FIELDS},
                }
            )
    for key in [*new["figures"], *(key for key in old["figures"] if key not in new["figures"])]:
        before, now = old["figures"].get(key), new["figures"].get(key)
        if before is None or now is None or any(before[field] != now[field] for field in COMPARED):
            details.append(_detail("figure", now or before or {}, before, now))
    return details


def _detail(what: str, named: Record, old: Record | None, new: Record | None) -> Record:
    detail = {"what": what, **{key: named[key] for key in ("candidate", "measure", "slice")}}
    for side, figure in (("old", old), ("new", new)):
        detail[side] = None if figure is None else {field: figure[field] for field in COMPARED}
    return detail


def _guid(number: int, event: Record) -> str:
    """The same for the same event of the same build, and for no other."""
    return "wardround:" + sha256(canonical_json([number, event]).encode()).hexdigest()[:32]
