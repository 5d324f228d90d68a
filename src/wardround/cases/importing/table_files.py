"""The rows of a table in any common file: CSV, TSV, JSON, JSONL, Parquet, Excel, Arrow, or a folder of them.

A folder that the Hugging Face library `datasets` wrote (`save_to_disk`) is read without that library.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from wardround.cases.importing.sample_rows import eval_log_rows, plain_rows
from wardround.cases.importing.table_map import TableMap
from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.json_file import JsonObject, PlacedRecord, jsonl_records
from wardround.cases.readers.tables.row_files import read_rows
from wardround.cases.readers.tables.source_files import find_files, find_files_by_suffix
from wardround.cases.readers.tables.tsv import CELL_LIMIT
from wardround.core.errors import BadInput, Problem, WardroundError, describe_unreadable

EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".eval", *EXCEL)
NOT_TABLES = {"dataset_info.json", "dataset_dict.json", "state.json", "dataset_infos.json"}
DELIMITERS = ",;\t|"
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
BATCH = 256  # rows of an Arrow file taken at once: they may hold images
_NAMED_DELIMITER = re.compile(r'"?sep=(.)"?\s*')  # the first line of some files that Excel writes


def find_tables(source: Path, layout: TableMap) -> list[Path]:
    """The files of a table: the file itself, or those of a folder."""
    if layout.suffixes:
        files = find_files_by_suffix(source, *layout.suffixes)
    else:
        if source.is_file() and source.suffix.lower() not in SUFFIXES:
            raise BadInput(source, f"is not a table; expected {', '.join(SUFFIXES)}, or a folder of such files")
        files = find_files(source, *SUFFIXES)
    is_wanted = source.is_file() or not layout.stems
    return [file for file in files if file.name not in NOT_TABLES and (is_wanted or file.stem in layout.stems)]


def table_rows(file: Path, layout: TableMap, problems: list[Problem]) -> Iterator[PlacedRecord]:
    """The rows of a file, each with its place. Numbers of a class label are replaced by its names."""
    return plain_rows(_file_rows(file, layout, problems))


def _file_rows(file: Path, layout: TableMap, problems: list[Problem]) -> Iterator[PlacedRecord]:
    suffix = file.suffix.lower()
    if suffix in (".csv", ".tsv"):
        yield from _delimited_rows(file, layout, problems)
    elif suffix in EXCEL:
        yield from _excel_rows(file, layout)
    elif suffix == ".eval":
        yield from eval_log_rows(file)
    elif suffix == ".arrow":
        yield from _with_names(_arrow_rows(file), class_names(file))
    elif suffix == ".json" and _has_one_object_a_line(file):
        yield from jsonl_records(file, problems)
    elif suffix == ".parquet":
        yield from _with_names(read_rows(file, problems, layout.read_columns.__contains__), class_names(file))
    else:
        yield from read_rows(file, problems, layout.read_columns.__contains__)


def class_names(file: Path) -> dict[str, list[str]]:
    """The names of the classes of each column that holds a class label, from the data set's own description."""
    description = file.with_name("dataset_info.json")
    try:
        if file.suffix == ".parquet":
            text = pl.read_parquet_metadata(file).get("huggingface", "{}")
            features = json.loads(text).get("info", {}).get("features") or {}
        else:
            features = json.loads(description.read_text()).get("features") or {} if description.is_file() else {}
    except (OSError, ValueError, AttributeError, pl.exceptions.PolarsError):
        return {}
    names = {column: feature.get("names") for column, feature in features.items() if isinstance(feature, dict)}
    return {column: list(map(str, labels)) for column, labels in names.items() if isinstance(labels, list)}


def _with_names(rows: Iterator[PlacedRecord], names: dict[str, list[str]]) -> Iterator[PlacedRecord]:
    for place, row in rows:
        for column, labels in names.items():
            number = row.get(column)
            if isinstance(number, int) and 0 <= number < len(labels):
                row[column] = labels[number]
        yield place, row


