"""`settings.json` of a run folder: the verdicts that `check` or `run` came to, for the next start."""

from collections.abc import Sequence
from typing import Any

import orjson

from wardround.running.run_folder import RunFolder
from wardround.running.settings.verdict import SettingVerdict

FILE = "settings.json"


def read_verdicts(folder: RunFolder, candidate: str, fingerprint: str) -> list[SettingVerdict]:
    """The verdicts on a candidate, if it was asked for the same settings at the same address."""
    entry = _read(folder).get(candidate, {})
    if entry.get("fingerprint") != fingerprint:
        return []
    return [SettingVerdict.from_dict(record) for record in entry["verdicts"]]


def write_verdicts(folder: RunFolder, candidate: str, fingerprint: str, verdicts: Sequence[SettingVerdict]) -> None:
    entry = {"fingerprint": fingerprint, "verdicts": [verdict.to_dict() for verdict in verdicts]}
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.write(FILE, orjson.dumps(_read(folder) | {candidate: entry}, option=orjson.OPT_INDENT_2) + b"\n")


def _read(folder: RunFolder) -> dict[str, Any]:
    file = folder.path / FILE
    try:
        records = orjson.loads(file.read_bytes()) if file.exists() else {}
    except orjson.JSONDecodeError:
        return {}
    return records if isinstance(records, dict) else {}
