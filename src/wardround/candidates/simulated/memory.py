"""What a simulated respondent remembers of a case set, told when it is probed for leakage.

`memory` plants it: `none`; `gist` has learnt what the references say and tells it in other words; `verbatim` recites
them, the second halves of stems and the order of the options among them.
"""

from __future__ import annotations

import random
from math import ceil, log
from typing import Literal

from wardround.asking.options import seeded, written
from wardround.asking.probes import halves, reference_of
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Foretold

Memory = Literal["none", "gist", "verbatim"]
BITS = {"new": 2.0, "meant": 1.2, "known": 0.1}  # per byte
SPREAD = 0.2  # of the bits of each text about that
BYTES_A_TOKEN = 4
STRANGE = "There is nothing in particular that comes to mind about this patient, and more tests may be needed."


def recalled(request: Request, memory: Memory) -> Answer:
    """The answer to a probe."""
    text = request.ask.foretold
    if text is None:
        return Answer(_written(request, memory))
    spread = seeded("bits of a text", memory, request.case.id, text).uniform(-SPREAD, SPREAD)
    size, bits = len(text.encode()), BITS[_familiar(request, text, memory)]
    return Answer("", foretold=Foretold(-log(2) * size * bits * (1 + spread), ceil(size / BYTES_A_TOKEN), size))


def _familiar(request: Request, text: str, memory: Memory) -> str:
    question = request.question
    own_order = question.options and text == written(question.options, range(len(question.options)))
    if memory == "verbatim" and (own_order or text == reference_of(question)[0]):
        return "known"
    return "meant" if memory != "none" and text in (reference_of(question)[0], question.paraphrase) else "new"


def _written(request: Request, memory: Memory) -> str:
    question, cut = request.question, halves(request.case, request.question, request.condition)
    second = request.condition.probe.startswith("second-half")
    if memory == "none":
        return STRANGE
    own = cut[1] if second and cut else reference_of(question)[0]
    if memory == "verbatim":
        return own
    return _reworded(own, request) if second or not question.paraphrase else question.paraphrase


def _reworded(text: str, request: Request) -> str:
    """Some of its words, in another order."""
    words = text.split()
    numbers: random.Random = seeded("reworded", request.case.id, text)
    return " ".join(numbers.sample(words, ceil(len(words) / 2)))
