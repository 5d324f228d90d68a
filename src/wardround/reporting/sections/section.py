"""Section: one part of a report, and the sections that plug-ins add."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from wardround.plugins import extensions
from wardround.reporting.run_files import RunFiles


@dataclass(frozen=True)
class Section:
    """`html` is printed unchanged: its maker must escape everything from cases, candidates and files."""

    id: str
    title: str
    html: Markup
    follows: bool = False  # whether it is made again for every condition of the page


SectionMaker = Callable[[RunFiles], Section | None]


def registered_sections(run: RunFiles, replaced: Mapping[str, SectionMaker]) -> Iterator[Section]:
    """The sections of plug-ins by name; `replaced` has the makers used instead of some of them."""
    for name, plugin in extensions("sections").items():
        try:
            make = replaced.get(name) or plugin.load()
            section = make(run)
        except Exception as error:  # a plug-in's mistake must not cost the reader the rest of the report
            problem = Markup('<p class="problem">This section could not be made: {}</p>').format(repr(error))
            section = Section(f"section-{name}", name, problem)
        if section is not None:
            yield section
