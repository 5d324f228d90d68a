"""A run's manifest and tables as they may leave this machine: without folders, addresses, headers and names of keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wardround.reporting.run_files import RunFiles

KEPT = (
    *("wardround", "study", "status", "started", "finished", "versions", "cases", "exploratory", "amendments"),
    *("prompts", "severities", "image_size", "literature", "candidates", "inapplicable", "judge", "reader", "parser"),
    *("chance", "reference", "acceptance", "answers_hash", "bench"),
)
PRIVATE = {  # wherever they are in the manifest
    *("folder", "file", "path", "from_run", "index", "prompts_folder"),
    *("base_url", "base_urls", "same_as", "headers", "api_key_env", "token_command", "proxy", "ca_file"),
    *("why", "failures", "skipped", "fault_kinds", "warnings", "notes"),  # these quote addresses and paths
}
TABLES = ("measures.csv", "comparisons.csv", "report.html")


def shared_manifest(run: RunFiles) -> dict[str, Any]:
    """The manifest that an export carries."""
    kept = {name: run.manifest[name] for name in KEPT if name in run.manifest}
    shared: dict[str, Any] = _without_private(kept)
    return shared


def shared_manifest_text(run: RunFiles) -> str:
    return json.dumps(shared_manifest(run), indent=2, ensure_ascii=False) + "\n"


def write_shared_files(run: RunFiles, folder: Path) -> list[str]:
    """Writes the manifest, the tables and the report into a folder; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(shared_manifest_text(run), encoding="utf-8")
    names = [name for name in TABLES if (run.folder / name).is_file()]
    for name in names:
        (folder / name).write_bytes((run.folder / name).read_bytes())
    return ["manifest.json", *names]


def _without_private(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_private(item) for key, item in value.items() if key not in PRIVATE}
    if isinstance(value, list):
        return [_without_private(item) for item in value]
    if isinstance(value, str) and Path(value).is_absolute():
        return None
    return value
