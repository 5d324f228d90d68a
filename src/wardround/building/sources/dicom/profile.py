"""The Basic Application Level Confidentiality Profile of DICOM (PS3.15, Table E.1-1): what is done to which element.

profile.csv holds the table's facts: X remove, Z empty, D a dummy, U another UID, U* the UIDs inside are others. Of
several actions (`X/Z/D`: whichever the kind of file needs) the last is taken: it leaves every kind of file valid.
Stricter than the table, by our choice: an overlay goes whole, and so does every element that the dictionary does not
know, since nobody can say what is in it.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Literal

from pydicom.datadict import dictionary_has_tag
from pydicom.tag import BaseTag

Action = Literal["X", "Z", "D", "U", "U*", "K"]
CURVES, OVERLAYS = 0x50, 0x60  # the first byte of the groups
COMMANDS, FILE_META = 0x0000, 0x0002  # groups that have no place in a data set


@cache
def table() -> dict[int, Action]:
    """The action for each element that the profile names."""
    text = files("wardround.building.sources.dicom").joinpath("profile.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        int(row["tag"], 16): row["action"].split("/")[-1]  # type: ignore[misc]
        for row in rows
        if "x" not in row["tag"]  # curves and overlays, which are known by their group
    }


def action_of(tag: BaseTag) -> Action:
    """What is done to an element; K keeps it."""
    if tag.is_private or tag.group >> 8 in (CURVES, OVERLAYS) or tag.group in (COMMANDS, FILE_META):
        return "X"
    named = table().get(int(tag))
    if named is None:
        return "K" if dictionary_has_tag(tag) else "X"
    return named
