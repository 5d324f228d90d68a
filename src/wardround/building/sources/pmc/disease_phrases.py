"""Phrases of an article that name a disease: where a name ends, what is not a name, how abbreviations are expanded."""

import re
from collections.abc import Iterable, Iterator, Sequence

from wardround.building.distractors.options import clean_name
from wardround.building.sources.pmc.article import strip_marks
from wardround.building.sources.pmc.disease_kinds import is_disease_like, names_a_disease
from wardround.building.text.diagnosis_core import CLASS_WORDS, diagnosis_cores, head_noun
from wardround.core.names import NO_SYNONYMS, Synonyms, content_words, normalized_words, same_disease

MAX_WORDS = 12  # of a name
_WHOLE_NAMES = re.compile(  # `and`, commas and words of sentences are part of these
    r"\b(?:drug (?:reaction|rash|eruption) with eosinophilia and systemic symptoms|hand,? foot,? and mouth disease"
    r"|foot and mouth disease|tubulointerstitial nephritis and uveitis|(?:skin|bone) and soft tissue|head and neck"
    r"|h(?:a)?emolysis, elevated liver enzymes,? and low platelets?(?: count)?"
    r"|polyneuropathy, organomegaly, endocrinopathy, monoclonal [\w -]+?,? and skin changes"
    r"|synovitis, acne, pustulosis, hyperostosis,? and osteitis"
    r"|mitochondrial encephalo(?:myo)?pathy, lactic acidosis,? and stroke-like episodes)\b",
    re.IGNORECASE,
)
_SPACE, _COMMA = "\ue000", "\ue001"  # of private use: no pattern divides a text there
_DISEASE_LIKE = re.compile(
    r"\b(?:syndrome|disease|disorder|fever|\w{2,}(?:oma|itis|osis|ae?mia|pathy|plasia|trophy|ism))s?$", re.IGNORECASE
)
_CALLED = (
    r"(?:(?:also|otherwise|formerly|previously|originally|historically|sometimes)\s+)?"
    r"(?:known as|called|termed|named|referred to as|designated)|formerly|previously|aka|synonyms?:?"
)
_NAME_END = re.compile(
    r"[.;:(\[]|,(?!\s+(?:type|grade|stage|class|variant)\b)"
    r"|\s(?:was|were|is|are|has|had|have|which|who|that|based|on the basis|according|after|by|following|because"
    r"|confirmed"
    r"|made|established|reached|from|requiring|given|when|while|so|but|then|thus|revealing|unmask\w+"
    r"|rather than|instead of|without"
    r"|and (?:she|he|the|was|is|then|underwent|treat\w*|start\w*|received|we|they|her|his|an?|referred|admitted"
    r"|recovered)"
    r"|during|until|since|throughout|on (?:admission|presentation|arrival)|at (?:presentation|admission|birth)"
    r"|in (?:whom|which)"
    r"|in (?:the|a|this|our|his|her|whom) (?:patient|case|present\w*)|at (?:the )?(?:age|time)|on (?:day|histo\w*|the)"
    r"|as (?:the|a) (?:cause|reason)|therefore|finally|recently|despite|with no|with positive|with a score|of \d+)\b",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\w*[A-Z][\w-]*[A-Z][\w-]*")
_BETWEEN_NAMES = re.compile(  # words and marks that are in no name of a disease
    r"[^\w\s'’%-]+|\s-\s|\b(?:a|an|the|this|that|these|those|and|or|but|of|in|on|at|by|for|to|from|with|without|into|as|than"
    r"|our|his|her|its|their|he|she|it|they|we|who|which|when|if|while|because|although|not|no|also|often|rarely|usually"
    r"|is|are|was|were|be|been|being|has|have|had|can|could|may|might|should|must|will|would|do|does|did"
    r"|patient|patients|case|cases|rare|unusual|early|such|other|another|any|some"
    r"|caus\w+|present\w*|consider\w*|includ\w+|mimic\w*|diagnos\w+|suspect\w*|show\w*|reveal\w*|confirm\w*"
    r"|suggest\w*|associated|treated|due|after|before|during|remind\w*|recogni\w+|versus|mak\w+|made|mean\w*|prov\w+|led|grew|found|underwent|receiv\w+|develop\w*)\b",
    re.IGNORECASE,
)
_LEADING_WORDS = re.compile(
    r"^(?:(?:a|an|the|unsuspected|having|been|likely|probable|final|definitive|definite|be|as|with|concurrent|confirmed|new-onset|unusual|rare"
    r"|underlying|possible|our|his|her|of|both|also|uncommon|unexpected|newly diagnosed|so-called|us)\s+)+",
    re.IGNORECASE,
)
_TRAILING_WORDS = re.compile(
    r"(?:[\s,]+(?:an?|the|as|in|of|by|for|to|with|and|or|on|at|from|initially|first|presenting|successfully|mistakenly"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+) (?:years?|months?|weeks?|days?)))+$",
    re.IGNORECASE,
)
_NOT_FIRST = frozenset(
    [
        *("made", "established", "confirmed", "difficult", "unclear", "uncertain", "delayed", "based", "not", "then"),
        *("therefore", "reached", "supported", "considered", "challenging", "important", "this", "it", "disease"),
        *(
            "condition",
            "exclusion",
            "our",
            "also",
            "often",
            "usually",
            "rare",
            "still",
            "possible",
            "rarely",
            "in",
            "at",
        ),
        *("was", "were", "are", "is", "should", "must", "which", "that", "these", "those", "there", "their", "however"),
        *(
            "no",
            "without",
            "absent",
            "normal",
            "other",
            "such",
            "all",
            "most",
            "many",
            "several",
            "some",
            "any",
            "each",
            "both",
            "we",
            "he",
            "she",
            "they",
        ),
        *("based", "due", "if", "when", "because", "after", "before", "during", "since", "although", "similar", "more"),
    ]
)
_JOINTS = frozenset(["for", "of", "with", "in", "and", "or", "to", "by", "against", "like", "including"])
_NOT_IN_NAME = frozenset(  # words of sentences, in the spelling of `normalized_words`
    [
        *(
            "patient",
            "case",
            "study",
            "report",
            "literature",
            "author",
            "our",
            "we",
            "she",
            "he",
            "they",
            "who",
            "which",
        ),
        *("symptom", "treatment", "biopsy", "examination", "test", "diagnosi", "diagnosis", "diagnoses"),
        *(
            "differential",
            "finding",
            "imaging",
            "physician",
            "clinician",
            "surgeon",
            "hospital",
            "decisive",
            "suspicion",
        ),
        *(
            "such",
            "should",
            "must",
            "may",
            "can",
            "could",
            "would",
            "cannot",
            "is",
            "are",
            "was",
            "were",
            "be",
            "been",
            "has",
        ),
        *("have", "had", "considered", "excluded", "include", "included", "including", "following", "cause", "causes"),
        *("option", "possibility", "entity", "entities", "age", "year", "month", "week", "day", "question", "example"),
        *("man", "woman", "men", "women", "boy", "girl", "child", "children", "adult", "infant", "teacher", "traveler"),
        *("this", "these", "those", "it", "its", "their", "there", "not", "also", "often", "usually", "therefore"),
    ]
)


