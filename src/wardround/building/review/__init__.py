"""The human check: what a build leaves to people, their verdicts, and the case set that comes of them."""

from wardround.building.review.items import Item, items
from wardround.building.review.review import Reviewed, review
from wardround.building.review.verdicts import Verdict, read_verdicts

__all__ = ["Item", "Reviewed", "Verdict", "items", "read_verdicts", "review"]
