"""Whether a degraded copy is what its level stands for: clipped share, PSNR and SSIM in the body within a band.

The bands stand in the severity table, for L1 and L2, and may differ for a modality or a type. For a turned or moved
image these figures say nothing, and it has no band. Below L1 an image may be as good as it likes; between L1 and L2
the limits lie between.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from wardround.degrade.modalities import MODALITIES, parse_modality
from wardround.degrade.types import BUILT_IN

MEASURES = {"psnr": "psnr_body", "ssim": "ssim_body"}  # name in the table -> name in a record
LEVELS = ("L1", "L2")
MOTION = "Motion"  # the category without bands

BandTable = Mapping[str, Mapping[str, Any]]


class QualityBand(NamedTuple):
    """The limits of one severity: the most that may be clipped, and (low, high) of PSNR and SSIM."""

    clipped: float
    psnr: tuple[float, float]
    ssim: tuple[float, float]


def band_at(
    bands: Mapping[str, Any], severity: float, modality: str | None, type: str | None = None
) -> QualityBand | None:
    """The band of a severity for a modality and a type, whose own limits come first; None if the table has none."""
    if not bands or severity <= 0:
        return None
    of_modality, of_type = (bands.get(name or "", {}) for name in (parse_modality(modality), type))
    mild, severe = ({**bands[level], **of_modality.get(level, {}), **of_type.get(level, {})} for level in LEVELS)
    part = min(max(severity - 1, 0.0), 1.0)

    def between(low: float, high: float) -> float:
        return low + part * (high - low)

    def limits(name: str) -> tuple[float, float]:
        (low, high), (low2, high2) = mild[name], severe[name]
        return between(low, low2), between(high, high2) if severity >= 1 else math.inf

    return QualityBand(between(mild["clipped"], severe["clipped"]), limits("psnr"), limits("ssim"))


def list_flags(record: Mapping[str, Any], category: str, band: QualityBand | None) -> list[str]:
    """What is out of the band, such as `over-degraded: 61% of the body clipped, at most 12%`."""
    if band is None or category == MOTION:
        return []
    flags = []
    if record["clipped"] > band.clipped:
        flags.append(f"over-degraded: {record['clipped']:.0%} of the body clipped, at most {band.clipped:.0%}")
    for name, (low, high) in (("psnr", band.psnr), ("ssim", band.ssim)):
        value = math.inf if record[MEASURES[name]] is None else record[MEASURES[name]]
        if value < low:
            flags.append(f"over-degraded: {name.upper()} {value:.3g} in the body, at least {low:.3g}")
        elif value > high:
            flags.append(f"under-degraded: {name.upper()} {value:.3g} in the body, at most {high:.3g}")
    return flags


def band_problem(bands: Any) -> str | None:
    """What is wrong with the bands of a severity table; None if nothing is."""
    names = {*LEVELS, *MODALITIES, *BUILT_IN}
    if not isinstance(bands, dict) or bands.keys() - names or not set(LEVELS) <= bands.keys():
        return f"expected L1 and L2, and perhaps modalities ({', '.join(MODALITIES)}) or types that have them too"
    rows = {name: bands[name] for name in LEVELS}
    for subject in bands.keys() - set(LEVELS):
        if not isinstance(bands[subject], dict) or bands[subject].keys() - set(LEVELS):
            return f"{subject}: expected L1 or L2"
        rows |= {f"{subject}.{level}": row for level, row in bands[subject].items()}
    for name, row in rows.items():
        complete = name in LEVELS
        if not isinstance(row, dict) or row.keys() - {"clipped", "psnr", "ssim"} or (complete and len(row) < 3):
            return f"{name}: expected clipped, psnr and ssim"
        for key, value in row.items():
            numbers = [value] if key == "clipped" else value
            if not isinstance(numbers, list) or len(numbers) != (1 if key == "clipped" else 2):
                return f"{name}.{key}: expected {'a number' if key == 'clipped' else 'the lowest and highest value'}"
            if not all(type(number) in (int, float) for number in numbers) or numbers != sorted(numbers):
                return f"{name}.{key}: expected numbers, the lower first"
    return None
