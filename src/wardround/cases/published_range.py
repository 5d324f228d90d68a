"""The dates between which a case was published: `--since` and `--until` of the commands that make case sets."""

import calendar
import re
from dataclasses import dataclass
from datetime import date

from wardround.core.errors import WardroundError

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


@dataclass(frozen=True)
class PublishedRange:
    """The first and the last day; None: no limit."""

    since: date | None = None
    until: date | None = None

    @classmethod
    def parse(cls, since: str | None, until: str | None) -> "PublishedRange":
        """From years, months or days: `2025` is from the first to the last day of that year."""
        first = _limit("--since", since)[0] if since else None
        last = _limit("--until", until)[1] if until else None
        if first and last and first > last:
            raise WardroundError(f"--since {since} is after --until {until}: no case can be published between them")
        return cls(first, last)

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None

    def __str__(self) -> str:
        return " ".join(f"{name} {day}" for name, day in self.to_dict().items())

    def problem(self, published: str | None) -> str | None:
        """Why a case with this date of publication is left out; None if it is within the range."""
        if not self:
            return None
        period = _period(published or "")
        if period is None:
            return "no date of publication"
        first, last = period
        if self.since and last < self.since:
            return f"published before {self.since}"
        if self.until and first > self.until:
            return f"published after {self.until}"
        if (self.since and first < self.since) or (self.until and last > self.until):
            return "the date of publication does not say whether it is in the range"
        return None

    def to_dict(self) -> dict[str, str]:
        return {name: str(day) for name in ("since", "until") if (day := getattr(self, name))}


ANY_TIME = PublishedRange()


def _limit(option: str, text: str) -> tuple[date, date]:
    if (period := _period(text)) is None:
        raise WardroundError(f"{option} {text!r} is not a date; expected 2025, 2025-03 or 2025-03-01")
    return period


def _period(text: str) -> tuple[date, date] | None:
    """The first and last day of a year, month or day; None if the text is not one."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    assert year is not None
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:
        return None
    last_month = month or 12
    return first, date(year, last_month, day or calendar.monthrange(year, last_month)[1])
