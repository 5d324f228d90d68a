"""A severity table that readers calibrated, as `wardround.degrade` reads it."""

from collections.abc import Mapping, Sequence
from typing import Any

from wardround.degrade.severities import Profile, Space, interpolate
from wardround.degrade.signature import LevelValues
from wardround.desk.results.thresholds import Threshold

SPACES: tuple[Space, ...] = ("display", "hu")


def severity_toml(base: Profile, thresholds: Sequence[Threshold], name: str, comment: str) -> str:
    """The base profile with L1 and L2 at the readers' thresholds; types that nobody read are unchanged."""
    by_level = {(threshold.type, threshold.level): threshold for threshold in thresholds}
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += [
        f"# Severities below are on the scale of {base.name}, version {base.version}: 1 is its L1, 2 its L2.",
        "#",
    ]
    lines += [f"# {_describe(threshold)}" for threshold in thresholds]
    lines += ["", f"[{name}]", f"version = {base.version}"]
    for space in SPACES:
        if base.rows[space]:
            lines += ["", f"[{name}.{space}]"]
        for type, row in base.rows[space].items():
            marks = [by_level[type, level].value if (type, level) in by_level else None for level in ("L1", "L2")]
            parameters = ", ".join(
                f"{key} = {_format_levels(_move_levels(levels, marks))}" for key, levels in row.items()
            )
            lines.append(f"{type} = {{ {parameters} }}")
    return "\n".join(lines) + "\n"


def _describe(threshold: Threshold) -> str:
    name = f"{threshold.type} {threshold.level}: {threshold.value:.3f}"
    interval = "" if threshold.low is None else f" (95% interval {threshold.low:.2f} to {threshold.high:.2f})"
    end = f"; {threshold.at_end} at the end of the slider: at least this" if threshold.at_end else ""
    return f"{name}{interval}, {threshold.readers} readers, {threshold.images} images{end}"


def _move_levels(levels: LevelValues, marks: Sequence[float | None]) -> LevelValues:
    mild, strong = (
        levels[number] if mark is None else interpolate(levels, mark) for number, mark in enumerate(marks, 1)
    )
    return levels[0], mild, strong


def _format_levels(levels: LevelValues) -> str:
    if isinstance(levels[0], str):
        return f'"{levels[0]}"'
    numbers = [f"{float(value):.6g}" for value in levels]
    return numbers[0] if len(set(numbers)) == 1 else f"[{', '.join(numbers)}]"


def threshold_rows(thresholds: Sequence[Threshold], base: Profile) -> list[Mapping[str, Any]]:
    """The 50% points with the parameters that they stand for."""
    return [
        threshold._asdict() | {"base": base.name, "parameters": base.at(threshold.type, threshold.value)}
        for threshold in thresholds
    ]
