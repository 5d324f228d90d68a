"""The balance of a set: counts of patients, specialties, modalities, and of kinds of questions and answers."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from wardround.building.audit.shown_fields import answer_text, clean_questions
from wardround.core.case import Case
from wardround.core.names import content_words
from wardround.core.text import option_letter
from wardround.marking.slice_values import AGE_BANDS, age_band

NOT_STATED = "not told"
MAX_ANSWERS = 10
TITLES = {
    "split": "Split",
    "specialty": "Specialty",
    "sex": "Sex",
    "age": "Age",
    "modality": "Modality",
    "kind": "Kind of question",
    "options": "Options per choice",
    "gold": "Position of the right option",
    "answer": "Commonest answers",
}
QUESTION_KEYS = frozenset(["kind", "options", "gold", "answer"])
AGE_ORDER: list[str] = [*(name for _, name in AGE_BANDS), NOT_STATED]


@dataclass
class BalanceCounts:
    """Counts of cases or, for QUESTION_KEYS, of questions. A case counts in each of its modalities."""

    cases: int = 0
    questions: int = 0
    fields: set[str] = field(default_factory=set)  # that any case has
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {key: Counter() for key in TITLES})

    def total(self, key: str) -> int:
        """The total of which the counts of a key are shares."""
        if key in ("options", "gold"):
            return self.counts["kind"]["choice"]
        return self.questions if key in QUESTION_KEYS else self.cases

    def ordered(self, key: str) -> list[tuple[str, int]]:
        """The values of a key with their counts, in their natural order or else the most frequent first."""
        counts = self.counts[key]
        if key == "age":
            names = [name for name in AGE_ORDER if counts[name]]
        elif key in ("options", "gold"):
            names = sorted(counts, key=lambda name: (len(name), name))
        else:
            names = sorted(counts, key=lambda name: (name == NOT_STATED, -counts[name], name))
        return [(name, counts[name]) for name in names[: MAX_ANSWERS if key == "answer" else None]]

    def to_dict(self) -> dict[str, dict[str, int]]:
        return {key: dict(self.ordered(key)) for key in TITLES if self.counts[key]} | {
            "answers": {"distinct": len(self.counts["answer"])}
        }


def count_balance(cases: Iterable[Case]) -> BalanceCounts:
    """Counts everything in one pass."""
    balance = BalanceCounts()
    names: dict[tuple[str, ...], str] = {}  # each answer as it was first written
    for case in cases:
        patient, counts = case.patient, balance.counts
        balance.cases += 1
        balance.fields.update(name for name in case.model_fields_set if getattr(case, name))
        counts["split"][case.split or NOT_STATED] += 1
        counts["specialty"][case.specialty or NOT_STATED] += 1
        counts["sex"][(patient.sex if patient else None) or NOT_STATED] += 1
        counts["age"][age_band(patient.age) if patient and patient.age is not None else NOT_STATED] += 1
        counts["modality"].update({image.modality or NOT_STATED for image in case.images} or {"no images"})
        for question in clean_questions(case):
            balance.questions += 1
            counts["kind"][question.kind] += 1
            name = answer_text(question)
            counts["answer"][names.setdefault(content_words(name) or (name,), name)] += 1
            if isinstance(question.gold, int):
                counts["options"][str(len(question.choices))] += 1
                counts["gold"][option_letter(question.gold)] += 1
    return balance
