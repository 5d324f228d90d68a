"""The modality of an image by the words of its caption. Words: our choice."""

import re
from collections.abc import Iterable

# the first match in the text counts, then the first of the table; PET and PET/CT are not distinguished
WORDS = {
    "PET": r"pet|positron emission|fdg|scintigra\w*|spect|bone scan|nuclear medicine",
    "CT": r"ct|cta|hrct|cbct|msct|computed tomograph\w*|computerised tomograph\w*|computerized tomograph\w*"
    r"|comput(?:ed|er) tomogram\w*",
    "MRI": r"mri|mr|mra|mrcp|dwi|adc|flair|magnetic resonance|t[12](?:w|wi|-weighted| weighted)?|gadolinium",
    "Ultrasound": r"ultrasound|ultrasonic|us|usg|eus|tte|tee|sono"
    r"|sonogra\w*|ultrasonogra\w*|doppler|echocardiogra\w*|endosonogra\w*",
    "X-ray": r"x ?-? ?rays?|opg|dexa|tomosynthesis|hysterosalpingogra\w*"
    r"|radiogra\w*|cxr|absorptiometry|bone densitometry|mammogra\w*|fluoroscop\w*|orthopantomogra\w*|panoramic",
    "Angiography": r"angiogra\w*|dsa|arteriogra\w*|venogra\w*",
    "Histopathology": r"histopatholog\w*|histolog\w*|immunohistochem\w*|ha?ematoxylin|h ?& ?e"
    r"|h[/-]?e[- ]stain\w*|(?:pas|giemsa|ziehl\W+neelsen|congo red|trichrome)[- ]stain\w*"
    r"|photomicrogra\w*"
    r"|cytolog\w*|microscop\w*",
    "Endoscopy": r"endoscop\w*|colonoscop\w*|gastroscop\w*|bronchoscop\w*|laryngoscop\w*|cystoscop\w*|duodenoscop\w*",
    "Dermoscopy": r"dermoscop\w*|dermatoscop\w*",
    "Fundus": r"fundus|fundoscop\w*|oct|optical coherence|fluorescein",
    "ECG": r"ecg|ekg|electrocardiogra\w*",
    "Photograph": r"photogra\w*|clinical image|clinical picture|intraoperative|gross|slit[- ]lamp",
}
# words that only one technique has, for texts that name none
HINTS = {
    "CT": r"(?:bone|lung|soft tissue|mediastinal|brain) window|hounsfield|HU|(?:arterial|portal venous"
    r"|nephrographic|delayed"
    r"|excretory) phase|unenhanced|non-?contrast|MPR|multiplanar|volume rendering",
    "MRI": r"STIR|GRE|SWI|DIXON|FIESTA|TOF|DTI|TIRM|SPAIR|PD(?:W|FS)?|(?:in|out of)[ -]phase|fat[ -](?:sat\w*"
    r"|suppress\w*)"
    r"|spin[ -]echo|gradient[ -]echo|b ?= ?\d+|hyperintens\w*|hypointens\w*|isointens\w*",
    "Ultrasound": r"B-mode|grey-?scale|gray-?scale|hyperechoic|hypoechoic|anechoic|echogenic\w*|elastogra\w*"
    r"|transducer",
    "X-ray": r"plain films?|(?:AP|PA|lateral|anteroposterior|posteroanterior|oblique) (?:view|projection)s?|barium|MLO"
    r"|craniocaudal view|swallow|enema|urogra\w*",
    "PET": r"SUV(?:max)?|tracer|uptake|MIP",
}
_NAMED = re.compile("|".join(rf"(?P<m{index}>\b(?:{words})\b)" for index, words in enumerate(WORDS.values())), re.I)
_OTHER_MEANINGS = re.compile(
    r"\bus\b"  # "ultrasound" is US only in capitals
    r"|\bpet\b(?!\s?[-/]?\s?(?:ct|mri?|scan))"  # an animal
    r"|\bMr\.?(?=\s+[A-Z])"
    # vertebrae and the stage of a tumour
    r"|\b(?:C\d\s?[-/–]\s?)?T[12]\s?[-/–]\s?T?\d+\b(?![- ]?w)|\bC\d\s?[-/–]\s?T[12]\b"
    r"|\bT[12]\b(?=\s*(?:vertebra|level|bod(?:y|ies)\b|spin|transverse|ribs?\b|dis[ck]|nerve|N[0-3]|tumou?r|stage|diabet))"
)
_GUIDED = re.compile(r"\b[\w-]+[- ]guided\b(?: (?:core|needle|percutaneous))*(?: biops\w+)?", re.IGNORECASE)
_NAMES = list(WORDS)


def modalities_in(text: str) -> list[str]:
    """The modalities that a text names, in its order. What guided a biopsy counts only if there is no other."""
    text = _OTHER_MEANINGS.sub(" ", text)
    return _names_in(_GUIDED.sub(" ", text)) or _names_in(text)


def _names_in(text: str) -> list[str]:
    names = (_NAMES[int(match.lastgroup[1:])] for match in _NAMED.finditer(text) if match.lastgroup)
    return list(dict.fromkeys(names))


_HINTS = {name: re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) for name, words in HINTS.items()}


def hinted_modality(text: str, techniques: Iterable[str] = ()) -> str | None:
    """The modality whose own words a text has, if it is only one of these techniques (none: of all)."""
    allowed = set(techniques) or set(HINTS)
    names = [name for name, words in _HINTS.items() if name in allowed and words.search(text)]
    return names[0] if len(names) == 1 else None


def modality_of(texts: Iterable[str]) -> str | None:
    """The first modality named in the first text that names any."""
    return next((modalities[0] for text in texts if (modalities := modalities_in(text))), None)
