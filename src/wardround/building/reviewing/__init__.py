"""The human check: what a build leaves to people, their verdicts, and the case set that comes of them."""

from wardround.building.reviewing.items import Item, items
from wardround.building.reviewing.review import Reviewed, review
from wardround.building.reviewing.verdicts import Verdict, read_verdicts

__all__ = ["Item", "Reviewed", "Verdict", "items", "read_verdicts", "review"]
