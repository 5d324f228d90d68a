"""Number formats. Fractions become percentages with one decimal only here."""

from collections.abc import Sequence

MINUS = "\N{MINUS SIGN}"


def number(value: float, decimals: int = 1) -> str:
    """A number with a typographic minus sign and without negative zero."""
    text = f"{value:,.{decimals}f}"
    if text.startswith("-"):
        return MINUS + text[1:] if text.strip("-0.,") else text[1:]
    return text


def percent(value: float | None, decimals: int = 1) -> str:
    """A fraction as a percentage: 0.625 is 62.5; None is a dash."""
    return "–" if value is None else number(100 * value, decimals)


def is_percentage(measure: str) -> bool:
    """Whether the values of a measure are fractions, printed as percentages."""
    return measure.partition("@")[0] not in ("ppl", "bits_per_byte")


def format_value(measure: str, value: float) -> str:
    return percent(value) if is_percentage(measure) else number(value, 2)


def format_interval(measure: str, low: float | None, high: float | None) -> str | None:
    """An interval, `51.0 to 73.1`; None if there is none."""
    return None if low is None or high is None else f"{format_value(measure, low)} to {format_value(measure, high)}"


def count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def short_count(value: int) -> str:
    """A count in few characters: 812, 1.2k, 25k."""
    if value < 1000:
        return str(value)
    return f"{number(value / 1000, 1 if value < 9950 else 0)}k"


def p_value(p: float | None) -> str:
    """Three decimals, or `< 0.001`."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def join_words(items: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
