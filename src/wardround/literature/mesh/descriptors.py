"""The NLM's descriptor file (desc2026.xml, also as .gz): one record per heading."""

import gzip
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.text import single_line


class Descriptor(NamedTuple):
    """A heading with its places in the tree and all terms of its concepts, the heading's own first."""

    heading: str
    tree_numbers: list[str]
    terms: list[str]


def read_descriptors(path: Path) -> Iterator[Descriptor]:
    """The descriptors of a file, one after another; a file without any is refused."""
    count = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for _, element in ET.iterparse(file):
                if element.tag == "DescriptorRecord":
                    if descriptor := _descriptor(element):
                        count += 1
                        yield descriptor
                    element.clear()
    except ET.ParseError as error:
        raise BadInput(path, f"is not well-formed XML: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(path, f"is truncated or damaged: {error}") from None
    except OSError as error:
        raise BadInput(path, describe_unreadable(error)) from None
    if not count:
        raise BadInput(path, "has no DescriptorRecord; expected the NLM's descriptor file, such as desc2026.xml")


def _descriptor(record: ET.Element) -> Descriptor | None:
    heading = single_line(record.findtext("DescriptorName/String") or "")
    trees = [single_line(element.text or "") for element in record.iterfind("TreeNumberList/TreeNumber")]
    terms = [single_line(element.text or "") for element in record.iterfind("ConceptList/Concept/TermList/Term/String")]
    return Descriptor(heading, trees, list(dict.fromkeys(filter(None, [heading, *terms])))) if heading else None
