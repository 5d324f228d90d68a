"""Dates of publication: a year, a month or a day, written `2025`, `2025-03` or `2025-03-01`."""

import re
from datetime import date

PARTIAL_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def parse_partial_date(value: object) -> str:
    """A year, month or day in its written form; ValueError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 9999:
        return f"{value:04}"
    text = value.isoformat() if type(value) is date else value.strip() if isinstance(value, str) else ""
    match = PARTIAL_DATE.fullmatch(text)
    try:
        if match:
            date(int(match[1]) or 1, int(match[2] or 1), int(match[3] or 1))
            return text
    except ValueError:
        pass
    raise ValueError(f"{value!r} is not a date; expected 2025, 2025-03 or 2025-03-01")
