"""The error rates of the support test, on labelled pairs of a document and a diagnosis.

The pairs of support_labels.jsonl are ours: short texts in the style of abstracts. A document supports a diagnosis if it
mentions it, under any name, as present, past or possible. It does not if it names it only to exclude it, as a contrast,
as a mistake, in a relative, as a suspicion that gave way to another finding, or if it names another subtype. The first
178 pairs were written before there were rules. The `hard` ones were written later, before their author read the rules,
with phrases that are difficult on purpose. The rules were tuned on the parts `tuning`, drawn by a hash of the text. The
`independent` ones are by another author, who had read docs/judges.md and no rule; nothing was mended after they were
read, and their figures are printed. No document has two pairs with the same label, so pairs count as independent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wardround.core.errors import BadInput
from wardround.marking.evidence.grounding import SupportTest, is_supported
from wardround.measuring.engine.wilson import wilson
from wardround.measuring.validation.judge_labels import json_rows

OURS = "support_labels.jsonl"
PARTS = ("held-out", "tuning", "hard held-out", "hard tuning", "independent")
PRINTED = "independent"


@dataclass(frozen=True)
class LabelledPair:
    """A document, a diagnosis with its synonyms, and a reader's label: does the document support the diagnosis?"""

    document: str
    diagnosis: str
    supports: bool
    accept: tuple[str, ...] = ()
    kind: str = ""
    part: str = PRINTED


class Rate(NamedTuple):
    """A share of n, with its Wilson interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class SupportError(NamedTuple):
    """The sensitivity and specificity of a support test."""

    sensitivity: Rate
    specificity: Rate

    @property
    def n(self) -> int:
        return self.sensitivity.n + self.specificity.n


def support_error(test: SupportTest = is_supported, pairs: Iterable[LabelledPair] | None = None) -> SupportError:
    """The error rates of a support test on labelled pairs (default: the independent ones of ours)."""
    pairs = [pair for pair in our_labels() if pair.part == PRINTED] if pairs is None else list(pairs)
    results = [(pair.supports, bool(test([pair.diagnosis, *pair.accept], [pair.document]))) for pair in pairs]
    right = {label: [result is label for truth, result in results if truth is label] for label in (True, False)}
    return SupportError(share_of(right[True]), share_of(right[False]))


def share_of(right: Sequence[bool]) -> Rate:
    """The share of what is true, with its interval."""
    n = len(right)
    if not n:
        return Rate(None, None, None, 0)
    low, high = wilson(np.array(sum(right) / n), np.array(float(n)))
    return Rate(sum(right) / n, float(low), float(high), n)


@cache
def our_labels() -> tuple[LabelledPair, ...]:
    """The pairs that ship with the program, of all parts."""
    return tuple(read_labels(Path(str(resources.files(__package__))) / OURS))


def read_labels(file: Path) -> list[LabelledPair]:
    """Labelled pairs, one JSON object a line: document, diagnosis, supports, and other names in accept."""
    return [_labelled(record, file, number) for number, record in json_rows(file)]


def _labelled(record: Mapping[str, Any], file: Path, number: int) -> LabelledPair:
    wanted = {"document": str, "diagnosis": str, "supports": bool}
    for field, kind in wanted.items():
        if not isinstance(record.get(field), kind):
            expected = "true or false" if kind is bool else "a text"
            raise BadInput(file, f"expected {expected}", line=number, field=field)
    accept = record.get("accept", [])
    if not isinstance(accept, list) or not all(isinstance(name, str) for name in accept):
        raise BadInput(file, "expected a list of names", line=number, field="accept")
    optional = {name: str(record[name]) for name in ("kind", "part") if name in record}
    return LabelledPair(record["document"], record["diagnosis"], record["supports"], tuple(accept), **optional)


@cache
def support_note() -> str:
    """The note printed with grounded figures of the lexical test."""
    errors = support_error()
    rates = (f"{name} {_format_rate(rate)}" for name, rate in zip(("sensitivity", "specificity"), errors, strict=True))
    source = "ours, of difficult phrases, by an author who had not read the rules"
    return f"Support test: {', '.join(rates)} on {errors.n} labelled pairs, {source}"


def _format_rate(rate: Rate) -> str:
    return f"{rate.value:.2f} ({rate.low:.2f} to {rate.high:.2f})"
