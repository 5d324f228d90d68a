"""The images that each type has drawn before: `python tests/degrade/golden_images.py` draws them anew.

golden/TYPE.png holds four of 64 x 64: L1 and L2 of clinical-1 above those of medq-deg-estimated, with the parameters of
the day on which they were drawn, in golden/parameters.json. It is the drawing that is kept, not the severity table.
"""

import json
from pathlib import Path

import numpy as np
from PIL import Image

from wardround.degrade import TYPES, load_profile
from wardround.degrade.rendering import apply_parameters
from wardround.degrade.severities import CLINICAL, ESTIMATED
from wardround.degrade.types import TAXONOMY

GOLDEN = Path(__file__).parent / "golden"
PARAMETERS = GOLDEN / "parameters.json"
SEVERITIES = (1.0, 2.0)


def scene(type: str) -> np.ndarray:
    """A slice of a body for CT and MRI, else something stained; from whole numbers, so that it is the same anywhere."""
    y, x = np.mgrid[-32:32, -32:32]
    grain = (x * x * 7 + y * y * 13 + x * y * 5) % 23
    body = 9 * x * x + 16 * y * y < 7200
    grey = np.where(body, 110 + grain, 0)
    grey[body & (9 * x * x + 16 * y * y > 5600)] = 225
    for down, across, size, value in ((-6, -9, 30, 40), (5, 8, 40, 175), (10, -8, 9, 240)):
        inside = (y - down) ** 2 + (x - across) ** 2 < size
        grey[inside] = value + grain[inside] // 2
    if TAXONOMY[type].modality in ("CT", "MRI"):
        return grey.astype(np.uint8)
    stained = np.dstack([225 - grey // 3, 190 - grey // 2, 215 - grey // 4])
    return (stained + grain[..., None]).astype(np.uint8)


def draw_rows(type: str, rows: list[list[dict[str, float | str]]]) -> np.ndarray:
    """The scene with these parameters at L1 and L2, a row for each profile."""
    image = scene(type)
    return np.vstack(
        [
            np.hstack(
                [
                    apply_parameters(image, type, severity, parameters, "display").image
                    for severity, parameters in zip(SEVERITIES, row, strict=True)
                ]
            )
            for row in rows
        ]
    )


def kept_parameters() -> dict[str, list[list[dict[str, float | str]]]]:
    return json.loads(PARAMETERS.read_text(encoding="utf-8"))


def main() -> None:
    now = {
        type: [[load_profile(name).at(type, severity) for severity in SEVERITIES] for name in (CLINICAL, ESTIMATED)]
        for type in TYPES
    }
    lines = ",\n".join(f'"{type}": {json.dumps(rows)}' for type, rows in now.items())
    PARAMETERS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    for type, rows in now.items():
        Image.fromarray(draw_rows(type, rows)).save(GOLDEN / f"{type}.png", optimize=True)


if __name__ == "__main__":
    main()
