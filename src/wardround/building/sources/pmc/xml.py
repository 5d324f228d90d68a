"""XML from outside, read safely: no entity is ever declared or fetched, and depth and size are bounded."""

from __future__ import annotations

import html.entities
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

LARGEST = 64 << 20  # bytes of an article
DEEPEST = 200  # elements inside each other


class NotUsable(ValueError):
    """Why a file is no article."""


def parsed(file: Path) -> Element:
    """The root of a file, names without their namespaces."""
    if file.stat().st_size > LARGEST:
        raise NotUsable(f"has more than {LARGEST >> 20} MB")
    building, parser, depth = TreeBuilder(), expat.ParserCreate(namespace_separator=" "), 0

    def start(name: str, told: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise NotUsable(f"has more than {DEEPEST} elements inside each other")
        building.start(_local(name), {_local(key): value for key, value in told.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        building.end(_local(name))

    def declared(name: str, *_: object) -> None:
        raise NotUsable(f"declares the entity {name!r}, which is refused")

    def skipped(name: str, is_parameter: bool) -> None:
        """JATS names letters by entities of a DTD that is not fetched; those of HTML are known anyway."""
        if not is_parameter:
            building.data(html.entities.html5.get(f"{name};", " "))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = building.data
    parser.EntityDeclHandler, parser.SkippedEntityHandler = declared, skipped
    parser.buffer_text = True
    try:
        with file.open("rb") as content:
            parser.ParseFile(content)
        return building.close()
    except expat.ExpatError as error:
        raise NotUsable(f"line {error.lineno}: is not well-formed: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise error if isinstance(error, NotUsable) else NotUsable(f"is not readable: {error}") from None


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
