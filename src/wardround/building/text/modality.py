"""The modality of an image by the words of its caption. Words: our choice."""

import re
from collections.abc import Iterable

# the first match in the text counts, then the first of the table; PET and PET/CT are not distinguished
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
_NAMED = re.compile("|".join(rf"(?P<m{index}>\b(?:{words})\b)" for index, words in enumerate(WORDS.values())), re.I)
_IS_THE_PRONOUN = re.compile(r"\bus\b")  # "ultrasound" is US only in capitals
_NAMES = list(WORDS)


def modalities_in(text: str) -> list[str]:
    """The modalities that a text names, in its order."""
    text = _IS_THE_PRONOUN.sub(" ", text)
    names = (_NAMES[int(match.lastgroup[1:])] for match in _NAMED.finditer(text) if match.lastgroup)
    return list(dict.fromkeys(names))


def modality_of(texts: Iterable[str]) -> str | None:
    """The first modality named in the first text that names any."""
    return next((modalities[0] for text in texts if (modalities := modalities_in(text))), None)
