"""Rare garbage collection, for work that makes many records and next to no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 200_000  # between two collections; with Python's own 700 they took a quarter of the time of a replay


@contextmanager
def rare_collection(new_objects: int = NEW_OBJECTS) -> Iterator[None]:
    """Looks for cycles only after so many new objects, and among these alone, as long as the block lasts.

    What the block leaves counts as old afterwards. Objects without cycles are freed as always.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(max(new_objects, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.freeze()
        gc.unfreeze()
