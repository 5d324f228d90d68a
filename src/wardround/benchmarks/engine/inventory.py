"""Holds: what a case set has, so that a study can be told to fit it or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from wardround.core.case import Case


@dataclass
class Holds:
    """How many cases or questions there are of each kind, by key; counted in one pass."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, cases: Iterable[Case]) -> Holds:
        held = cls()
        for case in cases:
            held._see(case)
        return held

    def has(self, key: str, value: str | None = None) -> bool:
        """Whether there is any such thing, or one of this value."""
        return bool(self.counts.get(key) if value is None else self.counts.get(key, {}).get(value))

    def _count(self, key: str, value: str | None) -> None:
        if value is not None:
            self.counts.setdefault(key, Counter())[value] += 1

    def _see(self, case: Case) -> None:
        self._count("specialty", case.specialty)
        self._count("split", case.split or "")
        for tag in case.tags:
            self._count("tag", tag)
        for telling in {"text", *case.tellings}:
            if case.told_as(telling) is not None:
                self._count("telling", telling)
        for part in ("history", "findings", "images", "references"):
            if getattr(case, part):
                self._count(part, "")
        modalities = {image.modality for image in case.images if image.modality}
        for modality in modalities:
            self._count("modality", modality)
        if len(modalities) > 1:
            self._count("modalities", "several")
        if case.patient is not None:
            self._count("sex", case.patient.sex)
            self._count("age_band", None if case.patient.age is None else "")
        stored = any(image.degradations for image in case.images)
        for question in case.questions:
            for key in ("kind", "skill", "capability", "task", "grade", "stage", "chain"):
                self._count(key, getattr(question, key))
            if question.degradations or stored:
                self._count("degraded", "stored" if stored else "assigned")
