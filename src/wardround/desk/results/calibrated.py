"""A severity table that readers calibrated, as `wardround.degrade` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wardround.degrade.severities import Profile, Space, Value, between
from wardround.desk.results.thresholds import Threshold

SPACES: tuple[Space, ...] = ("display", "hu")


def severities(base: Profile, found: Sequence[Threshold], name: str, about: str) -> str:
    """The base with L1 and L2 where readers put them; types that nobody read stay as they were."""
    moved = {(each.type, each.level): each for each in found}
    lines = [f"# {line}" for line in about.splitlines()]
    lines += [
        f"# Severities below are on the scale of {base.name}, version {base.version}: 1 is its L1, 2 its L2.",
        "#",
    ]
    lines += [f"# {_told(each)}" for each in found]
    lines += ["", f"[{name}]", f"version = {base.version}"]
    for space in SPACES:
        if base.rows[space]:
            lines += ["", f"[{name}.{space}]"]
        for type, row in base.rows[space].items():
            places = [moved[type, level].value if (type, level) in moved else None for level in ("L1", "L2")]
            parameters = ", ".join(f"{key} = {_written(_moved(levels, places))}" for key, levels in row.items())
            lines.append(f"{type} = {{ {parameters} }}")
    return "\n".join(lines) + "\n"


def _told(each: Threshold) -> str:
    interval = "" if each.low is None else f" (95% interval {each.low:.2f} to {each.high:.2f})"
    end = f"; {each.at_end} at the end of the slider: at least this" if each.at_end else ""
    return f"{each.type} {each.level}: {each.value:.3f}{interval}, {each.readers} readers, {each.images} images{end}"


def _moved(levels: tuple[Value, Value, Value], places: Sequence[float | None]) -> tuple[Value, Value, Value]:
    mild, strong = (
        levels[number] if place is None else between(levels, place) for number, place in enumerate(places, 1)
    )
    return levels[0], mild, strong


def _written(levels: tuple[Value, Value, Value]) -> str:
    if isinstance(levels[0], str):
        return f'"{levels[0]}"'
    numbers = [f"{float(value):.6g}" for value in levels]
    return numbers[0] if len(set(numbers)) == 1 else f"[{', '.join(numbers)}]"


def told(found: Sequence[Threshold], base: Profile) -> list[Mapping[str, Any]]:
    """The 50% points with the parameters that they stand for, one line each."""
    return [each._asdict() | {"base": base.name, "parameters": base.at(each.type, each.value)} for each in found]
