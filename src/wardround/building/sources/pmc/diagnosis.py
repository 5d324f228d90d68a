"""The diagnosis of a case and the diagnoses that its authors weighed against it, read by rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from wardround.building.distractors.options import tidy
from wardround.building.sources.pmc.article import without_marks
from wardround.building.sources.pmc.parts import NOT_THE_DIAGNOSIS, Said
from wardround.marking.judges.lexical_judge import content, tokens

MOST_WORDS = 12  # of a name
_HOW = r"(?:(?:final|definitive|definite|primary|histological|histopathological|pathological|clinical)(?:ly)?\s+){0,3}"
STATED = [
    rf"\b{_HOW}diagnosis\s*:\s*(?P<name>.+)",
    rf"\b{_HOW}diagnosis of (?P<name>.+)",
    rf"\b{_HOW}diagnosis (?:was|is) "
    r"(?:established as|made as|confirmed as|determined to be|that of|consistent with)?\s*(?P<name>.+)",
    r"\bdiagnosed (?:\w+ly )?(?:with|as having|as|to have)\s+(?P<name>.+)",
    r"\bconfirm\w* (?:the )?(?:diagnosis|presence) of (?P<name>.+)",
    r"\bconfirmed to (?:be|have) (?P<name>.+)",
    r"\b(?:consistent|compatible) with (?P<name>.+)",
]
_ENDS = re.compile(
    r"[.;:(\[]|,(?!\s+(?:type|grade|stage|class|variant)\b)"
    r"|\s(?:was|were|is|are|has|had|which|who|that|based|on the basis|according|after|by|following|because|confirmed"
    r"|made|established|reached|from|requiring|given|when|while|so|but"
    r"|and (?:she|he|the|was|is|then|underwent|treat\w*|start\w*|received|we|they)"
    r"|in (?:the|a|this|our|his|her) (?:patient|case|present\w*)|at (?:the )?(?:age|time)|on (?:day|histo\w*)"
    r"|as (?:the|a) (?:cause|reason)|therefore|finally)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"^(?:(?:a|an|the|having|been|likely|probable|final|definitive|be|as|with)\s+)+", re.IGNORECASE)
_NO_NAME = frozenset(
    [
        *("made", "established", "confirmed", "difficult", "unclear", "uncertain", "delayed", "based", "not", "then"),
        *("therefore", "reached", "supported", "considered", "challenging", "important", "this", "it", "disease"),
        *("condition", "exclusion", "our", "also", "often", "usually", "rare", "still", "possible", "rarely"),
        *("was", "were", "are", "is", "should", "must", "which", "that"),
    ]
)
LISTED = [
    r"\bdifferential diagnos[ie]s\b[^,.]{0,40},\s*(?P<names>.+?)\s+(?:should|must|may|can|needs? to)\b",
    r"\bdifferential(?:s| diagnos[ie]s)\b[^.:]{0,80}?"
    r"\b(?:includ\w+|are|were|is|was|compris\w+|consist\w* of|such as|between)\s*:?\s*(?P<names>.+)",
    r"\bdifferential diagnos[ie]s\s*:\s*(?P<names>.+)",
    r"\b(?:distinguish\w*|differentiat\w*|distinct) (?:\w+ )?from\s+(?P<names>.+)",
    r"\b(?:mimic(?:s|ked|king|ked by)?|(?:mistaken|confused) (?:for|with)|misdiagnosed (?:as|with))\s+(?P<names>.+)",
    r"\b(?:we|they|also) (?:also )?(?:considered|suspected|ruled out|excluded)\s+(?P<names>.+)",
    r"^(?P<names>.+?) (?:was|were) (?:also |initially |all )?(?:considered|suspected|ruled out|excluded)\b",
]
_BETWEEN = re.compile(
    r"\s*[,;]\s*(?:(?:and|or|as well as)\s+)?|\s+(?:and|or|versus|vs\.?|as well as)\s+", re.IGNORECASE
)
_LEADING = re.compile(
    r"^(?:(?:a|an|the|other|various|both|either|such as|including|e\.g\.,?|like|namely|mainly|possible|diseases?"
    r"|diagnoses|conditions?|entities|for example|causes? of|presence of|however|initially)\s*,?\s+)+",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\s*\(\s*([A-Z][A-Za-z0-9-]{1,7})\s*\)")


def stated_diagnosis(said: Iterable[Said]) -> str | None:
    """The name in the sentence that states the diagnosis; one that is called final counts before others."""
    texts = [without_marks(each.text) for each in said if each.part == "diagnosis"]
    texts = [text for text in texts if not NOT_THE_DIAGNOSIS.search(text)]
    for wanted in (r"\b(?:final|definitive)\b", ""):
        for pattern in STATED:
            for text in texts:
                found = re.search(pattern, text, re.IGNORECASE) if re.search(wanted, text, re.IGNORECASE) else None
                if found and (name := _name(found["name"])):
                    return name
    # a section that is nothing but the name
    return _name(texts[0]) if len(texts) == 1 and not texts[0].endswith(".") else None


def _name(text: str) -> str | None:
    """The name at the start of what follows; None if it is none."""
    text = _FIRST.sub("", text.strip())
    ends = _ENDS.search(text)
    name = tidy(text[: ends.start()] if ends else text)
    words = tokens(name)
    if not content(name) or len(words) > MOST_WORDS or words[0] in _NO_NAME or len(name) < 3:
        return None
    return name[:1].upper() + name[1:]


def written_out(name: str, texts: Iterable[str]) -> str:
    """A name that is an abbreviation as the article writes it out: `pancreatic tuberculosis (PTB)`; else itself."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9-]{1,7}", name) or sum(letter.isupper() for letter in name) < 2:
        return name
    for text in texts:
        for found in re.finditer(rf"\(\s*{re.escape(name)}\s*\)", text):
            words = re.split(r"\s+", text[: found.start()].strip())[-2 * len(name) :]
            if written := _ending_with(name, " ".join(words)):
                return written[:1].upper() + written[1:]
    return name


