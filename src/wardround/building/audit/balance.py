"""Balance: who and what the cases are about, and how the questions are put, in counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from wardround.building.audit.shown import answer, asked_once
from wardround.core.case import Case
from wardround.marking.judges.lexical_judge import content
from wardround.marking.slice_values import AGE_BANDS, age_band

NOT_TOLD = "not told"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_ANSWERS = 10
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
OF_QUESTIONS = frozenset(["kind", "options", "gold", "answer"])
OLDEST_LAST = [name for _, name in AGE_BANDS]


@dataclass
class Balance:
    """Counts of cases or, for what is in OF_QUESTIONS, of questions. A case counts in each of its modalities."""

    cases: int = 0
    questions: int = 0
    fields: set[str] = field(default_factory=set)  # what any case has
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {key: Counter() for key in TITLES})

    def of(self, key: str) -> int:
        """What the counts of a key are shares of."""
        if key in ("options", "gold"):
            return self.counts["kind"]["choice"]
        return self.questions if key in OF_QUESTIONS else self.cases

    def ordered(self, key: str) -> list[tuple[str, int]]:
        """The values of a key with their counts: by nature where they have an order, else the most frequent first."""
        counts = self.counts[key]
        if key == "age":
            names: list[str] = [
                *(name for name in OLDEST_LAST if counts[name]),
                *([NOT_TOLD] if counts[NOT_TOLD] else []),
            ]
        elif key in ("options", "gold"):
            names = sorted(counts, key=lambda name: (len(name), name))
        else:
            names = sorted(counts, key=lambda name: (name == NOT_TOLD, -counts[name], name))
        return [(name, counts[name]) for name in names[: MOST_ANSWERS if key == "answer" else None]]

    def told(self) -> dict[str, dict[str, int]]:
        return {key: dict(self.ordered(key)) for key in TITLES if self.counts[key]} | {
            "answers": {"distinct": len(self.counts["answer"])}
        }


def balance(cases: Iterable[Case]) -> Balance:
    """Counts everything in one pass."""
    found = Balance()
    names: dict[tuple[str, ...], str] = {}  # an answer is told as it was first written
    for case in cases:
        patient, count = case.patient, found.counts
        found.cases += 1
        found.fields.update(name for name in case.model_fields_set if getattr(case, name))
        count["split"][case.split or NOT_TOLD] += 1
        count["specialty"][case.specialty or NOT_TOLD] += 1
        count["sex"][(patient.sex if patient else None) or NOT_TOLD] += 1
        count["age"][age_band(patient.age) if patient and patient.age is not None else NOT_TOLD] += 1
        count["modality"].update({image.modality or NOT_TOLD for image in case.images} or {"no images"})
        for question in asked_once(case):
            found.questions += 1
            count["kind"][question.kind] += 1
            name = answer(question)
            count["answer"][names.setdefault(content(name) or (name,), name)] += 1
            if isinstance(question.gold, int):
                count["options"][str(len(question.choices))] += 1
                count["gold"][LETTERS[question.gold] if question.gold < len(LETTERS) else str(question.gold + 1)] += 1
    return found
