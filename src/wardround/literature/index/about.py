"""The description that an index keeps of itself: the table `about`, a JSON value for each key.

articles   its state ("clearing", "filling", "following" or "whole"), the sha256 of its source files in order, the
           number of articles, the sum of their digests, the versions of the tables that belong to this state
bm25       how text is split into terms, and the constants of the formula
columns    the encoder of each vector column by name
tuning     the weights of `fused`, learnt from judged queries, and their figures on held-out queries
mesh       the descriptor file of the thesaurus: name, sha256, number of headings and terms
"""

from typing import Any

import orjson

from wardround.literature.index.location import Connection, Table

NAME = "about"


def read_about(connection: Connection) -> dict[str, Any]:
    """All keys with their values; empty if there is no such table."""
    table = _open_table(connection)
    rows = table.search().limit(None).to_list() if table else []
    return {row["key"]: orjson.loads(row["value"]) for row in rows}


def write_about(connection: Connection, **values: Any) -> None:
    """Sets keys, all of them or none."""
    rows = [{"key": key, "value": orjson.dumps(value).decode()} for key, value in values.items()]
    if table := _open_table(connection):
        table.merge_insert("key").when_matched_update_all().when_not_matched_insert_all().execute(rows)
    else:
        connection.create_table(NAME, rows)


def _open_table(connection: Connection) -> Table | None:
    """The table; None if there is none, or only the remains of a killed process."""
    try:
        return connection.open_table(NAME)
    except ValueError as error:
        if "was not found" in str(error):
            return None
        raise
