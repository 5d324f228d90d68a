"""The table `mesh` of an index: the descriptors of the NLM's file that was added to it."""

from pathlib import Path
from typing import Any

from wardround.core.canonical import sha256_file
from wardround.literature.index import about
from wardround.literature.index.location import Connection, table_names
from wardround.literature.mesh.descriptors import Descriptor, read_descriptors
from wardround.literature.mesh.thesaurus import Thesaurus

NAME = "mesh"


def write_thesaurus(connection: Connection, descriptor_file: Path) -> dict[str, Any]:
    """Writes the descriptors of a file, in place of earlier ones, and returns their description."""
    import pyarrow as pa

    lines = pa.list_(pa.string())
    schema = pa.schema({"heading": pa.string(), "tree_numbers": lines, "terms": lines})
    descriptors = list(read_descriptors(descriptor_file))
    columns = zip(zip(*descriptors, strict=True), schema, strict=True)
    description = {
        "file": descriptor_file.name,
        "sha256": sha256_file(descriptor_file),
        "headings": len(descriptors),
        "terms": sum(len(descriptor.terms) for descriptor in descriptors),
    }
    rows = pa.table([pa.array(column, field.type) for column, field in columns], schema)
    connection.create_table(NAME, rows, mode="overwrite")
    about.write_about(connection, mesh=description)
    return description


def read_thesaurus(connection: Connection) -> Thesaurus | None:
    """The thesaurus of an index; None if none was added."""
    if NAME not in table_names(connection):
        return None
    rows = connection.open_table(NAME).to_arrow().to_pylist()
    return Thesaurus(Descriptor(**row) for row in rows)
