"""Judge `initials`: two diagnoses are the same if their words begin with the same letters. Not for real use."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.core.study import JudgeSettings
from wardround.marking.judges.judge import DiagnosisPair


class Initials:
    name = "initials-1"

    def __init__(self, settings: JudgeSettings) -> None:
        self.settings = settings

    def verdicts(self, pairs: Sequence[DiagnosisPair]) -> list[bool | None]:
        return [initials(pair.gold) == initials(pair.diagnosis) for pair in pairs]


def initials(name: str) -> str:
    return "".join(word[0].lower() for word in name.split())
