"""Readers: one per layout in which cases are published. A reader makes a Source of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol

from wardround.cases.readers.clinbench import read_clinbench
from wardround.cases.readers.cure import read_cure
from wardround.cases.readers.gmai_mmbench import read_gmai_mmbench
from wardround.cases.readers.medq_deg.released import read_medq_deg
from wardround.cases.readers.medq_deg.site import read_medq_deg_site
from wardround.cases.readers.medqa import read_medqa
from wardround.cases.readers.medxpertqa import read_medxpertqa
from wardround.cases.readers.mmlu_pro import read_mmlu_pro
from wardround.cases.readers.omnimedvqa import read_omnimedvqa
from wardround.cases.readers.pubmedqa import read_pubmedqa
from wardround.cases.readers.xpcr.cases import read_xpcr
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Image
from wardround.core.errors import Problem, WardroundError


class Source(Protocol):
    """Cases as a layout holds them: what cannot be used is in `problems`, the rest comes by iteration."""

    problems: list[Problem]

    def __iter__(self) -> Iterator[Case]: ...

    def copy_image(self, image: Image, there: Path) -> None:
        """Writes the file of an image; `image.path` is where the case set will have it, not where the layout has it."""
        ...


Reader = Callable[[Path], Source]

READERS: dict[str, Reader] = {
    "wardround": CaseSet.open,
    "cure": read_cure,
    "medq-deg": read_medq_deg,
    "medq-deg-site": read_medq_deg_site,
    "omnimedvqa": read_omnimedvqa,
    "gmai-mmbench": read_gmai_mmbench,
    "medxpertqa": read_medxpertqa,
    "clinbench": read_clinbench,
    "medqa": read_medqa,
    "mmlu-pro": read_mmlu_pro,
    "pubmedqa": read_pubmedqa,
    "xpcr": read_xpcr,
}


def reader_for(layout: str, fields: Path | None = None) -> Reader:
    """The reader of a layout by its name; `fields` says what rows call their fields, where names are not fixed."""
    if layout not in READERS:
        raise WardroundError(f"unknown layout {layout!r}; the layouts are {', '.join(sorted(READERS))}")
    if fields is None:
        return READERS[layout]
    if layout != "xpcr":
        raise WardroundError(f"the names of {layout}'s fields are fixed: a field map is read with the layout xpcr only")
    return partial(read_xpcr, fields=fields)
