"""The registry: medical sets on the Hub with their repository, files and reader; `sets.toml` has one table for each."""

from __future__ import annotations

import datetime
from functools import cache
from pathlib import Path

from pydantic import Field

from wardround.core.toml_table import StrictTable, parse_table, read_toml

SETS = Path(__file__).with_name("sets.toml")


class HubSet(StrictTable):
    """One set. `layout` is the name of its map or reader (default: the set's own name)."""

    title: str
    repo: str
    files: list[str] = Field(min_length=1)  # patterns; archives (.zip) are unpacked
    licence: str | None = None  # as the page showed it when it was looked up; None: it showed none
    looked_up: datetime.date
    layout: str = ""
    folder: str = "."  # of the unpacked files, that the reader is given


@cache
def hub_sets() -> dict[str, HubSet]:
    """All sets by the names that users type."""
    tables = read_toml(SETS, "registry")
    sets = {name: parse_table(HubSet, table, SETS, name) for name, table in tables.items()}
    return {name: entry.model_copy(update={"layout": entry.layout or name}) for name, entry in sets.items()}


def set_of_repo(repo: str) -> HubSet | None:
    """The set that a repository holds; None if it is not in the registry."""
    return next((entry for entry in hub_sets().values() if entry.repo.lower() == repo.lower()), None)
