"""The questions of a study that other harnesses can ask: one Ask each, without chains, searches and an answer store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from wardround.asking.prompts import Prompts
from wardround.asking.render import RenderedAsk, Renderer
from wardround.asking.units import select_questions
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import CandidateSettings, Study
from wardround.running.plan import TRAINING

CANDIDATE = CandidateSettings(name="model", provider="random")  # the other harness names the model
IN_CHAIN = "it belongs to a chain, whose earlier answers are carried to it"


@dataclass(frozen=True)
class SingleAsk:
    """One question of a case under one condition."""

    case: Case
    question: Question
    condition: Condition


@dataclass
class SingleAsks:
    """What a study asks singly; `left_out` counts, after all were listed, what was not asked and why."""

    study: Study
    cases: CaseSet
    kinds: tuple[str, ...] = ("choice",)  # of questions that the other harness can mark
    left_out: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._renderer = Renderer(self.study, self.cases, Prompts(None, self.study.prompts), lambda path: "")

    def __iter__(self) -> Iterator[SingleAsk]:
        self.left_out.clear()
        for case in self.cases:
            for question in select_questions(case, self.study):
                for condition in self.study.all_conditions:
                    reason = self._inapplicable_reason(case, question, condition)
                    if reason is None:
                        yield SingleAsk(case, question, condition)
                    else:
                        self.left_out[reason] += 1

    def _inapplicable_reason(self, case: Case, question: Question, condition: Condition) -> str | None:
        if case.split == TRAINING:
            return "the case is for training, and is not examined"
        if question.kind not in self.kinds:
            return f"it is not a {' or '.join(self.kinds)} question but {question.kind}"
        if (question.chain is not None or question.given) and condition.carry == "own":
            return IN_CHAIN
        return self._renderer.inapplicable_reason(case, question, condition)

    def render(self, asked: SingleAsk, trial: int) -> RenderedAsk:
        """The messages of a trial, and the order of the options in them."""
        case, question, condition = asked.case, asked.question, asked.condition
        carried = self._renderer.carried_texts(case, question, condition, {}) if question.given else None
        return self._renderer.render(case, question, condition, CANDIDATE, CANDIDATE.identity, trial, carried)
