"""TokenEstimator: what the missing answers of one candidate will be billed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import Any, NamedTuple

from wardround.core.ask import Ask
from wardround.core.study import CandidateSettings
from wardround.running.budget import price
from wardround.running.estimates.ask_size import NO_SIZE, TOKENS_PER_REPLY, AskSize, image_sizes, measure_ask
from wardround.running.estimates.calibration import MANY, fit_rates
from wardround.running.sentinel import ONE_IN
from wardround.running.store import AnswerStore

Group = tuple[int, str]  # number of the condition, kind of the question: their replies are alike in length


class TokenEstimate(NamedTuple):
    """The tokens of prompts and replies; `is_measured` if they are scaled by what the server billed before."""

    tokens_in: int
    tokens_out: int
    is_measured: bool

    def to_manifest(self, settings: CandidateSettings) -> dict[str, Any]:
        cost = price(settings, self.tokens_in, self.tokens_out)
        return {**self._asdict(), "cost": cost}


@dataclass
class _Bought:
    """All calls for one Ask."""

    calls: int = 0
    answers: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    most_at_once: int = 0


@dataclass
class _Missing:
    """The missing answers of one group: the prompts of their requests, their number, and how long they may be."""

    prompts: AskSize = NO_SIZE
    requests: int = 0
    answers: int = 0
    max_tokens: int | None = None  # of one answer


@dataclass
class _Replies:
    """The observed replies of one group."""

    answers: int = 0
    tokens: int = 0

    @property
    def mean(self) -> float:
        return self.tokens / self.answers


@dataclass
class TokenEstimator:
    """Collects the Asks of a replay: bought ones say what the server bills, missing ones what is left to buy."""

    settings: CandidateSettings
    is_billed: bool = True  # or the candidate needs no tokens
    max_trials: int | None = None  # of one request, as far as is known
    _bought: dict[bytes, _Bought] = field(default_factory=dict)
    _prompts: list[tuple[AskSize, float]] = field(default_factory=list)
    _replies: dict[Group, _Replies] = field(default_factory=lambda: defaultdict(_Replies))
    _missing: dict[Group, _Missing] = field(default_factory=lambda: defaultdict(_Missing))
    _counted: set[bytes] = field(default_factory=set)
    _measured: tuple[Ask, AskSize] | None = None  # the latest
    _unmeasured: list[tuple[Callable[[], Ask], float]] = field(default_factory=list)  # stored ones with their tokens in

    @classmethod
    def from_store(
        cls, settings: CandidateSettings, store: AnswerStore, *, is_billed: bool, supports_multiple: bool
    ) -> TokenEstimator:
        """With the candidate's latest calls, of whatever study."""
        estimator = cls(settings, is_billed, None if supports_multiple else 1)
        if is_billed:
            estimator._add_calls(store.latest_calls(settings.name, MANY))
        return estimator

    def _add_calls(self, calls: Iterable[tuple[bytes, int, int, int]]) -> None:
        for ask, answers, tokens_in, tokens_out in calls:
            bought = self._bought.setdefault(ask, _Bought())
            bought.calls += 1
            bought.answers += answers
            bought.tokens_in += tokens_in
            bought.tokens_out += tokens_out
            bought.most_at_once = max(bought.most_at_once, answers)
        repeated = [bought.most_at_once for bought in self._bought.values() if bought.answers > 1]
        if repeated and self.max_trials is None:
            self.max_trials = max(repeated)

    def has_call(self, key: bytes) -> bool:
        """Whether a call for this Ask is known that was not learnt from yet."""
        return key in self._bought

    def add_stored(self, key: bytes, group: Group, make_ask: Callable[[], Ask]) -> None:
        """Learns from a stored answer, if its call is known. The Ask is made only if something is to be estimated."""
        if (bought := self._bought.pop(key, None)) is None:
            return
        if bought.tokens_in:
            self._unmeasured.append((make_ask, bought.tokens_in / bought.calls))
        self._replies[group].answers += bought.answers
        self._replies[group].tokens += bought.tokens_out

    def _measure_stored(self) -> None:
        for make_ask, billed in self._unmeasured:
            size = self.measure(make_ask())
            if self.settings.tokens_per_image is not None:  # what images take is known
                size, billed = AskSize(size.text), max(1.0, billed - size.by_family)
            self._prompts.append((size, billed))
        self._unmeasured = []

    def add_missing(self, ask: Ask, group: Group, answers: int) -> None:
        """Counts missing answers to one Ask; requests for several of them share the prompt."""
        if not self.is_billed or ask.key[:8] in self._counted:  # one condition may ask the same as another
            return
        self._counted.add(ask.key[:8])
        requests, missing = ceil(answers / (self.max_trials or answers)), self._missing[group]
        missing.prompts = missing.prompts.plus(self.measure(ask), requests)
        missing.requests += requests
        missing.answers += answers
        missing.max_tokens = ask.sampling.max_tokens

    def measure(self, ask: Ask) -> AskSize:
        """The size of an Ask. That of the latest one is kept: planning needs it twice."""
        if self._measured is None or self._measured[0] is not ask:
            self._measured = (ask, measure_ask(ask, image_sizes(ask), self.settings))
        return self._measured[1]

    @property
    def estimate(self) -> TokenEstimate:
        """The tokens of all missing answers, and of the requests that are repeated at the end of a run."""
        is_measured = bool(self._prompts or self._unmeasured or self._replies)
        if not self._missing:
            return TokenEstimate(0, 0, is_measured)
        self._measure_stored()
        rates, tokens_in, tokens_out = fit_rates(self._prompts), 0.0, 0.0
        for group, missing in self._missing.items():
            repeated = 1 / ONE_IN if self.settings.base_url is not None else 0.0
            tokens_in += (1 + repeated) * rates.tokens(missing.prompts)
            tokens_out += (missing.answers + repeated * missing.requests) * self._reply_tokens(group, missing)
        return TokenEstimate(round(tokens_in), round(tokens_out), is_measured)

    def _reply_tokens(self, group: Group, missing: _Missing) -> float:
        """Of one answer: the mean of its group, else that of all replies, else the most that is allowed."""
        if group in self._replies:
            return self._replies[group].mean
        answers = sum(replies.answers for replies in self._replies.values())
        if not answers:
            return TOKENS_PER_REPLY if missing.max_tokens is None else missing.max_tokens
        mean = sum(replies.tokens for replies in self._replies.values()) / answers
        return mean if missing.max_tokens is None else min(mean, missing.max_tokens)
