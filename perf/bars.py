"""Bars: what a figure must reach, printed beside it as met or missed."""

from __future__ import annotations

from importlib.metadata import version
from platform import python_version


def bar(what: str, value: float, *, at_most: float | None = None, at_least: float | None = None) -> bool:
    """Prints the figure against its bar; says whether it is met."""
    met = (at_most is None or value <= at_most) and (at_least is None or value >= at_least)
    limit = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}"
    print(f"  {what}: {value:,.2f} (bar: {limit}): {'met' if met else 'missed'}")
    return met


def versions(*packages: str) -> str:
    return ", ".join([f"python {python_version()}", *(f"{package} {version(package)}" for package in packages)])
