"""In which order options are shown, and how they are written."""

from __future__ import annotations

import random
from collections.abc import Sequence

from wardround.core.canonical import blake
from wardround.core.case import Case, Question
from wardround.core.condition import Condition

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def seeded(*names: object) -> random.Random:
    """A stream of random numbers named by what it is for: the same on every machine and restart."""
    return random.Random(int.from_bytes(blake([str(name) for name in names])[:8], "big"))


def option_order(case: Case, question: Question, condition: Condition, trial: int, seed: int) -> tuple[int, ...]:
    """order[i] is the case's own index of the option shown at letter i; empty for an open question."""
    if question.options is None:
        return ()
    order = list(range(len(question.options)))
    if condition.options == "shuffled":
        # a degraded question is shown like its clean twin, so that nothing else differs
        seeded("options", seed, case.id, question.of or question.id).shuffle(order)
    elif condition.options == "rotated":
        by = trial % len(order)
        order = order[by:] + order[:by]
    return tuple(order)


def written(options: Sequence[str], order: Sequence[int]) -> str:
    """`A. text`, one a line."""
    return "\n".join(f"{LETTERS[place]}. {options[index]}" for place, index in enumerate(order))
