"""Which modality an image is, by the words of its caption. Words: our choice."""

from __future__ import annotations

import re
from collections.abc import Iterable

# the first that is named counts, at one place the first of the table; PET is not told apart from PET/CT
WORDS = {
    "PET": r"pet|positron emission|fdg|scintigra\w*|spect",
    "CT": r"ct|cta|hrct|cbct|msct|computed tomograph\w*|computerised tomograph\w*|computerized tomograph\w*",
    "MRI": r"mri|mr|mra|mrcp|dwi|adc|flair|magnetic resonance|t[12](?:w|wi|-weighted| weighted)?|gadolinium",
    "Ultrasound": r"ultrasound|us|sonogra\w*|ultrasonogra\w*|doppler|echocardiogra\w*|endosonogra\w*",
    "X-ray": r"x-?rays?|x ray|radiogra\w*|cxr|mammogra\w*|fluoroscop\w*|orthopantomogra\w*|panoramic",
    "Angiography": r"angiogra\w*|dsa|arteriogra\w*|venogra\w*",
    "Histopathology": r"histopatholog\w*|histolog\w*|immunohistochem\w*|ha?ematoxylin|h&e|photomicrogra\w*"
    r"|cytolog\w*|microscop\w*",
    "Endoscopy": r"endoscop\w*|colonoscop\w*|gastroscop\w*|bronchoscop\w*|laryngoscop\w*|cystoscop\w*|duodenoscop\w*",
    "Dermoscopy": r"dermoscop\w*|dermatoscop\w*",
    "Fundus": r"fundus|fundoscop\w*|oct|optical coherence|fluorescein",
    "ECG": r"ecg|ekg|electrocardiogra\w*",
    "Photograph": r"photogra\w*|clinical image|clinical picture|intraoperative|gross",
}
_NAMED = re.compile("|".join(rf"(?P<m{place}>\b(?:{words})\b)" for place, words in enumerate(WORDS.values())), re.I)
_IS_THE_PRONOUN = re.compile(r"\bus\b")  # "ultrasound" is US only in capitals
_NAMES = list(WORDS)


def modalities_in(text: str) -> list[str]:
    """The modalities that a text names, in its order."""
    told = _IS_THE_PRONOUN.sub(" ", text)
    found = (_NAMES[int(match.lastgroup[1:])] for match in _NAMED.finditer(told) if match.lastgroup)
    return list(dict.fromkeys(found))


def modality_of(texts: Iterable[str]) -> str | None:
    """The modality that the first of these texts names that names any."""
    return next((named[0] for text in texts if (named := modalities_in(text))), None)
