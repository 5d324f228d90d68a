"""Safe parsing of XML from outside: entities are never declared or fetched, depth and size are limited."""

import html.entities
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

MAX_BYTES = 64 << 20  # of an article
MAX_DEPTH = 200  # nested elements


class UnusableFile(ValueError):
    """Why a file is not an article."""


def parse_xml(file: Path) -> Element:
    """The root element of a file; names have no namespaces."""
    if file.stat().st_size > MAX_BYTES:
        raise UnusableFile(f"has more than {MAX_BYTES >> 20} MB")
    with file.open("rb") as content:
        return parse_stream(content)


def parse_stream(content: BinaryIO) -> Element:
    """The root element of an open file, whose size the caller has limited; names have no namespaces."""
    tree, parser, depth = TreeBuilder(), expat.ParserCreate(namespace_separator=" "), 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise UnusableFile(f"has more than {MAX_DEPTH} elements inside each other")
        tree.start(_local(name), {_local(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        tree.end(_local(name))

    def declared(name: str, *_: object) -> None:
        raise UnusableFile(f"declares the entity {name!r}, which is refused")

    def skipped(name: str, is_parameter: bool) -> None:
        """JATS uses entities of a DTD that is not fetched for letters; most are those of HTML."""
        if not is_parameter:
            tree.data(html.entities.html5.get(f"{name};", " "))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = tree.data
    parser.EntityDeclHandler, parser.SkippedEntityHandler = declared, skipped
    parser.buffer_text = True
    try:
        parser.ParseFile(content)
        return tree.close()
    except expat.ExpatError as error:
        raise UnusableFile(f"line {error.lineno}: is not well-formed: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise error if isinstance(error, UnusableFile) else UnusableFile(f"is not readable: {error}") from None


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
