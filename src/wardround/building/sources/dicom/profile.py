"""The Basic Application Level Confidentiality Profile of DICOM (PS3.15, Table E.1-1): the action for each element.

profile.csv has the table: X remove, Z empty, D replace by a dummy, U replace the UID, U* replace the UIDs inside. Of
several actions (`X/Z/D`: it depends on the type of file) the last one is used: it leaves every type of file valid.
Stricter than the table, by our choice: overlays are removed, and so is every element that is not in the dictionary,
because its content is unknown.
"""

import csv
from functools import cache
from importlib.resources import files
from typing import Literal

from pydicom.datadict import dictionary_has_tag
from pydicom.tag import BaseTag

Action = Literal["X", "Z", "D", "U", "U*", "K"]
CURVES, OVERLAYS = 0x50, 0x60  # the first byte of the groups
COMMANDS, FILE_META = 0x0000, 0x0002  # groups that do not belong in a data set


@cache
def table() -> dict[int, Action]:
    """The action for each element in the profile."""
    text = files("wardround.building.sources.dicom").joinpath("profile.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        int(row["tag"], 16): row["action"].split("/")[-1]  # type: ignore[misc]
        for row in rows
        if "x" not in row["tag"]  # curves and overlays are recognized by their group
    }


def action_of(tag: BaseTag) -> Action:
    """The action for an element; K keeps it."""
    if tag.is_private or tag.group >> 8 in (CURVES, OVERLAYS) or tag.group in (COMMANDS, FILE_META):
        return "X"
    action = table().get(int(tag))
    if action is None:
        return "K" if dictionary_has_tag(tag) else "X"
    return action
