"""Candidates as users type them: NAME=PROVIDER,key=value,key=value; or a file of candidates."""

import re
import tomllib
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import CERTIFICATE_KEYS
from wardround.core.toml_table import read_toml

_SEPARATOR = re.compile(r",(?=[\w.-]+=)")  # a comma inside a value does not separate


def parse_candidate(text: str) -> dict[str, Any]:
    """`qwen=openai,base_url=http://127.0.0.1:8000/v1,model=Qwen3` as a candidate's table in a study.

    An address stands for an OpenAI server (`qwen=http://127.0.0.1:8000/v1,model=Qwen3`), a provider alone is also the
    name (`random`), and a dotted key sets a key of a table (`extra_body.accuracy=0.7`).
    """
    name, equals, rest = text.partition("=")
    if not equals:
        rest = name
    first, *pairs = _SEPARATOR.split(rest)
    if not name.strip() or not first.strip() or ("=" in first and "://" not in first):
        raise WardroundError(f"candidate {text!r}: expected NAME=PROVIDER or NAME=ADDRESS, then ,key=value")
    is_address = first.startswith(("http://", "https://"))
    provider = {"provider": "openai", "base_url": first} if is_address else {"provider": first.strip()}
    settings: dict[str, Any] = {"name": name.strip(), **provider}
    for pair in pairs:
        key, _, value = pair.partition("=")
        *tables, last = key.split(".")
        target = settings
        for table in tables:
            target = target.setdefault(table, {})
            if not isinstance(target, dict):
                raise WardroundError(f"candidate {name!r}: {key}: {table} is not a table")
        target[last] = _parse_value(value)
    return _with_files_in(Path.cwd(), settings)


def _parse_value(text: str) -> Any:
    """A TOML value; anything else is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def read_candidates(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """The `[[candidates]]` of a file, and its `[judge]` if it has one."""
    settings = read_toml(path, "candidates")
    if unknown := set(settings) - {"candidates", "judge"}:
        raise BadInput(path, "unknown key; only [[candidates]] and [judge] are read", field=sorted(unknown)[0])
    candidates = settings.get("candidates", [])
    if not isinstance(candidates, list) or not candidates:
        raise BadInput(path, "has no [[candidates]]")
    folder, judge = path.parent.absolute(), settings.get("judge")
    return [_with_files_in(folder, candidate) for candidate in candidates], judge and _with_files_in(folder, judge)


def _with_files_in(folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with absolute paths of certificates: the study's file will be in the folder of its run."""
    files = {key: settings[key] for key in CERTIFICATE_KEYS if isinstance(settings.get(key), str)}
    return settings | {key: str(folder / file) for key, file in files.items()}
