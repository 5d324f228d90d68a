"""What a case set contains, counted in one pass, so that a study can be checked against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from wardround.core.case import Case


@dataclass
class SetInventory:
    """Counts of cases or questions by key and value."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)

    @classmethod
    def from_cases(cls, cases: Iterable[Case]) -> SetInventory:
        inventory = cls()
        for case in cases:
            inventory._add(case)
        return inventory

    def has(self, key: str, value: str | None = None) -> bool:
        """Whether the set has any value of the key, or this one."""
        counts = self.counts.get(key, Counter())
        return bool(counts if value is None else counts.get(value))

    def _count(self, key: str, *values: str | None) -> None:
        for value in values:
            if value is not None:
                self.counts.setdefault(key, Counter())[value] += 1

    def _add(self, case: Case) -> None:
        self._count("specialty", case.specialty)
        self._count("split", case.split or "")
        self._count("tag", *case.tags)
        self._count("telling", *(name for name in {"text", *case.tellings} if case.telling_named(name) is not None))
        for part in ("history", "findings", "images", "references"):
            if getattr(case, part):
                self._count(part, "")
        modalities = {image.modality for image in case.images if image.modality}
        self._count("modality", *modalities)
        if len(modalities) > 1:
            self._count("modalities", "several")
        if case.patient is not None:
            self._count("sex", case.patient.sex)
            self._count("age_band", None if case.patient.age is None else "")
        for question in case.questions:
            for key in ("kind", "skill", "capability", "task", "grade", "stage", "chain"):
                self._count(key, getattr(question, key))
            shown = case.images if question.images is None else [case.images[number] for number in question.images]
            is_stored = any(image.degradations for image in shown)
            if question.degradations or is_stored:
                self._count("degraded", "stored" if is_stored else "assigned")