def _delimited_rows(file: Path, layout: TableMap, problems: list[Problem]) -> Iterator[PlacedRecord]:
    csv.field_size_limit(CELL_LIMIT)
    try:
        with file.open(encoding=layout.encoding, newline="") as lines:
            first_line = lines.readline()
            skipped = 0
            if named := _NAMED_DELIMITER.fullmatch(first_line):
                skipped = 1
            else:
                lines.seek(0)
            delimiter = layout.delimiter or (named[1] if named else _guess_delimiter(file, first_line))
            reader = csv.reader(lines, delimiter=delimiter)
            columns = layout.columns or [name.strip() for name in next(reader, [])]
            if repeated := next((name for name in columns if name and columns.count(name) > 1), None):
                raise BadInput(file, f"has two columns {repeated!r}; rename one", line=1)
            while True:
                line = reader.line_num + skipped + 1
                if (cells := next(reader, None)) is None:
                    return
                if not any(map(str.strip, cells)):
                    continue
                if len(cells) == len(columns):
                    yield RecordPlace(file, line), dict(zip(columns, cells, strict=True))
                else:
                    message = f"has {len(cells)} cells; there are {len(columns)} columns"
                    problems.append(Problem(file, line, None, message))
    except LookupError:
        raise WardroundError(f"the map names the unknown encoding {layout.encoding!r}; try utf-8 or cp1252") from None
    except UnicodeDecodeError as error:
        message = f'{describe_unreadable(error)}, or its encoding in the map (encoding = "{guess_encoding(file)}")'
        raise BadInput(file, message) from None
    except OSError as error:
        raise BadInput(file, describe_unreadable(error)) from None
    except csv.Error as error:
        raise BadInput(file, f"cannot be read as a table: {error}") from None


def guess_encoding(file: Path) -> str:
    """The encoding of a text file: UTF-8, UTF-16 by its first two bytes, otherwise what Excel writes in the West."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with file.open("rb") as opened:
        if opened.read(2) in BYTE_ORDER_MARKS:
            return "utf-16"
        opened.seek(0)
        try:
            while part := opened.read(1 << 20):
                decoder.decode(part)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _guess_delimiter(file: Path, first_line: str) -> str:
    """Tabs in a .tsv; otherwise what stands most often in the first line outside quotes."""
    if file.suffix.lower() == ".tsv":
        return "\t"
    outside = "".join(first_line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def _excel_rows(file: Path, layout: TableMap) -> Iterator[PlacedRecord]:
    try:
        table = pl.read_excel(
            file,
            sheet_name=layout.sheet,
            engine="calamine",
            infer_schema_length=None,
            drop_empty_rows=False,  # the numbers of the rows are told to the user
            raise_if_empty=False,
        )
    except ModuleNotFoundError:
        raise WardroundError("Excel files need fastexcel: pip install 'wardround[tables]'") from None
    except FileNotFoundError as error:
        raise BadInput(file, describe_unreadable(error)) from None
    except Exception as error:  # each format of a workbook has errors of its own
        sheets = sheet_names(file)
        if layout.sheet and sheets and layout.sheet not in sheets:
            raise BadInput(file, f"has no sheet {layout.sheet!r}; its sheets are {', '.join(sheets)}") from None
        raise BadInput(file, f"cannot be read as a workbook: {str(error).splitlines()[0]}") from None
    for number, row in enumerate(table.iter_rows(named=True), start=2):
        if any(value is not None for value in row.values()):
            yield RecordPlace(file, number), {name: _plain_number(value) for name, value in row.items()}


def sheet_names(file: Path) -> list[str]:
    """The sheets of a workbook; none of any other file, or of one that cannot be read."""
    if file.suffix.lower() not in EXCEL:
        return []
    try:
        from fastexcel import read_excel

        return list(read_excel(file).sheet_names)
    except Exception:  # reading the rows says what is wrong
        return []


def _plain_number(value: Any) -> Any:
    """A whole number as such: a workbook keeps all numbers as fractions."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _arrow_rows(file: Path) -> Iterator[PlacedRecord]:
    try:
        try:
            table = pl.read_ipc_stream(file)
        except pl.exceptions.ComputeError:
            table = pl.read_ipc(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(file, f"cannot be read as Arrow: {str(error).splitlines()[0]}") from None
    for number, row in enumerate(table.iter_rows(named=True, buffer_size=BATCH)):
        record: JsonObject = row
        yield RecordPlace(file, None, f"row {number}"), record


def _has_one_object_a_line(file: Path) -> bool:
    """Whether a .json file has one object per line, as MedMCQA's. One line alone may be an object of lists of rows."""
    try:
        with file.open("rb") as opened:
            first = opened.readline(1 << 20).lstrip(b"\xef\xbb\xbf \r\n\t").rstrip()
            is_object = first.startswith(b"{") and first.endswith(b"}") and len(first) > 2
            return is_object and (bool(opened.readline(1 << 20).strip()) or not _holds_rows(first))
    except OSError as error:
        raise BadInput(file, describe_unreadable(error)) from None


def _holds_rows(text: bytes) -> bool:
    """Whether an object has a list of objects, and is not a log of Inspect."""
    try:
        record = json.loads(text)
    except ValueError:
        return False
    if {"samples", "eval"} <= record.keys():
        return False
    return any(isinstance(value, list) and value and isinstance(value[0], dict) for value in record.values())
