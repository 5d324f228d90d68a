"""The versions of an index's tables: those that belong together, and how a stopped update is undone."""

from wardround.literature.index import articles
from wardround.literature.index.location import Connection, Table
from wardround.literature.words.tables import DOCUMENTS, WORDS

VERSIONED = (articles.NAME, DOCUMENTS, WORDS)


def table_versions(connection: Connection) -> dict[str, int]:
    """The newest version of each table."""
    return {name: connection.open_table(name).version for name in VERSIONED}


def open_version(connection: Connection, name: str, version: int) -> Table:
    """A table as it was in a version."""
    table = connection.open_table(name)
    table.checkout(version)
    return table


def restore_tables(connection: Connection, versions: dict[str, int]) -> None:
    """Makes earlier versions the newest, whatever was written after them."""
    for name, version in versions.items():
        table = connection.open_table(name)
        if table.version != version:
            table.checkout(version)
            table.restore()
