"""How often the support test errs, on labelled pairs of a document and a diagnosis.

The pairs of support_labels.jsonl are ours: short texts in the manner of abstracts, written and labelled before the
rules were. A document supports a diagnosis if it speaks of it, under any name, as something that is, was or may be
there. It does not if it names it only to exclude it, to contrast with it, as a mistake, or in a relative. The rules
were tuned on one half, drawn by a hash of the text; figures are of the other. No document has two pairs with the same
label, so that pairs count as independent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from wardround.core.errors import BadInput
from wardround.marking.evidence.grounding import Test, supported
from wardround.measuring.validation.agreement_intervals import wilson

OURS = "support_labels.jsonl"
HELD_OUT = "held-out"


@dataclass(frozen=True)
class Labelled:
    """A document, a diagnosis with its other names, and whether a reader says that the one supports the other."""

    document: str
    diagnosis: str
    supports: bool
    accept: tuple[str, ...] = ()
    kind: str = ""
    part: str = HELD_OUT


class Rate(NamedTuple):
    """A share of n, with its Wilson interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class SupportError(NamedTuple):
    """Of the pairs that are supported the share that the test finds, and of the others the share that it leaves."""

    sensitivity: Rate
    specificity: Rate

    @property
    def n(self) -> int:
        return self.sensitivity.n + self.specificity.n


def support_error(test: Test = supported, pairs: Iterable[Labelled] | None = None) -> SupportError:
    """The error of a support test on labelled pairs: on the held-out half of ours, unless others are given."""
    pairs = [pair for pair in our_labels() if pair.part == HELD_OUT] if pairs is None else list(pairs)
    said = [(pair.supports, test([pair.diagnosis, *pair.accept], [pair.document])) for pair in pairs]
    return SupportError(
        _rate([bool(found) for label, found in said if label]), _rate([not found for label, found in said if not label])
    )


def _rate(right: list[bool]) -> Rate:
    n = len(right)
    if not n:
        return Rate(None, None, None, 0)
    return Rate(sum(right) / n, *wilson(sum(right) / n, n), n)


@cache
def our_labels() -> tuple[Labelled, ...]:
    """The pairs that come with the program, of both halves."""
    return tuple(read_labels(Path(str(resources.files(__package__))) / OURS))


def read_labels(file: Path) -> list[Labelled]:
    """Labelled pairs, one JSON object a line: document, diagnosis, supports, and other names in accept."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(file, f"cannot be read: {error}") from None
    return [_labelled(line, file, number) for number, line in enumerate(lines, 1) if line.strip()]


def _labelled(line: str, file: Path, number: int) -> Labelled:
    try:
        told: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(file, f"is not JSON: {error}", line=number) from None
    wanted = {"document": str, "diagnosis": str, "supports": bool}
    for field, kind in wanted.items():
        if not isinstance(told, dict) or not isinstance(told.get(field), kind):
            what = "true or false" if kind is bool else "a text"
            raise BadInput(file, f"expected {what}", line=number, field=field)
    accept = told.get("accept", [])
    if not isinstance(accept, list) or not all(isinstance(name, str) for name in accept):
        raise BadInput(file, "expected a list of names", line=number, field="accept")
    more = {name: str(told[name]) for name in ("kind", "part") if name in told}
    return Labelled(told["document"], told["diagnosis"], told["supports"], tuple(accept), **more)


@cache
def support_note() -> str:
    """What stands beside every grounded figure of the lexical test."""
    found = support_error()
    figures = (f"{name} {_told(rate)}" for name, rate in zip(("sensitivity", "specificity"), found, strict=True))
    return f"Support test: {', '.join(figures)} on {found.n} labelled pairs, ours"


def _told(rate: Rate) -> str:
    return f"{rate.value:.2f} ({rate.low:.2f} to {rate.high:.2f})"