def parse_name(text: str) -> str | None:
    """The name at the start of a text; None if it is not a name."""
    text = _LEADING_WORDS.sub("", join_whole_names(text.strip()))
    end = _NAME_END.search(text)
    return as_name(text[: end.start()] if end else text)


def as_name(text: str, max_words: int = MAX_WORDS) -> str | None:
    """A phrase as the name of a disease; None if words of sentences are in it, or none of a disease."""
    text = text.replace(_SPACE, " ").replace(_COMMA, ",")
    name = clean_name(_TRAILING_WORDS.sub("", _LEADING_WORDS.sub("", text.strip())))
    words = normalized_words(_WHOLE_NAMES.sub("syndrome", name))
    if not words or len(words) > max_words or len(name) < 3 or words[0] in _NOT_FIRST or set(words) & _NOT_IN_NAME:
        return None
    if not names_a_disease(name):
        return None
    return name[:1].upper() + name[1:]


def find_diseases(text: str) -> Iterator[str]:
    """The diseases that a text names somewhere: `our patient's renal cell carcinoma` has one."""
    for part in _BETWEEN_NAMES.split(join_whole_names(strip_marks(text))):
        words = part.split()
        ends = [
            place for place, word in enumerate(words, 1) if is_disease_like(word) and not _ABBREVIATION.fullmatch(word)
        ]
        if ends and (name := as_name(" ".join(words[max(0, ends[-1] - 5) : ends[-1]]))) and is_disease_like(name):
            yield name