def _ending_with(short: str, text: str) -> str | None:
    """The shortest end of a text that has the letters of the abbreviation in order, its first letter beginning it."""
    place = len(text)
    for number, letter in reversed(list(enumerate(short.lower()))):
        if not letter.isalnum():
            continue
        place -= 1
        while place >= 0 and (text[place].lower() != letter or (number == 0 and text[:place][-1:].isalnum())):
            place -= 1
        if place < 0:
            return None
    return text[place:]


def short_names(name: str, texts: Iterable[str]) -> list[str]:
    """Abbreviations that an article gives to a name in brackets after it."""
    written = re.compile(rf"{re.escape(name)}{_ABBREVIATION.pattern}", re.IGNORECASE)
    found = (match[1] for text in texts for match in written.finditer(text))
    return list(dict.fromkeys(each for each in found if sum(letter.isupper() for letter in each) >= 2))


def weighed(said: Iterable[Said]) -> list[str]:
    """Other diagnoses: the list of a section on them, or what the discussion sets against the diagnosis."""
    return list(dict.fromkeys(name for each in said for name in _weighed(each)))


def _weighed(said: Said) -> Iterator[str]:
    if said.part not in ("differential", "discussion", "diagnosis", "after"):
        return
    text = without_marks(said.text)
    for pattern in LISTED:
        if found := re.search(pattern, text, re.IGNORECASE):
            yield from _names(found["names"])
            return
    if said.part == "differential":
        yield from _names(text)


def _names(text: str) -> Iterator[str]:
    text = re.sub(r"\([^)]*\)", "", text)
    text = re.split(r"[.:]|\s(?:because|but|which|although|however|since|based|by|due to|given)\b", text.strip())[0]
    for part in _BETWEEN.split(text):
        name = tidy(_LEADING.sub("", part.strip()))
        words = tokens(name)
        if content(name) and len(words) <= 6 and words[0] not in _NO_NAME and len(name) > 3:
            yield name[:1].upper() + name[1:]
