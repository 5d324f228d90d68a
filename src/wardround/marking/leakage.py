"""Marks of probes: how well a text was foretold, or how alike what was written is. They are no answers to a question.

So they have no outcome, and no measure of answers takes them in.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from wardround.asking.probes import Probes, foretells
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.marking.parser.clean import spoken
from wardround.marking.text_similarity import eds, rouge_l

LEAKAGE_SCHEMA: dict[str, Any] = {
    "logprob": pl.Float64,
    "tokens": pl.Int32,
    "bytes": pl.Int32,
    "rouge_l": pl.Float64,
    "eds": pl.Float64,
}


def probe_mark(
    answer: Answer, case: Case, question: Question, condition: Condition, probes: Probes
) -> dict[str, Any] | None:
    """What a probe found; `rule` says what sort of text it was. None where nothing was told."""
    rule = {"rule": probes.kind(case, question, condition)}
    if not foretells(condition.probe):
        written, text = spoken(answer.text), probes.text(case, question, condition)
        return rule | {"rouge_l": rouge_l(written, text), "eds": eds(written, text)}
    return None if answer.foretold is None else rule | answer.foretold._asdict()
