"""Candidates as a person types them: NAME=PROVIDER,key=value,key=value; or a file of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput, WardroundError

_SEPARATOR = re.compile(r",(?=[\w.-]+=)")  # a comma inside a value is no separator


def candidate_from(text: str) -> dict[str, Any]:
    """`qwen=openai,base_url=http://127.0.0.1:8000/v1,model=Qwen3` as a candidate's table of a study.

    An address alone is a server (`qwen=http://127.0.0.1:8000/v1,model=Qwen3`), a provider alone names itself
    (`random`), and dots lead into tables (`extra_body.accuracy=0.7`).
    """
    name, equals, rest = text.partition("=")
    if not equals:
        rest = name
    first, *pairs = _SEPARATOR.split(rest)
    if not name.strip() or not first.strip() or ("=" in first and "://" not in first):
        raise WardroundError(f"candidate {text!r}: expected NAME=PROVIDER or NAME=ADDRESS, then ,key=value")
    address = first.startswith(("http://", "https://"))
    told: dict[str, Any] = {"name": name.strip(), **({"provider": "openai", "base_url": first} if address else {})}
    told.setdefault("provider", first.strip())
    for pair in pairs:
        key, _, value = pair.partition("=")
        *tables, last = key.split(".")
        place = told
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise WardroundError(f"candidate {name!r}: {key} leads into what is no table")
        place[last] = _value(value)
    return told


def _value(text: str) -> Any:
    """Numbers, true and false, lists and quoted texts as TOML has them; anything else is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def candidates_in(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """The `[[candidates]]` of a file, and its `[judge]` if it has one."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(path, "there is no such file of candidates") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(path, f"cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(path, f"is not TOML: {error}") from None
    if unknown := set(told) - {"candidates", "judge"}:
        raise BadInput(path, "unknown key; only [[candidates]] and [judge] are read", field=sorted(unknown)[0])
    found = told.get("candidates", [])
    if not isinstance(found, list) or not found:
        raise BadInput(path, "there is no [[candidates]] in it")
    return found, told.get("judge")
