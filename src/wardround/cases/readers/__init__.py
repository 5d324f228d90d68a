"""Readers: one per layout in which cases are published. A reader makes a CaseSource of a file or folder.

A plug-in adds a layout with an entry point of the group `wardround.readers`, or with the decorator
`wardround.plugins.reader`: a function from the source's path to a CaseSource, named as users type it after `--from`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from wardround.cases.importing.table_map import public_names
from wardround.cases.readers.clinbench import read_clinbench
from wardround.cases.readers.cure import read_cure
from wardround.cases.readers.gmai_mmbench import read_gmai_mmbench
from wardround.cases.readers.healthbench import read_healthbench
from wardround.cases.readers.hf_export import read_hf_export
from wardround.cases.readers.medq_deg.released import read_medq_deg
from wardround.cases.readers.medq_deg.site import read_medq_deg_site
from wardround.cases.readers.medqa import read_medqa
from wardround.cases.readers.medxpertqa import read_medxpertqa
from wardround.cases.readers.mmlu_pro import read_mmlu_pro
from wardround.cases.readers.omnimedvqa import read_omnimedvqa
from wardround.cases.readers.pathmmu import read_pathmmu
from wardround.cases.readers.pubmedqa import read_pubmedqa
from wardround.cases.readers.xpcr.cases import read_xpcr
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Image
from wardround.core.errors import Problem, WardroundError
from wardround.plugins import Plugin, extensions


class CaseSource(Protocol):
    """What a reader returns: the usable cases by iteration, and the problems of the records that cannot be used.

    A reader raises `wardround.core.errors.BadInput` if the source has no usable case.
    """

    problems: list[Problem]

    def __iter__(self) -> Iterator[Case]:
        """The cases, the same each time; `image.path` is a path in the case set that will be written."""
        ...

    def copy_image(self, image: Image, target: Path, /) -> None:
        """Writes the file of an image of a case to `target`."""
        ...


Reader = Callable[[Path], CaseSource]


def _read_public_set(name: str, source: Path) -> CaseSource:
    from wardround.cases.importing.mapped_cases import read_public_set  # which is built on readers/tables

    return read_public_set(name, source)


READERS: dict[str, Reader] = {
    "wardround": CaseSet.open,
    "cure": read_cure,
    "medq-deg": read_medq_deg,
    "medq-deg-site": read_medq_deg_site,
    "omnimedvqa": read_omnimedvqa,
    "gmai-mmbench": read_gmai_mmbench,
    "medxpertqa": read_medxpertqa,
    "clinbench": read_clinbench,
    "healthbench": read_healthbench,
    "medqa": read_medqa,
    "mmlu-pro": read_mmlu_pro,
    "pathmmu": read_pathmmu,
    "pubmedqa": read_pubmedqa,
    "xpcr": read_xpcr,
    "hf-export": read_hf_export,
    **{name: partial(_read_public_set, name) for name in public_names()},
}


def reader_for(layout: str, fields: Path | None = None) -> Reader:
    """The reader of a layout, built in or of a plug-in; `fields`: a field map, if its names are not fixed (xpcr)."""
    plugins = _plugins()
    if layout not in READERS and layout not in plugins:
        layouts = ", ".join(sorted([*READERS, *plugins]))
        raise WardroundError(f"unknown layout {layout!r}; the layouts are {layouts}")
    if fields is not None and layout != "xpcr":
        raise WardroundError(f"the field names of {layout} are fixed; a field map works with the layout xpcr only")
    if layout in plugins:
        return cast(Reader, plugins[layout].load())
    return READERS[layout] if fields is None else partial(read_xpcr, fields=fields)


def _plugins() -> dict[str, Plugin]:
    plugins = dict(extensions("readers"))
    for name in plugins:
        if name in READERS:
            raise WardroundError(f"the plug-in {plugins[name].origin} has a reader {name!r}, a built-in layout's name")
    return plugins
