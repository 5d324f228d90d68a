"""Leaving out one imaging modality: the axis `without`."""

import re
from functools import cache

from wardround.core.case import Case, Image, Question
from wardround.core.condition import Condition

# other names of a modality in texts; our choice
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


def is_left_out(image: Image, condition: Condition) -> bool:
    """Whether the condition leaves this image out."""
    return condition.without != "none" and _is_same_modality(image.modality, condition.without)


def names_left_out_modality(case: Case, question: Question, condition: Condition) -> bool:
    """Whether the text that is shown still names the modality that is left out."""
    if condition.without == "none":
        return False
    texts = [question.prompt, *(question.options or ())]
    if condition.shows("history"):
        texts.append(case.history or "")
    if condition.shows("findings"):
        texts.append(case.findings or "")
    return any(_name_pattern(condition.without).search(text) for text in texts)


def _is_same_modality(modality: str | None, other: str) -> bool:
    return modality is not None and modality.strip().casefold() == other.strip().casefold()


@cache
def _name_pattern(modality: str) -> re.Pattern[str]:
    code = modality.strip()
    exact = "(?-i:{})s?" if code.isupper() else "{}s?"  # US is a modality, us is not
    names = [exact.format(re.escape(code)), *NAMES.get(code.upper(), ())]
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.I)
