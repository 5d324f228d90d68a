"""Section: one part of a report, and where sections come from that reporting does not know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points

from markupsafe import Markup

from wardround.reporting.run_files import RunFolder

GROUP = "wardround.sections"


@dataclass(frozen=True)
class Section:
    """`html` is trusted as it is: whoever makes it escapes what came from cases, candidates and files."""

    id: str
    title: str
    html: Markup


SectionMaker = Callable[[RunFolder], Section | None]


def registered_sections(run: RunFolder) -> Iterator[Section]:
    """The sections of installed packages (entry points of the group wardround.sections), by name."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            section = entry.load()(run)
        except Exception as error:  # a package's mistake must not cost the reader the rest of the report
            said = Markup('<p class="problem">This section could not be made: {}</p>').format(repr(error))
            section = Section(f"section-{entry.name}", entry.name, said)
        if section is not None:
            yield section
