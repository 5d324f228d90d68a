"""A model as judge of support: whether documents speak for a diagnosis, asked once for each distinct pair."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Identity, Sampling
from wardround.marking.grounding import supported
from wardround.marking.judge import YES_OR_NO, judge_request, stated, within

LONGEST_DOCUMENTS = 24_000  # characters that a judge is shown


def support_request(
    names: Sequence[str], documents: Sequence[str], identity: Identity, sampling: Sampling, prompts: Prompts
) -> Request:
    """Asks a judge whether the documents support the diagnosis that has these names, the first being its own."""
    shown = "\n".join(f"[{number}] {' '.join(document.split())}" for number, document in enumerate(documents, 1))
    diagnosis = f"{names[0]} (also: {'; '.join(names[1:])})" if len(names) > 1 else names[0]
    slots = {"diagnosis": within(diagnosis), "documents": shown[:LONGEST_DOCUMENTS]}
    gold = 0 if supported(names, documents) else 1
    return judge_request("support", slots, ["yes", "no"], gold, identity, sampling, prompts)


def read_support(answer: Answer | None) -> bool | None:
    """Whether the judge said yes; None where it said nothing that can be read."""
    return None if answer is None else stated(answer.text, YES_OR_NO)
