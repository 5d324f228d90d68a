"""Ages in years, from a number and its unit."""

UNITS_PER_YEAR = {"year": 1.0, "month": 12.0, "week": 52.18, "day": 365.25}
MAX_YEARS = 130


def age_in_years(count: str, unit: str) -> int | float | None:
    """A whole number of years, or two decimals; None if nobody is that old."""
    years = float(count) / UNITS_PER_YEAR[unit.lower()]
    if years > MAX_YEARS:
        return None
    return int(years) if years == int(years) else round(years, 2)
