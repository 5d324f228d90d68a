"""When something began, in words: ages, weeks of pregnancy and HPO's onset terms."""

from __future__ import annotations

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
Told = dict[str, Any]


def parts(duration: object) -> tuple[int, ...] | None:
    """Years, months, weeks and days of an ISO 8601 duration."""
    found = _DURATION.fullmatch(duration) if isinstance(duration, str) and len(duration) > 1 else None
    return tuple(int(part or 0) for part in found.groups()) if found else None


def years(duration: object) -> int | float | None:
    """An age in years, with two decimals below ten; None where it is none or nobody's."""
    found = parts(duration)
    if found is None:
        return None
    age = sum(many * days for many, days in zip(found, DAYS, strict=True)) / 365.25
    if age > 130:
        return None
    rounded = round(age, 2 if age < 10 else 0)
    return int(rounded) if rounded.is_integer() else rounded


def span(duration: object) -> str | None:
    """`4 years and 6 months`; empty for no time at all."""
    found = parts(duration)
    if found is None:
        return None
    return " and ".join(f"{many} {unit}{'s' * (many != 1)}" for many, unit in zip(found, UNITS, strict=True) if many)


def when(element: object) -> str | None:
    """A moment of a phenopacket as `at the age of 3 years`; None where it tells none that can be said."""
    if not isinstance(element, dict):
        return None
    told = {key: value for key, value in element.items() if isinstance(value, dict)}
    if "age" in told:
        return _at(span(told["age"].get("iso8601duration")))
    if "ageRange" in told:
        ends = [told["ageRange"].get(end) for end in ("start", "end")]
        first, last = (span(end.get("iso8601duration")) if isinstance(end, dict) else None for end in ends)
        return f"between the ages of {first} and {last}" if first and last else _at(first or last)
    if "gestationalAge" in told:
        return gestation(told["gestationalAge"])
    label = told.get("ontologyClass", {}).get("label")
    if not isinstance(label, str) or not label.strip():
        return None
    return ONSETS.get(label.strip().lower(), f"at a time recorded as {label.strip()!r}")


def gestation(age: Told) -> str | None:
    """`at 22 weeks and 5 days of gestation`."""
    weeks, days = age.get("weeks"), age.get("days")
    if not isinstance(weeks, int) or isinstance(weeks, bool):
        return None
    return f"at {weeks} weeks{f' and {days} days' if isinstance(days, int) and days else ''} of gestation"


def _at(age: str | None) -> str | None:
    return age if age is None else f"at the age of {age}" if age else "at birth"
