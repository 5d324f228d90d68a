"""Questions to a candidate without a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from wardround.asking.options import format_options
from wardround.candidates.candidate import Candidate, Request
from wardround.candidates.registry import make_candidate
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Ask, Message, Sampling
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.study import CandidateSettings
from wardround.core.text import LETTERS

LOOP = asyncio.new_event_loop()
PLAIN = Condition()
VERBAL = Condition(confidence="verbal")


def candidate(provider: str, extra_body: dict[str, Any] | None = None, **settings: Any) -> Candidate:
    fields = {"name": provider, "provider": provider, "extra_body": extra_body or {}, **settings}
    return make_candidate(CandidateSettings(**fields))


def choice(number: int, options: int = 4, gold: int | None = None, **fields: Any) -> Case:
    """A case with one choice question; golds go round."""
    own = {name: fields.pop(name) for name in list(fields) if name in Question.model_fields.keys() - {"images"}}
    question = {
        "id": "mcq",
        "kind": "choice",
        "prompt": f"Question {number}?",
        "options": [f"text {letter}" for letter in LETTERS[:options]],
        "gold": number % options if gold is None else gold,
        **own,
    }
    return Case.model_validate({"id": f"c{number}", "questions": [question], **fields})


def open_case(number: int) -> Case:
    question = {"id": "open", "kind": "open", "prompt": f"Case {number}?", "gold": f"Disease {number}"}
    return Case.model_validate({"id": f"c{number}", "questions": [question]})


def query(
    to: Candidate,
    case: Case,
    trials: Sequence[int] = (0,),
    order: Sequence[int] | None = None,
    images: tuple[EncodedImage, ...] = (),
    sampling: Sampling | None = None,
    condition: Condition = PLAIN,
) -> list[Answer]:
    """The answers to the case's first question."""
    question = case.questions[0]
    shown = tuple(order if order is not None else range(len(question.options or ())))
    text = question.prompt + format_options(question.options or (), shown) + "".join(image.sha256 for image in images)
    ask = Ask(to.identity, sampling or Sampling(), (Message("user", (text,)),))
    request = Request(ask, case, question, condition, shown, tuple(trials), 0, images)
    answers = LOOP.run_until_complete(to.answer(request)).answers
    assert len(answers) == len(trials)
    return answers


def prepared(to: Candidate, cases: CaseSet) -> Candidate:
    LOOP.run_until_complete(to.prepare(cases))
    return to


def letters(answers: Sequence[Answer]) -> list[str]:
    return [answer.text[:1] for answer in answers]
