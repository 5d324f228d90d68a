"""Times in words: ages, weeks of pregnancy and HPO's onset terms."""

import re
from typing import Any

_DURATION = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T[\dHMS.]*)?")
UNITS = ("year", "month", "week", "day")
DAYS = (365.25, 365.25 / 12, 7.0, 1.0)
ONSETS = {
    "antenatal onset": "before birth",
    "embryonal onset": "in the embryonal period",
    "fetal onset": "in the fetal period",
    "late first trimester onset": "late in the first trimester of the pregnancy",
    "second trimester onset": "in the second trimester of the pregnancy",
    "third trimester onset": "in the third trimester of the pregnancy",
    "congenital onset": "at birth",
    "neonatal onset": "in the first four weeks of life",
    "infantile onset": "in infancy",
    "childhood onset": "in early childhood",
    "juvenile onset": "between the ages of 5 and 15 years",
    "adult onset": "in adulthood",
    "young adult onset": "in young adulthood",
    "early young adult onset": "at the end of adolescence",
    "intermediate young adult onset": "in young adulthood",
    "late young adult onset": "in late young adulthood",
    "middle age onset": "in middle age",
    "late onset": "after the age of 60 years",
}


def parse_duration(duration: object) -> tuple[int, ...] | None:
    """Years, months, weeks and days of an ISO 8601 duration."""
    match = _DURATION.fullmatch(duration) if isinstance(duration, str) and len(duration) > 1 else None
    return tuple(int(part or 0) for part in match.groups()) if match else None


def age_in_years(duration: object) -> int | float | None:
    """An age in years, with two decimals below ten; None if it is not an age, or nobody's."""
    parts = parse_duration(duration)
    if parts is None:
        return None
    age = sum(count * days for count, days in zip(parts, DAYS, strict=True)) / 365.25
    if age > 130:
        return None
    rounded = round(age, 2 if age < 10 else 0)
    return int(rounded) if rounded.is_integer() else rounded


def describe_duration(duration: object) -> str | None:
    """`4 years and 6 months`; empty for no time at all."""
    parts = parse_duration(duration)
    if parts is None:
        return None
    counts = zip(parts, UNITS, strict=True)
    return " and ".join(f"{count} {unit}{'s' * (count != 1)}" for count, unit in counts if count)


def describe_time(element: object) -> str | None:
    """A time element as `at the age of 3 years`; None if it has no time."""
    if not isinstance(element, dict):
        return None
    fields = {key: value for key, value in element.items() if isinstance(value, dict)}
    if "age" in fields:
        return _at_age(describe_duration(fields["age"].get("iso8601duration")))
    if "ageRange" in fields:
        ends = [fields["ageRange"].get(end) for end in ("start", "end")]
        first, last = (describe_duration(end.get("iso8601duration")) if isinstance(end, dict) else None for end in ends)
        return f"between the ages of {first} and {last}" if first and last else _at_age(first or last)
    if "gestationalAge" in fields:
        return describe_gestation(fields["gestationalAge"])
    label = fields.get("ontologyClass", {}).get("label")
    if not isinstance(label, str) or not label.strip():
        return None
    return ONSETS.get(label.strip().lower(), f"at a time recorded as {label.strip()!r}")


def describe_gestation(age: dict[str, Any]) -> str | None:
    """`at 22 weeks and 5 days of gestation`."""
    weeks, days = age.get("weeks"), age.get("days")
    if not isinstance(weeks, int) or isinstance(weeks, bool):
        return None
    return f"at {weeks} weeks{f' and {days} days' if isinstance(days, int) and days else ''} of gestation"


def _at_age(age: str | None) -> str | None:
    return age if age is None else f"at the age of {age}" if age else "at birth"
