"""What an index says about itself: the table `about`, a value of JSON for each key.

articles   state ("filling", "following", "whole"), sha256 of the files it was made of in their order, how many
           articles, the sum of their digests
bm25       how text is cut into terms, and the constants of the formula
columns    the encoder of each vector column, by its name
"""

from __future__ import annotations

from typing import Any

import orjson

from wardround.literature.place import Connection, Table, tables

NAME = "about"


def told(connection: Connection) -> dict[str, Any]:
    """All keys with their values; none where there is no such table."""
    if NAME not in tables(connection):
        return {}
    rows = connection.open_table(NAME).search().limit(None).to_list()
    return {row["key"]: orjson.loads(row["value"]) for row in rows}


def tell(connection: Connection, **values: Any) -> None:
    """Sets keys, all or none of them."""
    rows = [{"key": key, "value": orjson.dumps(value).decode()} for key, value in values.items()]
    if NAME not in tables(connection):
        connection.create_table(NAME, rows)
        return
    table: Table = connection.open_table(NAME)
    table.merge_insert("key").when_matched_update_all().when_not_matched_insert_all().execute(rows)
