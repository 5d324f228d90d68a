"""One imaging modality left out: the axis `without`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from wardround.core.case import Case, Image, Question
from wardround.core.condition import Condition

# other names under which a text may speak of a modality; our choice
NAMES = {
    "CFP": ("colou?r fundus photo\\w*", "fundus (?:image|photo\\w*|picture)"),
    "OCT": ("optical coherence tomogra\\w+",),
    "FFA": ("fluorescein angiogra\\w+", "(?-i:FA)"),
    "ICGA": ("indocyanine green(?: angiogra\\w+)?", "(?-i:ICG)"),
    "EP": ("external (?:eye )?photo\\w*", "slit[- ]lamp photo\\w*"),
    "RETCAM": ("ret ?cam",),
    "CT": ("computed tomogra\\w+",),
    "MRI": ("magnetic resonance(?: imaging)?", "(?-i:MR)"),
    "MR": ("magnetic resonance(?: imaging)?", "(?-i:MRI)"),
    "US": ("ultraso\\w+", "sonogra\\w+"),
}


def left_out(image: Image, condition: Condition) -> bool:
    """Whether the condition leaves this image out."""
    return condition.without != "none" and _same(image.modality, condition.without)


def why_not_without(condition: Condition, images: Sequence[Image]) -> str | None:
    """Why a modality cannot be left out of these images, or None if it can."""
    if condition.without == "none":
        return None
    if not condition.looks or not any(left_out(image, condition) for image in images):
        return f"no {condition.without} image is shown that could be left out"
    if all(left_out(image, condition) for image in images):
        return f"only {condition.without} is shown: without it nothing would be left to compare"
    return None


def names_left_out(case: Case, question: Question, condition: Condition) -> bool:
    """Whether what is still told of a case speaks of the modality that is left out."""
    if condition.without == "none":
        return False
    told = [question.prompt, *(question.options or ())]
    if condition.shows("history"):
        told.append(case.history or "")
    if condition.shows("findings"):
        told.append(case.findings or "")
    return any(_named(condition.without).search(text) for text in told)


def _same(modality: str | None, other: str) -> bool:
    return modality is not None and modality.strip().casefold() == other.strip().casefold()


@cache
def _named(modality: str) -> re.Pattern[str]:
    code = modality.strip()
    exact = "(?-i:{})s?" if code.isupper() else "{}s?"  # US is a modality, us is not
    names = [exact.format(re.escape(code)), *NAMES.get(code.upper(), ())]
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.I)
