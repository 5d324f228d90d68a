"""The first sheet of an .xlsx file as rows of texts; formulas, dates and formats are not interpreted."""

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from wardround.core.errors import BadInput

MAX_BYTES = 64 << 20  # of one part, unpacked
SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SHEET, TEXTS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"


def read_sheet(file: Path) -> list[dict[str, str]]:
    """One mapping a row, from the headings of the first row; cells of columns without a heading are left out."""
    try:
        with zipfile.ZipFile(file) as parts:
            texts = _shared_texts(parts, file) if TEXTS in parts.namelist() else []
            rows = [_cells(row, texts) for row in _part(parts, SHEET, file).iter(f"{SPACE}row")]
    except (OSError, KeyError, IndexError, ValueError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        raise BadInput(file, f"is not a readable .xlsx file: {error}; save it as CSV") from None
    if not rows:
        return []
    headings = {column: text.strip() for column, text in rows[0].items() if text.strip()}
    return [{heading: row.get(column, "").strip() for column, heading in headings.items()} for row in rows[1:]]


def _part(parts: zipfile.ZipFile, name: str, file: Path) -> ElementTree.Element:
    if parts.getinfo(name).file_size > MAX_BYTES:
        raise BadInput(file, f"{name} has more than {MAX_BYTES >> 20} MB; save the sheet as CSV")
    text = parts.read(name)
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise BadInput(file, f"{name} declares entities, which is refused")
    return ElementTree.fromstring(text)


def _shared_texts(parts: zipfile.ZipFile, file: Path) -> list[str]:
    entries = _part(parts, TEXTS, file).iter(f"{SPACE}si")
    return ["".join(text.text or "" for text in entry.iter(f"{SPACE}t")) for entry in entries]


def _cells(row: ElementTree.Element, texts: list[str]) -> dict[str, str]:
    """The texts of a row by the letters of their column."""
    cells = {}
    for cell in row.iter(f"{SPACE}c"):
        column, value = re.sub(r"\d", "", cell.get("r", "")), cell.find(f"{SPACE}v")
        text = "" if value is None else value.text or ""
        if cell.get("t") == "s" and text:
            text = texts[int(text)]
        elif cell.get("t") == "inlineStr":
            text = "".join(part.text or "" for part in cell.iter(f"{SPACE}t"))
        cells[column] = text
    return cells
