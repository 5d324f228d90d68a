"""What tests have worker processes do. It is apart from them because every worker imports the module of its job."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images.render import render
from wardround.degrade import degrade


def says_where(path: Path, *rest: object) -> EncodedImage:
    """Renders, and tells the process that did it."""
    return replace(render(path, *rest), media_type=str(os.getpid()))  # type: ignore[arg-type]


def dies_on_second(path: Path, *rest: object) -> object:
    if path.name == "22.png":
        os._exit(1)
    return render(path, *rest)  # type: ignore[arg-type]


def shade_corner(severity: float) -> int:
    """The corner of an even image under the degradation `vignette` of a plug-in file."""
    return int(degrade(np.full((9, 9), 200, np.uint8), "vignette", severity)[0, 0])
