# ruff: noqa: E501 (patterns)
"""What a reply says against an option whose words it has: another species, a finding against it, a report of what was.

"Klebsiella oxytoca" has a word of "Klebsiella pneumoniae", "the nurse gave morphine" names a drug: neither chooses one.
"""

import re
from collections.abc import Sequence

from wardround.marking.parser.option_tokens import option_tokens, stems_of

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_PERSON = r"(?:patient|he|she|they|who|man|woman|child|boy|girl|baby|infant)"
_STAFF = (
    r"(?:nurses?|paramedics?|ambulance(?: crew)?|crew|midwife|pharmacist|mother|father|parents?|wife|husband|daughter|son|gp"
    r"|general practitioner|family doctor|dentist|referring (?:\w+ )?(?:doctor|physician|hospital))"
)
# what was, or what somebody else did: no choice
_REPORTED = re.compile(
    rf"\b{_PERSON} (?:is|are|was|were|has been|had been)(?: (?:already|currently|still|also))? on (?!the\b|this\b|an?\b)"
    rf"|\b{_STAFF} (?:\w+ )?(?:gave|give|gives|administered|started|tried|prescribed|used|ordered|requested)\b"
    r"|\A\W*known (?!as\b|to\b|for\b|by\b)|\bsince (?:childhood|birth|infancy|adolescence|the age of|(?:19|20)\d\d)\b|\byesterday\b",
    re.I,
)
# what the end of the sentence takes back: "suggestive of asthma, but spirometry is normal"
_TAKEN_BACK = re.compile(
    r"\b(?:suggest\w*|points? to|suspicious|consistent|compatible|indicat\w+)\b[^.;!?\n]*\b(?:but|yet|however),? (?!not\b|no\b|without\b)"
    r"[^.;!?\n]*\b(?:is|are|was|were|has|have|does|do|did)(?:n't)? (?:(?:entirely|completely|all) )?"
    r"(?:normal|negative|not|never|absent|unremarkable|excluded)\b[^.;!?\n]*\W*\Z"
)
_BINOMIAL = re.compile(r"\A\W*(?P<genus>[A-Z][a-z]{2,}(?:us|a|um|is|er|es|as)) (?P<species>[a-z]{4,})\W*\Z")
_NO_SPECIES = frozenset(
    [
        "species",
        "infection",
        "infections",
        "pneumonia",
        "sepsis",
        "meningitis",
        "colitis",
        "bacteria",
        "bacteremia",
        "bacteraemia",
        "endocarditis",
        "food",
        "gangrene",
        "abscess",
        "toxin",
        "keratitis",
        "gastroenteritis",
        "osteomyelitis",
        "enteritis",
        "cystitis",
        "fever",
        "spores",
        "septicaemia",
        "septicemia",
    ]
)


def is_reported(text: str, option: int, options: Sequence[str]) -> bool:
    """Whether every sentence with a word of the option only reports: "the patient is on warfarin"."""
    tokens = option_tokens(tuple(options))
    own = tokens.stems[option]
    sentences = [part for part in _SENTENCE_END.split(text) if not own.isdisjoint(stems_of(part, tokens.initials))]
    return bool(sentences) and all(map(_REPORTED.search, sentences))


def is_taken_back(text: str) -> bool:
    """Whether the reply ends with a finding against what it points to."""
    return _TAKEN_BACK.search(text) is not None


def names_another_species(text: str, option: str) -> bool:
    """Whether a reply names another species of an option's genus, and the option's own nowhere."""
    if (own := _BINOMIAL.match(option)) is None or own["genus"] not in text or own["species"] in text.lower():
        return False
    said = re.findall(rf"\b{own['genus']} ([a-z]{{5,}})\b", text)
    return any(word not in _NO_SPECIES and _is_epithet(word) for word in said)


def _is_epithet(word: str) -> bool:
    """Whether a word has the ending of a species: "oxytoca", "epidermidis", "pyogenes"."""
    return word.endswith(("a", "ae", "us", "um", "is", "i", "ens", "enes", "icus", "ans", "or", "ii", "ale", "iae"))