def join_whole_names(text: str) -> str:
    """A text that is not divided inside the names of _WHOLE_NAMES; `as_name` gives them back as they were."""
    return _WHOLE_NAMES.sub(lambda name: name[0].replace(" ", _SPACE).replace(",", _COMMA), text)


def find_other_names(name: str, texts: Iterable[str]) -> list[str]:
    """Other and former names that an article gives a disease: in brackets beside it, or after "also known as"."""
    own = re.escape(name)
    called = re.compile(rf"\b{own}\s*[,(]?\s*(?:{_CALLED})\s+(?P<name>[^,.;()]+)", re.IGNORECASE)
    bracketed = re.compile(rf"\b{own}\s*\((?P<name>[^()]+)\)", re.IGNORECASE)
    before = re.compile(
        rf"(?P<name>[\w'’-]+(?: [\w'’-]+){{0,3}})\s*\(\s*(?:(?:now|currently|{_CALLED})\s+)*{own}\s*\)", re.IGNORECASE
    )
    others: list[str] = []
    for text in map(strip_marks, texts):
        others += [alias for match in called.finditer(text) if (alias := parse_name(match["name"]))]
        others += [alias for match in bracketed.finditer(text) if (alias := _bracketed_name(match["name"]))]
        others += [alias for match in before.finditer(text) if (alias := _last_name(match["name"]))]
    return [alias for alias in dict.fromkeys(others) if not same_disease(alias, [name], NO_SYNONYMS)]


def _bracketed_name(text: str) -> str | None:
    name = as_name(re.sub(rf"^(?:{_CALLED})\s+", "", text.strip(), flags=re.IGNORECASE), 6)
    return name if name and _DISEASE_LIKE.search(name) else None


def _last_name(text: str) -> str | None:
    """The longest end of a text that is a name: `Wegener's granulomatosis` of `tests for Wegener's granulomatosis`."""
    words = text.split()
    ends = (as_name(" ".join(words[first:]), 4) for first in range(len(words)) if words[first].lower() not in _JOINTS)
    return next((name for name in ends if name and _DISEASE_LIKE.search(name)), None)


def names_agree(one: str, other: str, synonyms: Synonyms) -> bool:
    """Whether two names mean the same diagnosis, one of them perhaps less exactly."""
    if same_disease(one, [other], synonyms):
        return True
    for a in (one, *diagnosis_cores(one)):
        for b in (other, *diagnosis_cores(other)):
            shorter, longer = sorted((set(content_words(a)), set(content_words(b))), key=len)
            if shorter and shorter <= longer and shorter - CLASS_WORDS and _has_head(shorter, longer, (a, b)):
                return True
    return False


def _has_head(shorter: set[str], longer: set[str], names: tuple[str, str]) -> bool:
    """Whether a single word is the kind of disease that the longer name is: `appendix` is not a tumor of it."""
    head = head_noun(next(name for name in names if set(content_words(name)) == longer))
    return len(shorter) > 1 or head is None or head in shorter


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


def expand_words(name: str, texts: Sequence[str]) -> str:
    """A name with an abbreviation in it as the article expands that: `autoimmune PAP`; other names unchanged."""
    words = name.split()
    expanded = [expand_abbreviation(word, texts) for word in words] if len(words) > 1 else words
    spelt = [full if full == word else full[:1].lower() + full[1:] for word, full in zip(words, expanded, strict=True)]
    return " ".join(spelt)


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
    abbreviated = re.compile(rf"{re.escape(name)}\s*\(\s*([A-Z][A-Za-z0-9-]{{1,7}})\s*\)", re.IGNORECASE)
    abbreviations = (match[1] for text in texts for match in abbreviated.finditer(text))
    return list(dict.fromkeys(short for short in abbreviations if sum(letter.isupper() for letter in short) >= 2))


def spell_as_in(name: str, texts: Iterable[str]) -> str:
    """A name with the capitals that running text gives it: titles capitalize every word."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    spellings = [match[0] for text in texts for match in pattern.finditer(text)]
    spelling = min(spellings, key=lambda text: sum(letter.isupper() for letter in text), default=None)
    if spelling is None:
        spelling = " ".join(word.lower() if word[1:].islower() and "'" not in word else word for word in name.split())
    return spelling[:1].upper() + spelling[1:]
