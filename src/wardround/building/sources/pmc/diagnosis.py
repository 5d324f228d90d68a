"""The diagnosis of a case and the differential diagnoses of its authors, found by rules."""

import re
from collections.abc import Iterable, Iterator

from wardround.building.distractors.options import clean_name
from wardround.building.sources.pmc.article import strip_marks
from wardround.building.sources.pmc.sentences import NOT_THE_DIAGNOSIS, Sentence
from wardround.core.names import content_words, normalized_words

MAX_WORDS = 12  # of a name
_QUALIFIERS = (
    r"(?:(?:final|definitive|definite|primary|histological|histopathological|pathological|clinical)(?:ly)?\s+){0,3}"
)
DIAGNOSIS_PATTERNS = [
    rf"\b{_QUALIFIERS}diagnosis\s*:\s*(?P<name>.+)",
    rf"\b{_QUALIFIERS}diagnosis of (?P<name>.+)",
    rf"\b{_QUALIFIERS}diagnosis (?:was|is) "
    r"(?:established as|made as|confirmed as|determined to be|that of|consistent with)?\s*(?P<name>.+)",
    r"\bdiagnosed (?:\w+ly )?(?:with|as having|as|to have)\s+(?P<name>.+)",
    r"\bconfirm\w* (?:the )?(?:diagnosis|presence) of (?P<name>.+)",
    r"\bconfirmed to (?:be|have) (?P<name>.+)",
    r"\b(?:consistent|compatible) with (?P<name>.+)",
]
_NAME_END = re.compile(
    r"[.;:(\[]|,(?!\s+(?:type|grade|stage|class|variant)\b)"
    r"|\s(?:was|were|is|are|has|had|which|who|that|based|on the basis|according|after|by|following|because|confirmed"
    r"|made|established|reached|from|requiring|given|when|while|so|but"
    r"|and (?:she|he|the|was|is|then|underwent|treat\w*|start\w*|received|we|they)"
    r"|in (?:the|a|this|our|his|her) (?:patient|case|present\w*)|at (?:the )?(?:age|time)|on (?:day|histo\w*)"
    r"|as (?:the|a) (?:cause|reason)|therefore|finally)\b",
    re.IGNORECASE,
)
_LEADING_WORDS = re.compile(
    r"^(?:(?:a|an|the|having|been|likely|probable|final|definitive|be|as|with)\s+)+", re.IGNORECASE
)
_NOT_A_NAME = frozenset(
    [
        *("made", "established", "confirmed", "difficult", "unclear", "uncertain", "delayed", "based", "not", "then"),
        *("therefore", "reached", "supported", "considered", "challenging", "important", "this", "it", "disease"),
        *("condition", "exclusion", "our", "also", "often", "usually", "rare", "still", "possible", "rarely"),
        *("was", "were", "are", "is", "should", "must", "which", "that"),
    ]
)
DIFFERENTIAL_PATTERNS = [
    r"\bdifferential diagnos[ie]s\b[^,.]{0,40},\s*(?P<names>.+?)\s+(?:should|must|may|can|needs? to)\b",
    r"\bdifferential(?:s| diagnos[ie]s)\b[^.:]{0,80}?"
    r"\b(?:includ\w+|are|were|is|was|compris\w+|consist\w* of|such as|between)\s*:?\s*(?P<names>.+)",
    r"\bdifferential diagnos[ie]s\s*:\s*(?P<names>.+)",
    r"\b(?:distinguish\w*|differentiat\w*|distinct) (?:\w+ )?from\s+(?P<names>.+)",
    r"\b(?:mimic(?:s|ked|king|ked by)?|(?:mistaken|confused) (?:for|with)|misdiagnosed (?:as|with))\s+(?P<names>.+)",
    r"\b(?:we|they|also) (?:also )?(?:considered|suspected|ruled out|excluded)\s+(?P<names>.+)",
    r"^(?P<names>.+?) (?:was|were) (?:also |initially |all )?(?:considered|suspected|ruled out|excluded)\b",
]
_SEPARATOR = re.compile(
    r"\s*[,;]\s*(?:(?:and|or|as well as)\s+)?|\s+(?:and|or|versus|vs\.?|as well as)\s+", re.IGNORECASE
)
_LIST_LEAD = re.compile(
    r"^(?:(?:a|an|the|other|various|both|either|such as|including|e\.g\.,?|like|namely|mainly|possible|diseases?"
    r"|diagnoses|conditions?|entities|for example|causes? of|presence of|however|initially)\s*,?\s+)+",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\s*\(\s*([A-Z][A-Za-z0-9-]{1,7})\s*\)")


def find_diagnosis(sentences: Iterable[Sentence]) -> str | None:
    """The name in the sentence that states the diagnosis; a final diagnosis comes before others."""
    texts = [strip_marks(sentence.text) for sentence in sentences if sentence.part == "diagnosis"]
    texts = [text for text in texts if not NOT_THE_DIAGNOSIS.search(text)]
    for qualifier in (r"\b(?:final|definitive)\b", ""):
        for pattern in DIAGNOSIS_PATTERNS:
            for text in texts:
                match = re.search(pattern, text, re.IGNORECASE) if re.search(qualifier, text, re.IGNORECASE) else None
                if match and (name := _name(match["name"])):
                    return name
    # a section that is nothing but the name
    return _name(texts[0]) if len(texts) == 1 and not texts[0].endswith(".") else None


def _name(text: str) -> str | None:
    """The name at the start of a text; None if it is not a name."""
    text = _LEADING_WORDS.sub("", text.strip())
    end = _NAME_END.search(text)
    name = clean_name(text[: end.start()] if end else text)
    words = normalized_words(name)
    if not content_words(name) or len(words) > MAX_WORDS or words[0] in _NOT_A_NAME or len(name) < 3:
        return None
    return name[:1].upper() + name[1:]


def expand_abbreviation(name: str, texts: Iterable[str]) -> str:
    """An abbreviation as the article expands it: `pancreatic tuberculosis (PTB)`; other names unchanged."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9-]{1,7}", name) or sum(letter.isupper() for letter in name) < 2:
        return name
    for text in texts:
        for match in re.finditer(rf"\(\s*{re.escape(name)}\s*\)", text):
            words = re.split(r"\s+", text[: match.start()].strip())[-2 * len(name) :]
            if expansion := _ending_with(name, " ".join(words)):
                return expansion[:1].upper() + expansion[1:]
    return name


def _ending_with(abbreviation: str, text: str) -> str | None:
    """The shortest end of a text with the abbreviation's letters in order, beginning with its first letter."""
    position = len(text)
    for index, letter in reversed(list(enumerate(abbreviation.lower()))):
        if not letter.isalnum():
            continue
        position -= 1
        while position >= 0 and (text[position].lower() != letter or (index == 0 and text[:position][-1:].isalnum())):
            position -= 1
        if position < 0:
            return None
    return text[position:]


def find_abbreviations(name: str, texts: Iterable[str]) -> list[str]:
    """The abbreviations in brackets after a name in an article."""
    abbreviated = re.compile(rf"{re.escape(name)}{_ABBREVIATION.pattern}", re.IGNORECASE)
    abbreviations = (match[1] for text in texts for match in abbreviated.finditer(text))
    return list(dict.fromkeys(short for short in abbreviations if sum(letter.isupper() for letter in short) >= 2))


def find_differentials(sentences: Iterable[Sentence]) -> list[str]:
    """Other diagnoses: the list of a section on them, or those that the discussion considers."""
    return list(dict.fromkeys(name for sentence in sentences for name in _differentials_in(sentence)))


def _differentials_in(sentence: Sentence) -> Iterator[str]:
    if sentence.part not in ("differential", "discussion", "diagnosis", "after"):
        return
    text = strip_marks(sentence.text)
    for pattern in DIFFERENTIAL_PATTERNS:
        if match := re.search(pattern, text, re.IGNORECASE):
            yield from _names(match["names"])
            return
    if sentence.part == "differential":
        yield from _names(text)


def _names(text: str) -> Iterator[str]:
    text = re.sub(r"\([^)]*\)", "", text)
    text = re.split(r"[.:]|\s(?:because|but|which|although|however|since|based|by|due to|given)\b", text.strip())[0]
    for part in _SEPARATOR.split(text):
        name = clean_name(_LIST_LEAD.sub("", part.strip()))
        words = normalized_words(name)
        if content_words(name) and len(words) <= 6 and words[0] not in _NOT_A_NAME and len(name) > 3:
            yield name[:1].upper() + name[1:]
