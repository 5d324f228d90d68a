"""The other diagnoses that the authors discuss, found by rules: candidates for wrong options."""

import re
from collections.abc import Iterable, Iterator

from wardround.building.sources.pmc.article import Sentence, strip_marks
from wardround.building.sources.pmc.disease_phrases import as_name, join_whole_names

MAX_WORDS = 6  # of a name in a list
LIST_PARTS = ("differential", "discussion", "diagnosis", "after", "patient", "tests", "treatment", "conclusion")
DIFFERENTIAL_PATTERNS = [
    r"\bdifferential diagnos[ie]s\b[^,.]{0,40},\s*(?P<names>.+?)\s+(?:should|must|may|can|needs? to)\b",
    r"\bdifferential(?:s| diagnos[ie]s)\b[^.:]{0,80}?"
    r"\b(?:includ\w+|are|were|is|was|compris\w+|consist\w* of|such as|between)\s*:?\s*(?P<names>.+)",
    r"\bdifferential diagnos[ie]s\s*:\s*(?P<names>.+)",
    r"^(?P<names>.+?) (?:are|is|were|was) (?:also |all )?(?:the |among the |part of the "
    r"|in the )?(?:\w+ )?differential\b",
    r"\b(?:distinguish\w*|differentiat\w*|distinct) (?:\w+ )?from\s+(?P<names>.+)",
    r"\b(?:mimic(?:s|ked|king|ked by)?|(?:mistaken|confused) (?:for|with)|misdiagnosed (?:as|with))\s+(?P<names>.+)",
    r"\b(?:we|they|also) (?:also )?(?:considered|suspected|ruled out|excluded)\s+(?P<names>.+)",
    r"\b(?:other|possible|alternative|common|frequent) (?:causes|conditions|diseases|entities|diagnoses|etiologies)\b"
    r"[^.:]{0,60}?\b(?:includ\w+|are|were|compris\w+|such as)\s*:?\s*(?P<names>.+)",
    r"^(?P<names>.+?) (?:can|may|might|could) (?:all |also )?(?:look|present|appear|mimic|resemble)\b",
    r"^(?P<names>.+?) (?:was|were|had been|have been|has been|ha(?:s|ve) to be|(?:should|must|can|may) (?:also )?be"
    r"|needs? to be) (?:also |initially |all |first |then )?(?:considered|suspected|ruled out|excluded|discussed)\b",
]
_CONSIDERED = re.compile(
    "|".join([*DIFFERENTIAL_PATTERNS[:4], DIFFERENTIAL_PATTERNS[-1]]).replace("?P<names>", "?:"), re.I
)
_SEPARATOR = re.compile(
    r"\s*[,;]\s*(?:(?:and|or|as well as)\s+)?|\s+(?:and|or|versus|vs\.?|as well as)\s+", re.IGNORECASE
)
_LIST_LEAD = re.compile(
    r"^(?:(?:a|an|the|other|various|both|either|such as|including|e\.g\.,?|like|namely|mainly|possible|diseases?"
    r"|diagnoses|conditions?|entities|for example|causes? of|presence of|however|initially|in particular"
    r"|(?:in|for) [^,]{3,60},)\s*,?\s+)+",
    re.IGNORECASE,
)
_LIST_END = re.compile(
    r"[.:]|\s(?:because|but|which|although|however|since|based|by|due to|given|as (?:the|these|in)|in (?:this|our)"
    r"|on (?:the|imaging)|among others)\b"
)


def find_differentials(sentences: Iterable[Sentence]) -> list[str]:
    """Other diagnoses: the list of a section on them, or those that the article considers."""
    return list(dict.fromkeys(name for sentence in sentences for name in _differentials_in(sentence)))


def considers_diagnoses(sentence: str) -> bool:
    """Whether a sentence lists diagnoses that were considered: it is not part of a stem."""
    return bool(_CONSIDERED.search(strip_marks(sentence)))


def _differentials_in(sentence: Sentence) -> Iterator[str]:
    if sentence.part not in LIST_PARTS:
        return
    text = strip_marks(sentence.text)
    for pattern in DIFFERENTIAL_PATTERNS:
        if match := re.search(pattern, text, re.IGNORECASE):
            yield from _names(match["names"])
            return
    if sentence.part == "differential":
        yield from _names(text)


def _names(text: str) -> Iterator[str]:
    text = join_whole_names(re.sub(r"\([^)]*\)|\[[^\]]*\]", "", text))
    text = _LIST_LEAD.sub("", text.strip())
    for part in _SEPARATOR.split(_LIST_END.split(text)[0]):
        if name := as_name(_LIST_LEAD.sub("", part.strip()), MAX_WORDS):
            yield name
