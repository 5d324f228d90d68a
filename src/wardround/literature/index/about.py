"""What an index says about itself: the table `about`, a value of JSON for each key.

articles   its state ("clearing", "filling", "following" or "whole"), the sha256 of the files it was made of in their
           order, how many articles, the sum of their digests
bm25       how text is cut into terms, and the constants of the formula
columns    the encoder of each vector column, by its name
"""

from __future__ import annotations

from typing import Any

import orjson

from wardround.literature.index.location import Connection, Table

NAME = "about"


def told(connection: Connection) -> dict[str, Any]:
    """All keys with their values; none where there is no such table."""
    table = _opened(connection)
    rows = table.search().limit(None).to_list() if table else []
    return {row["key"]: orjson.loads(row["value"]) for row in rows}


def tell(connection: Connection, **values: Any) -> None:
    """Sets keys, all or none of them."""
    rows = [{"key": key, "value": orjson.dumps(value).decode()} for key, value in values.items()]
    if table := _opened(connection):
        table.merge_insert("key").when_matched_update_all().when_not_matched_insert_all().execute(rows)
    else:
        connection.create_table(NAME, rows)


def _opened(connection: Connection) -> Table | None:
    """The table; none where there is none, or only what a process left that was killed while it made it."""
    try:
        return connection.open_table(NAME)
    except ValueError as error:
        if "was not found" in str(error):
            return None
        raise
