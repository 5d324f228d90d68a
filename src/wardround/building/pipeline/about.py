"""What people say of a set as a whole: licence, address, who made it. The manifest tells it, and so does Croissant."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput

About = dict[str, Any]
KEYS = (
    "name",
    "description",
    "license",
    "url",
    "creator",
    "datePublished",
    "version",
    "citeAs",
)  # as Croissant has them
SPELLED = {"licence": "license", "date_published": "datePublished", "cite_as": "citeAs"}


def read_about(file: Path) -> About:
    """The keys of a TOML file; a creator is a name, a table, or a list of them."""
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(file, "there is no such file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(file, f"is not TOML: {error}") from None
    about: About = {}
    for key, value in told.items():
        name = SPELLED.get(key, key)
        if name not in KEYS:
            raise BadInput(file, f"unknown key; there are {', '.join(KEYS)}", field=key)
        about[name] = _checked(file, name, value)
    return {key: about[key] for key in KEYS if key in about}


def _checked(file: Path, key: str, value: Any) -> Any:
    if key == "datePublished":
        return _day(file, value)
    if key == "creator":
        return _creator(file, value)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(file, f"is a text, not {value!r}", field=key)
    if key == "url" and not value.startswith(("https://", "http://")):
        raise BadInput(file, f"is an address that begins with https://, not {value!r}", field=key)
    return value.strip()


def _day(file: Path, value: Any) -> str:
    try:
        return (value if isinstance(value, date) else date.fromisoformat(value)).isoformat()
    except (TypeError, ValueError):
        raise BadInput(file, f"is a day like 2026-01-31, not {value!r}", field="datePublished") from None


def _creator(file: Path, value: Any) -> Any:
    if isinstance(value, list) and value:
        return [_creator(file, each) for each in value]
    if isinstance(value, str) and value.strip():
        return {"@type": "sc:Organization", "name": value.strip()}
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return {"@type": "sc:Person", **value}
    raise BadInput(file, f"is a name, or a table with one, not {value!r}", field="creator")
