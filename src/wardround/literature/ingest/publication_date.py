"""The date on which an article was published, as precisely as PubMed states it."""

import re

from wardround.core.dates import parse_partial_date

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")  # the first of "1998 Dec-1999 Jan"
DATE = re.compile(r"(\d{4}) (\w+)(?: (\d{1,2}))?")


def published_date(issue: str, electronic: str = "") -> str | None:
    """The date of the issue ("2016 Jan 5", "2015 Nov-Dec"), made precise by the electronic one if that agrees.

    The electronic date is used only within the year or month of the issue, so that the year is always the issue's.
    Seasons and ranges of months give the year alone.
    """
    year = YEAR.search(issue)
    if year is None:
        return None
    date = _complete(issue) or year[0]
    online = _complete(electronic)
    return online if online and len(online) > len(date) and online.startswith(date) else date


def _complete(text: str) -> str | None:
    """A year with its month, and its day if stated; None if the text is anything else."""
    match = DATE.fullmatch(text)
    month = _month_number(match[2]) if match else None
    if match is None or month is None:
        return None
    try:
        return parse_partial_date(f"{match[1]}-{month:02}" + (f"-{int(match[3]):02}" if match[3] else ""))
    except ValueError:  # 31 June
        return f"{match[1]}-{month:02}"


def _month_number(name: str) -> int | None:
    if name.isdecimal():
        return int(name) if 1 <= int(name) <= 12 else None
    return MONTHS.index(name[:3].lower()) + 1 if name[:3].lower() in MONTHS else None
