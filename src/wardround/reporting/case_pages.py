"""Case pages: what each candidate was sent about a case, every answer, and how it was marked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wardround.core.condition import DEFAULTS
from wardround.reporting.templating import page, write_page

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Part:
    """A piece of a prompt: a text, or an image as a data URI with `text` as its caption."""

    text: str = ""
    image: str | None = None
    role: str = "user"


@dataclass(frozen=True)
class TrialView:
    """One answer and its mark. `option` is the index in the Case's own order."""

    trial: int
    text: str
    outcome: str
    option: int | None = None
    reasoning: str | None = None
    finish: str = ""
    confidence: float | None = None
    rule: str | None = None


@dataclass(frozen=True)
class AskView:
    """One prompt as one candidate got it, and what came back.

    `options` are in the Case's own order and `order` is that in which they were shown: order[i] is the own
    index of letter i. `slices` holds the slice values that are no axes, as specialty or stage.
    """

    candidate: str
    question: str
    condition: Mapping[str, str]
    prompt: tuple[Part, ...]
    gold: int | str | None
    trials: tuple[TrialView, ...]
    options: tuple[str, ...] = ()
    order: tuple[int, ...] | None = None
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def lettered(self) -> list[tuple[str, int, str]]:
        """Letter, own index and text of each option, as shown."""
        order = self.order if self.order is not None else tuple(range(len(self.options)))
        return [(_letter(place), own, self.options[own]) for place, own in enumerate(order)]

    @property
    def alike(self) -> list[tuple[str, TrialView]]:
        """The trials, those with the same answer and mark together: their numbers and one of them."""
        groups: dict[TrialView, list[int]] = {}
        for trial in self.trials:
            groups.setdefault(replace(trial, trial=0), []).append(trial.trial)
        return [(_numbers(numbers), trial) for trial, numbers in groups.items()]

    def chosen(self, option: int | None) -> str:
        """An option as the candidate saw it: its letter and its text."""
        return next((f"{letter}. {text}" for letter, own, text in self.lettered if own == option), "")


@dataclass(frozen=True)
class CaseView:
    """A case and everything asked about it. `facts` are printed as they are: age, sex, specialty ..."""

    id: str
    asks: tuple[AskView, ...]
    history: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Prompt:
    """One prompt and all the asks that share it, so that it is shown once."""

    question: str
    condition: Mapping[str, str]
    parts: list[tuple[Part, int | None, bool]]  # with an image's number, and whether it was shown before
    asks: list[AskView]

    @property
    def images(self) -> int:
        return sum(number is not None for _, number, _ in self.parts)


def write_cases(cases: Iterable[CaseView], folder: Path, *, run: str, report: str, order: Sequence[str] = ()) -> Path:
    """Writes a page per case and the list of all, one case in memory at a time; returns the list's path.

    Candidates stand in `order`, then as they come.
    """
    listed: list[dict[str, Any]] = []
    values: dict[tuple[str, str], int] = {}
    candidates = {name: place for place, name in enumerate(order)}
    previous: str | None = None
    for case, following in _with_next(cases):
        name = page_name(case.id)
        html = page(
            "case.html",
            case=case,
            prompts=prompts(case, order),
            run=run,
            report=report,
            previous=previous,
            following=page_name(following.id) if following else None,
        )
        write_page(folder / name, html)
        listed.append({"id": case.id, "page": name, "asks": _counted(case, values, candidates)})
        previous = name
    return write_page(
        folder / "index.html",
        page(
            "case_list.html",
            scripts=("theme.js", "filter.js"),
            run=run,
            report=report,
            cases=[(case["id"], case["page"], _totals(case["asks"], len(candidates))) for case in listed],
            candidates=list(candidates),
            keys={key: [value for name, value in values if name == key] for key, _ in values},
            data={"values": list(values), "candidates": list(candidates), "cases": [case["asks"] for case in listed]},
        ),
    )


def page_name(case: str) -> str:
    """A file name for any case id: safe on every file system, and never the same for two cases."""
    safe = re.sub(r"[^a-z0-9-]+", "-", case.lower()).strip("-")[:60]
    if safe != case or safe == "index":
        safe = f"{safe}-{hashlib.blake2b(case.encode(), digest_size=6).hexdigest()}".lstrip("-")
    return f"{safe}.html"


def prompts(case: CaseView, order: Sequence[str] = ()) -> list[Prompt]:
    """The asks of a case, those with the same prompt together, by question and condition, with images first.

    An image is embedded where it comes first.
    """
    groups: dict[Any, list[AskView]] = {}
    for ask in case.asks:
        key = (ask.question, tuple(sorted(ask.condition.items())), ask.prompt, ask.order)
        groups.setdefault(key, []).append(ask)
    questions = list(dict.fromkeys(question for question, *_ in groups))
    conditions = list(dict.fromkeys(condition for _, condition, *_ in groups))

    def place(key: Any) -> tuple[int, int, int]:
        question, condition, prompt, _ = key
        return questions.index(question), conditions.index(condition), -sum(bool(part.image) for part in prompt)

    images: dict[str, int] = {}
    found = []
    for key in sorted(groups, key=place):
        first, *_ = asks = sorted(
            groups[key], key=lambda ask: order.index(ask.candidate) if ask.candidate in order else len(order)
        )
        parts = []
        for part in first.prompt:
            again = part.image in images
            parts.append((part, images.setdefault(part.image, len(images) + 1) if part.image else None, again))
        found.append(Prompt(first.question, _named(first.condition), parts, asks))
    return found


def _named(condition: Mapping[str, str]) -> dict[str, str]:
    """The axes on which a condition differs from the default."""
    return {axis: value for axis, value in condition.items() if value != DEFAULTS.get(axis)}


def _numbers(numbers: list[int]) -> str:
    """Trial numbers in order, a run of them as first to last: 0 to 3, 5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _letter(place: int) -> str:
    return LETTERS[place] if place < len(LETTERS) else str(place + 1)


def _with_next(cases: Iterable[CaseView]) -> Iterator[tuple[CaseView, CaseView | None]]:
    current: CaseView | None = None
    for case in cases:
        if current is not None:
            yield current, case
        current = case
    if current is not None:
        yield current, None


def _counted(
    case: CaseView, values: dict[tuple[str, str], int], candidates: dict[str, int]
) -> list[tuple[int, list[int], list[int]]]:
    """Per ask: its candidate, the numbers of its slice values, and right, wrong, unparsed, unscored."""
    counted = []
    for ask in case.asks:
        belongs = [*ask.condition.items(), *((key, value) for key, many in ask.slices.items() for value in many)]
        outcomes = [trial.outcome for trial in ask.trials]
        counted.append(
            (
                candidates.setdefault(ask.candidate, len(candidates)),
                [values.setdefault(pair, len(values)) for pair in belongs],
                [outcomes.count(name) for name in ("right", "wrong", "unparsed", "unscored")],
            )
        )
    return counted


def _totals(asks: list[tuple[int, list[int], list[int]]], candidates: int) -> list[list[int] | None]:
    """Right, wrong, unparsed and unscored of each candidate; None where it was not asked."""
    totals: list[list[int] | None] = [None] * candidates
    for candidate, _, outcomes in asks:
        before = totals[candidate] or [0, 0, 0, 0]
        totals[candidate] = [a + b for a, b in zip(before, outcomes, strict=True)]
    return totals
