"""A model as judge of support: whether documents speak for a diagnosis, asked once for each distinct pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Identity, Sampling
from wardround.core.canonical import blake
from wardround.marking.evidence.grounding import supported
from wardround.marking.judges.model_judge import YES_OR_NO, judge_request, stated, within

LONGEST_DOCUMENTS = 24_000  # characters that a judge is shown


class SupportPair(NamedTuple):
    """A diagnosis by all its names, and documents that may support it."""

    names: tuple[str, ...]
    documents: tuple[str, ...]

    @property
    def key(self) -> bytes:
        return blake([list(self.names), list(self.documents)])


@dataclass
class Wanted:
    """A support test that only notes what is to be asked."""

    pairs: dict[bytes, SupportPair] = field(default_factory=dict)

    def __call__(self, names: Sequence[str], documents: Sequence[str]) -> bool | None:
        if documents:
            pair = SupportPair(tuple(names), tuple(documents))
            self.pairs.setdefault(pair.key, pair)
        return None


@dataclass
class Supported:
    """The support test of a judge: what it said of each pair. Where nothing was shown, nothing is supported."""

    verdicts: Mapping[bytes, bool | None]

    def __call__(self, names: Sequence[str], documents: Sequence[str]) -> bool | None:
        return self.verdicts.get(SupportPair(tuple(names), tuple(documents)).key) if documents else False


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
