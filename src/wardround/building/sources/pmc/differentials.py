"""The other diagnoses that the authors discuss, found by rules: candidates for wrong options."""

import re
from collections.abc import Iterable, Iterator

from wardround.building.sources.pmc.article import Sentence, strip_marks
from wardround.building.sources.pmc.disease_kinds import is_disease_like, is_symptom
from wardround.building.sources.pmc.disease_phrases import as_name, join_whole_names

MAX_WORDS = 6  # of a name in a list
LIST_PARTS = (
    "other",
    "differential",
    "discussion",
    "diagnosis",
    "after",
    "patient",
    "tests",
    "treatment",
    "conclusion",
)
DIFFERENTIAL_PATTERNS = [
    r"\bdifferential diagnos[ie]s\b[^,.]{0,40},\s*(?P<names>.+?)\s+(?:should|must|may|can|needs? to)\b",
    r"\b(?:differentials?|differential diagnos[ie]s)\b[^.:]{0,80}?"
    r"\b(?:includ\w+|are|were|is|was|compris\w+|consist\w* of|such as|between)\s*:?\s*(?P<names>.+)",
    r"\bdifferential diagnos[ie]s\s*:\s*(?P<names>.+)",
    r"^(?P<names>.+?) (?:are|is|were|was) (?:also |all )?(?:the |among the |part of the "
    r"|in the )?(?:\w+ )?differential\b",
    r"\b(?:distinguish\w*|differentiat\w*|distinct) (?:\w+ )?from\s+(?P<names>.+)",
    r"\b(?:mimic(?:s|ked|king|ked by)?|(?:mistaken|confused) (?:for|with)|misdiagnosed (?:as|with))\s+(?P<names>.+)",
    r"\b(?:I|we) (?:will |would |shall )?(?:also )?consider (?P<names>.+)",
    r"\b(?:can|may|might) be (?:due to|caused by|secondary to|explained by|a sign of)\s+(?P<names>.+)",
    r"\b(?:we|they|also) (?:also )?(?:considered|suspected|ruled out|excluded)\s+(?P<names>.+)",
    r"\b(?:other|possible|alternative|common|frequent) (?:causes|conditions|diseases|entities|diagnoses|etiologies)\b"
    r"[^.:]{0,60}?\b(?:includ\w+|are|were|compris\w+|such as)\s*:?\s*(?P<names>.+)",
    r"^(?P<names>.+?) (?:can|may|might|could) (?:all |also )?(?:look|present|appear|mimic|resemble)\b",
    r"^(?P<names>.+?) (?:was|were|had been|have been|has been|ha(?:s|ve) to be|(?:should|must|can|may) (?:also )?be"
    r"|needs? to be) (?:also |initially |all |first |then )?(?:considered|suspected|ruled out|excluded|discussed)\b",
]
_LIKE_A_DISEASE_PATTERNS = [  # what is named there has to be named as diseases are
    r"\b(?:initial|first|provisional|preliminary|working|pre-?operative|presumptive|presumed|admission)\b[^.,;]{0,30}?"
    r"\b(?:impressions?|diagnos[ie]s|suspicion)\s*(?:was|were|of|included|:)\s+(?P<names>.+)",
    r"\b(?:resembl\w+|simulat\w+|masquerad\w+ as|attributed to|similar to|commonly due to|usually due to)\s+"
    r"(?P<names>.+)",
]
_NO_ALTERNATIVES = re.compile(  # a list in such a sentence is not of other diagnoses
    r"\b(?:complicat\w+|associat\w+|risk|predispos\w+|symptoms?|manifest\w+|signs?|features (?:are|include|of|were)"
    r"|treat\w+|therap\w+|comorbid\w*|history|subtypes?|types|organs?|sites?|sequel\w+|triggers?|triggered|vaccin\w+)\b",
    re.IGNORECASE,
)
_LIST_VERB = re.compile(
    r"^.*\b(?:includ(?:es?|ed|ing)|compris\w+|such as|like|between|from|are|were|is|was|namely|e\.g\.|consider(?:ed)?"
    r"|exclude(?:d)?|as|than|by|to)\s+",
    re.IGNORECASE,
)
_AFTER_LIST = re.compile(
    r"\s(?:are|is|were|was|enter\w*|should|must|may|might|can|could|have|has|had|needs?|also|remain\w*|belong\w*|come"
    r"|look|share\w*|mimic\w*|appear\w*|present\w*|all)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_SENTENCE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|had|have|favou?r(?:s|ed)?|supports?|supported|suggest(?:s|ed)?|made|makes?|led|excludes?"
    r"|would|could|should|may|argued?|pointed|raised)\b",
    re.IGNORECASE,
)
MIN_LISTED = 3  # diseases in a row that make a list of alternatives
_CONSIDERED = re.compile(
    "|".join([*DIFFERENTIAL_PATTERNS[:4], DIFFERENTIAL_PATTERNS[-1]]).replace("?P<names>", "?:"), re.I
)
_OF_THE_PATIENT = re.compile(  # what a section on other diagnoses repeats of the case
    r"\b(?:patient|man|woman|boy|girl|child|infant|he|she)"
    r"(?:['’]s\b|,? (?:who |also )?(?:had|has|presented|developed|was)\b)",
    re.IGNORECASE,
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
    for pattern in _LIKE_A_DISEASE_PATTERNS:
        if (match := re.search(pattern, text, re.IGNORECASE)) and (
            names := [name for name in _names(match["names"]) if is_disease_like(name)]
        ):
            yield from names
            return
    if sentence.part in ("discussion", "conclusion") and not _NO_ALTERNATIVES.search(text):
        yield from _enumerated(text)
    if sentence.part == "differential" and not _OF_THE_PATIENT.search(text):
        names = list(_names(text))
        is_list = len(names) >= len(_SEPARATOR.split(text)) and not _SENTENCE_VERB.search(text)
        yield from (name for name in names if is_list or is_disease_like(name))


def _enumerated(text: str) -> list[str]:
    """The diseases of a list, whatever is said of them: `X, Y, and Z are alternatives`."""
    text = join_whole_names(re.sub(r"\([^)]*\)|\[[^\]]*\]", "", text))
    runs: list[list[str]] = [[]]
    parts = _SEPARATOR.split(text.rstrip("."))
    parts[0] = _LIST_VERB.sub("", parts[0])
    parts[-1] = _AFTER_LIST.sub("", parts[-1])
    for part in parts:
        name = as_name(_LIST_LEAD.sub("", part.strip()), MAX_WORDS)
        if name is None or is_symptom(name):
            runs.append([])
        else:
            runs[-1].append(name)
    longest = max(runs, key=len)
    return longest if sum(map(is_disease_like, longest)) >= max(MIN_LISTED, 0.6 * len(longest)) else []


def _names(text: str) -> Iterator[str]:
    text = join_whole_names(re.sub(r"\([^)]*\)|\[[^\]]*\]", "", text))
    text = _LIST_LEAD.sub("", text.strip())
    for part in _SEPARATOR.split(_LIST_END.split(text)[0]):
        name = as_name(_LIST_LEAD.sub("", part.strip()), MAX_WORDS)
        if name and not is_symptom(name):
            yield name
