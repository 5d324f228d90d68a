# ruff: noqa: E501 (patterns)
"""What a reply says against an option whose words it has: another species, a finding against it, a report of what was.

"Klebsiella oxytoca" has a word of "Klebsiella pneumoniae", "the nurse gave morphine" names a drug: neither chooses one.
"""

import re
from collections.abc import Sequence

from wardround.core.text import LETTERS
from wardround.marking.parser.option_tokens import WORDS, initials_of, long_name, option_tokens, stems_of

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
MAX_SHORT = 3  # letters of a word that may be an abbreviation: "AV"
_GRADED = frozenset(("degre", "grade", "stage", "type"))  # these have other names: "CHB" is a third-degree block
_LETTERS = re.compile(r"(?<![\w-])[A-Z]{2,6}(?![\w-])")
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


def names_another(text: str, option: int, options: Sequence[str]) -> bool:
    """Whether a reply names something else than the option that it was read as, or takes back what it points to."""
    if is_taken_back(text) or names_another_species(text, options[option]):
        return True
    return names_another_by_letters(text, option, options)


def is_reported(text: str, option: int, options: Sequence[str]) -> bool:
    """Whether every sentence with a word of the option only reports: "the patient is on warfarin"."""
    tokens = option_tokens(tuple(options))
    own = tokens.stems[option]
    sentences = [part for part in _SENTENCE_END.split(text) if not own.isdisjoint(stems_of(part, tokens.initials))]
    return bool(sentences) and all(map(_REPORTED.search, sentences))


def is_taken_back(text: str) -> bool:
    """Whether the reply ends with a finding against what it points to."""
    return _TAKEN_BACK.search(text) is not None


def names_another_by_letters(text: str, option: int, options: Sequence[str]) -> bool:
    """Whether a reply has an abbreviation of something like the option, and nothing that tells the option from it.

    "PSC" shares two words with "Primary biliary cholangitis": without "biliary", it is not meant.
    """
    letters = set(_LETTERS.findall(text))
    if not letters or re.search(rf"\b{LETTERS[option]}\b", text):
        return False
    tokens = option_tokens(tuple(options))
    own = tokens.stems[option] - WORDS["idle"]
    said = frozenset(stems_of(text, tokens.initials))
    for short in letters:
        meant = long_name(short)
        is_alike = 2 * len(meant & own) >= len(meant) and short not in initials_of(options[option])
        unsaid = own - meant
        is_unsaid = said.isdisjoint(unsaid) and unsaid.isdisjoint(_GRADED)
        if is_alike and is_unsaid and meant - own and any(len(word) > MAX_SHORT for word in unsaid):
            return True
    return False


def names_another_species(text: str, option: str) -> bool:
    """Whether a reply names another species of an option's genus, and the option's own nowhere."""
    if (own := _BINOMIAL.match(option)) is None or own["genus"] not in text or own["species"] in text.lower():
        return False
    said = re.findall(rf"\b{own['genus']} ([a-z]{{5,}})\b", text)
    return any(word not in _NO_SPECIES and _is_epithet(word) for word in said)


def _is_epithet(word: str) -> bool:
    """Whether a word has the ending of a species: "oxytoca", "epidermidis", "pyogenes"."""
    return word.endswith(("a", "ae", "us", "um", "is", "i", "ens", "enes", "icus", "ans", "or", "ii", "ale", "iae"))
