"""A simulated respondent's memory of a case set, as leakage probes see it.

`memory` is `none`; `gist` knows what the references say, in other words; `verbatim` recites them, including the
second halves of stems and the order of the options.
"""

import random
from math import ceil, log
from typing import Literal

from wardround.asking.options import format_options
from wardround.asking.probes import halves, reference_of
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, TextLogprob
from wardround.core.random import seeded

Memory = Literal["none", "gist", "verbatim"]
BITS_PER_BYTE = {"new": 2.0, "gist": 1.2, "verbatim": 0.1}
SPREAD = 0.2  # of the bits of each text around that
BYTES_PER_TOKEN = 4
UNFAMILIAR_REPLY = "There is nothing in particular that comes to mind about this patient, and more tests may be needed."


def answer_probe(request: Request, memory: Memory) -> Answer:
    """The answer to a probe."""
    text = request.ask.scored_text
    if text is None:
        return Answer(_write_continuation(request, memory))
    spread = seeded("bits of a text", memory, request.case.id, text).uniform(-SPREAD, SPREAD)
    size, bits = len(text.encode()), BITS_PER_BYTE[_familiarity(request, text, memory)]
    return Answer(
        "", text_logprob=TextLogprob(-log(2) * size * bits * (1 + spread), ceil(size / BYTES_PER_TOKEN), size)
    )


def _familiarity(request: Request, text: str, memory: Memory) -> str:
    question = request.question
    own_order = question.options and text == format_options(question.options, range(len(question.options)))
    if memory == "verbatim" and (own_order or text == reference_of(question)[0]):
        return "verbatim"
    return "gist" if memory != "none" and text in (reference_of(question)[0], question.paraphrase) else "new"


def _write_continuation(request: Request, memory: Memory) -> str:
    question, cut = request.question, halves(request.case, request.question, request.condition)
    is_second_half = request.condition.probe.startswith("second-half")
    if memory == "none":
        return UNFAMILIAR_REPLY
    own = cut[1] if is_second_half and cut else reference_of(question)[0]
    if memory == "verbatim":
        return own
    return _reword(own, request) if is_second_half or not question.paraphrase else question.paraphrase


def _reword(text: str, request: Request) -> str:
    """Some of its words, in another order."""
    words = text.split()
    rng: random.Random = seeded("reworded", request.case.id, text)
    return " ".join(rng.sample(words, ceil(len(words) / 2)))
