"""The metadata that people give of a set: licence, address, creator. They go to the manifest and to Croissant."""

from datetime import date
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput
from wardround.core.toml_table import read_toml

About = dict[str, Any]
# Croissant's names
KEYS = ("name", "description", "license", "url", "creator", "datePublished", "version", "citeAs")
SPELLINGS = {"licence": "license", "date_published": "datePublished", "cite_as": "citeAs"}


def read_about(file: Path) -> About:
    """The keys of a TOML file; a creator is a name, a table, or a list of them."""
    about: About = {}
    for key, value in read_toml(file, "metadata").items():
        name = SPELLINGS.get(key, key)
        if name not in KEYS:
            raise BadInput(file, f"unknown key; the keys are {', '.join(KEYS)}", field=key)
        about[name] = _checked(file, name, value)
    return {key: about[key] for key in KEYS if key in about}


def _checked(file: Path, key: str, value: Any) -> Any:
    if key == "datePublished":
        return _day(file, value)
    if key == "creator":
        return _creator(file, value)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(file, f"is {value!r}; expected text", field=key)
    if key == "url" and not value.startswith(("https://", "http://")):
        raise BadInput(file, f"is {value!r}; expected an address that begins with https://", field=key)
    return value.strip()


def _day(file: Path, value: Any) -> str:
    try:
        return (value if isinstance(value, date) else date.fromisoformat(value)).isoformat()
    except (TypeError, ValueError):
        raise BadInput(file, f"is {value!r}; expected a day like 2026-01-31", field="datePublished") from None


def _creator(file: Path, value: Any) -> Any:
    if isinstance(value, list) and value:
        return [_creator(file, creator) for creator in value]
    if isinstance(value, str) and value.strip():
        return {"@type": "sc:Organization", "name": value.strip()}
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return {"@type": "sc:Person", **value}
    raise BadInput(file, f"is {value!r}; expected a name, or a table with a name", field="creator")
