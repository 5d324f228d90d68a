"""Tables written in parts: the same rows in the same order, whether they fit into one row group or not."""

from itertools import pairwise

import polars as pl
import pytest

from wardround.running.parquet import ROWS, in_parts, write_in_parts


@pytest.mark.parametrize("sizes", [[0], [0, 3], [ROWS - 1, 1], [ROWS, 1], [0, ROWS, ROWS, 7]])
def test_parts_are_read_back_in_their_order(tmp_path, sizes):
    ends = [sum(sizes[:count]) for count in range(len(sizes) + 1)]
    parts = [pl.DataFrame({"row": range(*places)}, schema={"row": pl.Int64}) for places in pairwise(ends)]

    write_in_parts(tmp_path / "table.parquet", iter(parts))

    assert pl.read_parquet(tmp_path / "table.parquet")["row"].to_list() == list(range(sum(sizes)))
    assert [file.name for file in tmp_path.iterdir()] == ["table.parquet"]


@pytest.mark.parametrize("rows", [0, 3, ROWS, ROWS + 1, 2 * ROWS])
def test_the_parts_of_a_table_have_all_its_rows_and_none_is_empty(rows):
    table = pl.LazyFrame({"row": range(rows)}, schema={"row": pl.Int64})

    parts = list(in_parts(table))

    assert [row for part in parts for row in part["row"]] == list(range(rows))
    assert all(0 < len(part) <= ROWS for part in parts)


def test_a_table_whose_parts_fail_is_not_written(tmp_path):
    def parts():
        yield pl.DataFrame({"row": [1]})
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_in_parts(tmp_path / "table.parquet", parts())

    assert not list(tmp_path.iterdir())
