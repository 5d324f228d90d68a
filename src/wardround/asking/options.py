"""The order in which options are shown, and how they are formatted."""

from collections.abc import Sequence
from functools import cache

from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.random import seeded
from wardround.core.text import LETTERS


def option_order(case: Case, question: Question, condition: Condition, trial: int, seed: int) -> tuple[int, ...]:
    """order[i] is the case's own index of the option shown at letter i; empty for an open question."""
    if question.options is None:
        return ()
    if condition.options == "as-given":
        return _own_order(len(question.options))
    order = list(range(len(question.options)))
    if condition.options == "shuffled":
        # a degraded question is shown like its clean twin, so that nothing else differs
        seeded("options", seed, case.id, question.of or question.id).shuffle(order)
    elif condition.options == "rotated":
        offset = trial % len(order)
        order = order[offset:] + order[:offset]
    return tuple(order)


def depends_on_trial(condition: Condition) -> bool:
    """Whether trials show the options in different orders."""
    return condition.options == "rotated"


@cache
def _own_order(count: int) -> tuple[int, ...]:
    return tuple(range(count))


def format_options(options: Sequence[str], order: Sequence[int]) -> str:
    """`A. text`, one per line."""
    return "\n".join([f"{LETTERS[position]}. {options[index]}" for position, index in enumerate(order)])
