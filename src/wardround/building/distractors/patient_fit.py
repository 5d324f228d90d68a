"""Diagnoses that a patient's sex or age rules out: such an option is recognized as wrong without the case.

The words are our choice and few: they name an organ, a pregnancy or a time of life. `Infantile` and `neonatal` rule an
adult out, `senile` and `age-related` a child; a right answer is never ruled out.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from wardround.core.text import fold_accents

LEFT_OUT = "pairs of a patient and an option that sex or age rules out, not offered"  # as it is counted
ADULT = 18  # years
FERTILE = (10, 60)  # years, for a pregnancy
_PREGNANCY = (
    r"pregnan\w*|gestation\w*|(?:pre-?)?eclampsia|hellp|placent\w*|hydatidiform|puerper\w*|post-?partum"
    r"|peripartum|abruptio|hyperemesis gravidarum|amniotic|tubal pregnancy"
)
_FEMALE = re.compile(
    rf"\b(?:adnexal (?:mass|torsion)|hydrosalpinx|pyosalpinx|ha?ematocolpos|bartholin\w*|meigs"
    rf"|krukenberg|sheehan|asherman|mullerian|mayer-rokitansky\w*|pelvic inflammatory disease|lactation\w*|ovar\w+"
    rf"|uter(?:us|ine|i)|endometri\w+|adenomyo\w+|myometri\w+|vagin\w+|vulv\w+|fallopian|salping\w+"
    r"|tubo-?ovarian|menorrhagia|turner syndrome|polycystic ovary\w*|cervix|cervicitis"
    rf"|cervical (?:cancer|carcinoma|intraepithelial|dysplasia|insufficiency)|menopaus\w+|{_PREGNANCY})\b"
)
_MALE = re.compile(
    r"\b(?:prostat\w+|testi(?:s|cle|cular|cles)|seminoma|penile|penis|epididym\w+|scrot\w+|varicocele|hypospadias"
    r"|cryptorchidism|orchitis|balanitis|phimosis|priapism|klinefelter|peyronie\w*)\b"
)
_PREGNANT = re.compile(rf"\b(?:{_PREGNANCY})\b")
_OF_THE_YOUNG = re.compile(
    r"\b(?:neonat\w+|newborns?|prematurity|infantile|infancy|childhood|sudden infant"
    r"|biliary atresia|croup|laryngotracheobronchitis)\b"
)
_OF_THE_OLD = re.compile(
    r"\b(?:senile|age-related|presby\w+|(?:post-?|peri-?)?menopaus\w+|elderly|adult-onset|alzheimer\w*|polymyalgia"
    r"|(?:giant cell|temporal) arteritis|prostat(?:e|ic) hyper\w+)\b"
)


class PatientFacts(NamedTuple):
    """What is known of a patient that can rule a diagnosis out."""

    sex: str | None = None  # "F", "M"
    age: float | None = None  # years

    @classmethod
    def of(cls, sex: str | None, age: float | None) -> "PatientFacts":
        """From a sex as tables write it (F, female, m)."""
        letter = (sex or "").strip()[:1].upper()
        return cls(letter if letter in ("F", "M") else None, age)


ANY_PATIENT = PatientFacts()


@lru_cache(65_536)
def why_impossible(name: str, patient: PatientFacts) -> str | None:
    """Why this patient cannot have a disease of this name; None if nothing is known against it."""
    text = fold_accents(name)
    if patient.sex == "M" and _FEMALE.search(text):
        return "only women have it"
    if patient.sex == "F" and _MALE.search(text):
        return "only men have it"
    if patient.age is None:
        return None
    if patient.age >= ADULT and _OF_THE_YOUNG.search(text):
        return "it is a disease of the first years of life"
    if patient.age < ADULT and _OF_THE_OLD.search(text):
        return "it is a disease of adults"
    if not FERTILE[0] <= patient.age <= FERTILE[1] and _PREGNANT.search(text):
        return "it is a disease of pregnancy"
    return None


def is_picky(name: str) -> bool:
    """Whether there is a patient whom a name rules out."""
    text = fold_accents(name)
    return any(pattern.search(text) for pattern in (_FEMALE, _MALE, _OF_THE_YOUNG, _OF_THE_OLD))


def possible_options(names: Iterable[str], patient: PatientFacts) -> list[str]:
    """The names of diseases that the patient can have."""
    return [name for name in names if why_impossible(name, patient) is None]


class PatientFilter:
    """Which of a set's diseases, by number, each question's patient can have."""

    def __init__(self, names: Sequence[str], patients: Sequence[PatientFacts]) -> None:
        self._names, self._patients = names, patients
        self.picky = frozenset(number for number, name in enumerate(names) if is_picky(name))

    def accepts(self, question: int, disease: int) -> bool:
        return disease not in self.picky or why_impossible(self._names[disease], self._patients[question]) is None

    def count_impossible(self) -> int:
        """The pairs of a patient and a disease of the set that are never offered."""
        return sum(
            not self.accepts(question, disease) for question in range(len(self._patients)) for disease in self.picky
        )
