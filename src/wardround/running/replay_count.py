"""Found: what a replay through stored answers found, and what it did not."""

from __future__ import annotations

from dataclasses import dataclass

from wardround.asking.render import estimated_tokens
from wardround.core.ask import Ask

TOKENS_A_REPLY = 256  # our estimate where the study sets no limit


class NotStored(Exception):
    """While replaying: this Ask has no stored answer for so many trials."""

    def __init__(self, ask: Ask, trials: int) -> None:
        self.ask, self.trials = ask, trials


@dataclass
class Found:
    """What a replay found and did not find: answers, and about how many tokens the missing ones take."""

    stored: int = 0
    missing: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def count(self, not_stored: NotStored, left_in_unit: int) -> None:
        ask, answers = not_stored.ask, max(not_stored.trials, left_in_unit)
        self.missing += answers
        self.tokens_in += answers * estimated_tokens(ask.messages)
        most = ask.sampling.max_tokens
        self.tokens_out += answers * (TOKENS_A_REPLY if most is None else most)
