"""Cells of CSV tables that a spreadsheet would read as formulas, in every file that the program writes."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import polars as pl
import pytest

from wardround.building.pipeline.export import write_table as write_built_table
from wardround.building.sources.dicom.secret import write_names
from wardround.core.text import safe_row, with_formula, without_formula
from wardround.desk.results.export import to_csv
from wardround.measuring.engine.tables import COMPARISONS, MEASURES, restore_texts, write_table
from wardround.reporting.run_files import read_table
from wardround.reporting.tables.csv_text import as_csv
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

SOURCE = Path(__file__).parents[2] / "src" / "wardround"
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1"]
NUMBERS = ["-1", "+2.5", "-.5", "-1e-9", "-12.5%", "0.3"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_a_space_before_it_and_loses_it_again(text):
    assert without_formula(text) == f" {text}"
    assert with_formula(without_formula(text)) == text


@pytest.mark.parametrize("text", [*NUMBERS, "gout", "", " gout", "a=b"])
def test_numbers_and_plain_texts_stay_as_they_are(text):
    assert without_formula(text) == text
    assert with_formula(text) == text


def test_values_that_are_not_text_stay_as_they_are():
    assert safe_row([-1, -0.5, None, True, "=x"]) == [-1, -0.5, None, True, " =x"]


def test_a_carriage_return_in_a_text_begins_no_row():
    """Before Python 3.13 `csv` does not quote one if lines end with a line feed."""
    rows = [{"reason": "a\r=cmd"}, {"reason": "b\r\n=cmd"}]
    read = list(csv.reader(io.StringIO(to_csv(rows, ["reason"]).decode(), newline="")))
    assert read == [["reason"], ["a\n=cmd"], ["b\n=cmd"]]
    assert safe_row(["\r=1", "x\ry"]) == [" \n=1", "x\ny"]


def test_tables_of_a_run_are_safe_and_read_back_as_they_were(tmp_path):
    row = dict.fromkeys(COMPARISONS) | {"measure": "accuracy", "a": "=cmd", "b": "-model", "value": -0.25, "n": 3}
    table = pl.DataFrame([row], schema=COMPARISONS)
    write_table(tmp_path / "comparisons.csv", table)
    (cells,) = csv.DictReader(io.StringIO((tmp_path / "comparisons.csv").read_text()))
    assert (cells["a"], cells["b"], cells["value"]) == (" =cmd", " -model", "-0.25")
    assert read_table(tmp_path / "comparisons.csv", COMPARISONS).equals(table)
    assert restore_texts(pl.DataFrame(schema=MEASURES)).schema == pl.Schema(MEASURES)


def test_tables_of_papers_and_built_sets_are_safe(tmp_path):
    table = Table("t", ("Model",), [Column("@x")], [TableRow(("=cmd",), [Cell(-0.5)])], [])
    heading, first = csv.reader(io.StringIO(as_csv(table)))
    assert (heading[2], first[1], first[2]) == (" @x", " =cmd", "-0.5")
    write_built_table(tmp_path / "t.csv", ["reason", "n"], [{"reason": "=x", "n": -1}])
    assert (tmp_path / "t.csv").read_text() == "reason,n\n =x,-1\n"
    write_names(tmp_path, "set", [("case-1", "=Doe")])
    assert "case-1, =Doe" in (tmp_path / "set.csv").read_text()


def test_every_writer_of_csv_makes_its_cells_safe():
    writers = re.compile(r"csv\.writer\(|DictWriter\(|\.write_csv\(")
    made_safe = re.compile(r"\b(?:safe_row|without_formula)\(|\(without_formula\b|map\(safe_row")
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    unsafe = [
        str(path.relative_to(SOURCE))
        for path, text in texts.items()
        if writers.search(text) and not made_safe.search(text)
    ]
    assert unsafe == []
