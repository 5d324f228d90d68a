"""Readers: one per layout in which cases are published. A reader makes a Source of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from wardround.cases.set import CaseSet
from wardround.core.case import Case, Image
from wardround.core.errors import Problem, WardroundError


class Source(Protocol):
    """Cases as a layout holds them: what cannot be used is in `problems`, the rest comes by iteration."""

    problems: list[Problem]

    def __iter__(self) -> Iterator[Case]: ...

    def image_path(self, image: Image) -> Path:
        """Where the file of an image is in the layout; `image.path` is where the case set will have it."""
        ...


Reader = Callable[[Path], Source]

READERS: dict[str, Reader] = {"wardround": CaseSet.open}


def reader_for(layout: str) -> Reader:
    """The reader of a layout by its name."""
    if layout not in READERS:
        raise WardroundError(f"unknown layout {layout!r}; the layouts are {', '.join(sorted(READERS))}")
    return READERS[layout]
