"""Cells of a table as values: patients' ages and sexes, lists of names, images in any form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from wardround.cases.readers.tables.option_lists import parse_printed

UNKNOWN = {"", "nan", "none", "null", "na", "n/a", "unknown", "unk", "-", "?", "-1"}
SEXES = {"f": "F", "female": "F", "woman": "F", "w": "F", "weiblich": "F", "m": "M", "male": "M", "man": "M"}
SEXES |= {"männlich": "M", "femme": "F", "homme": "M", "mujer": "F", "hombre": "M"}
YEARS_BY_UNIT = {"y": 1.0, "j": 1.0, "a": 1.0, "m": 1 / 12, "w": 7 / 365.25, "d": 1 / 365.25, "t": 1 / 365.25}
_AGE = re.compile(
    r"0*(\d+(?:[.,]\d+)?)\s*"
    r"(y|yrs?|years?|j|jahre?|ans?|años?|m|mo|mon|months?|monate?|w|weeks?|wochen?|d|days?|tage?)?\.?(?: old| alt)?",
    re.IGNORECASE,
)
_BETWEEN_NAMES = re.compile(r"\s*[;|\n]\s*")


def is_empty(value: Any) -> bool:
    """Whether a cell says nothing."""
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def first_value(row: dict[str, Any], columns: Iterable[str]) -> Any:
    """The value of the first of the columns that has one."""
    return next((row[column] for column in columns if not is_empty(row.get(column))), None)


def as_text(value: Any) -> str:
    """A cell as text without white space around it; numbers as people write them."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def as_age(value: Any) -> int | float | None:
    """Years of a number, `054Y` as DICOM writes it, or `8 months`; None if unknown. ValueError says what is wrong."""
    text = as_text(value)
    if text.lower() in UNKNOWN:
        return None
    match = _AGE.fullmatch(text)
    if (
        match is None
        or (years := float(match[1].replace(",", ".")) * YEARS_BY_UNIT[(match[2] or "y")[0].lower()]) > 130
    ):
        raise ValueError(f"is {text!r}; expected an age in years, such as 54, 054Y or 8 months")
    return int(years) if years.is_integer() else round(years, 2)


def as_sex(value: Any) -> str | None:
    """`F`, `M`, or the text as it is; None if unknown."""
    text = as_text(value)
    return None if text.lower() in UNKNOWN else SEXES.get(text.lower(), text)


def as_names(value: Any) -> list[str]:
    """Several names: a list, a printed list, or a text with semicolons, bars or lines between them."""
    if isinstance(value, str):
        printed = parse_printed(value.strip())
        value = printed if isinstance(printed, list) else _BETWEEN_NAMES.split(value.strip())
    items = value if isinstance(value, list | tuple) else [value]
    return [name for name in map(as_text, items) if name]


def as_images(value: Any) -> list[Any]:
    """The images of a cell: bytes, objects with bytes or a path, or texts (paths, base64, an index)."""
    if is_empty(value):
        return []
    if isinstance(value, list | tuple):
        return [image for item in value for image in as_images(item)]
    if isinstance(value, str) and (len(value) < 4096 or value.startswith("[")):  # a printed list of base64 is long
        return list(as_names(value))
    return [value]
