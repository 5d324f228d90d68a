"""How numbers are printed: fractions become percentages with one decimal, here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

PLAIN = frozenset({"ppl", "bits_per_byte"})  # measures that are no fractions and are printed as they are
MINUS = "\N{MINUS SIGN}"


def number(value: float, decimals: int = 1) -> str:
    """A number with a real minus sign and no negative zero."""
    text = f"{value:,.{decimals}f}"
    if text.startswith("-"):
        return MINUS + text[1:] if text.strip("-0.,") else text[1:]
    return text


def percent(value: float | None, decimals: int = 1) -> str:
    """A fraction as a percentage: 0.625 is 62.5. What is not known is a dash."""
    return "–" if value is None else number(100 * value, decimals)


def shown(measure: str, value: float | None) -> str:
    """A value of a measure as tables print it."""
    if value is not None and measure.split("@")[0] in PLAIN:
        return number(value, 2)
    return percent(value)


def span(measure: str, low: float | None, high: float | None) -> str | None:
    """An interval as tables print it, 51.0 to 73.1; None where there is none."""
    return None if low is None or high is None else f"{shown(measure, low)} to {shown(measure, high)}"


def count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def short_count(value: int) -> str:
    """A count where there is little room: 812, 1.2k, 25k."""
    if value < 1000:
        return str(value)
    return f"{number(value / 1000, 1 if value < 9950 else 0)}k"


def p_value(p: float | None) -> str:
    """Three decimals; below that only that it is below."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def listed(items: Sequence[str]) -> str:
    """Items as a sentence lists them: a, b and c."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
