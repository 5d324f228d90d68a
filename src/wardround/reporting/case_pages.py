"""Case pages: the prompts about a case, every candidate's answers, and their marks."""

import hashlib
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from wardround.core.condition import DEFAULTS
from wardround.core.files import write_file
from wardround.core.study import OUTCOMES
from wardround.core.text import option_letter
from wardround.reporting.templating import page, write_page

IMAGES, EMBEDDED = "images", "data:image/"
AskCounts = tuple[int, list[int], list[int]]  # candidate; its slice values; count of each outcome


@dataclass(frozen=True)
class PromptPart:
    """A part of a prompt: a text, or an image as a data URI or an address, with `text` as its caption."""

    text: str = ""
    image: str | None = None


@dataclass(frozen=True)
class TrialView:
    """One answer and its mark. `option` is the index in the case's own order."""

    trial: int
    text: str
    outcome: str
    option: int | None = None
    reasoning: str | None = None
    finish: str = ""
    confidence: float | None = None
    rule: str | None = None
    criteria: tuple[str, ...] = ()  # of a rubric answer: each verdict in words


@dataclass(frozen=True)
class AskView:
    """One prompt as sent to one candidate, and its answers.

    `options` are in the case's own order; `order[i]` is the own index of the option shown at letter i. `slices` holds
    the slice values other than axes, such as specialty or stage.
    """

    candidate: str
    question: str
    condition: Mapping[str, str]
    prompt: tuple[PromptPart, ...]
    gold: int | str | None
    trials: tuple[TrialView, ...]
    options: tuple[str, ...] = ()
    order: tuple[int, ...] | None = None
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def lettered_options(self) -> list[tuple[str, int, str]]:
        """Letter, own index and text of each option, in the order shown."""
        order = self.order if self.order is not None else tuple(range(len(self.options)))
        return [(option_letter(place), own, self.options[own]) for place, own in enumerate(order)]

    @property
    def distinct_trials(self) -> list[tuple[str, TrialView]]:
        """Trials with the same answer and mark as one: their numbers and one of them."""
        numbers_by_trial: dict[TrialView, list[int]] = {}
        for trial in self.trials:
            numbers_by_trial.setdefault(replace(trial, trial=0), []).append(trial.trial)
        return [(_format_ranges(numbers), trial) for trial, numbers in numbers_by_trial.items()]

    def option_text(self, option: int | None) -> str:
        """An option as shown to the candidate: its letter and its text."""
        return next((f"{letter}. {text}" for letter, own, text in self.lettered_options if own == option), "")


@dataclass(frozen=True)
class CaseView:
    """A case and everything asked about it. `facts` are printed unchanged: age, sex, specialty ..."""

    id: str
    asks: tuple[AskView, ...]
    history: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass
class PromptGroup:
    """One prompt and all asks that share it, so that it is printed once."""

    question: str
    condition: Mapping[str, str]
    parts: list[tuple[PromptPart, int | None, bool]]  # with the image's number, and whether it is a repetition
    asks: list[AskView]

    @property
    def image_count(self) -> int:
        return sum(number is not None for _, number, _ in self.parts)


def write_cases(cases: Iterable[CaseView], folder: Path, *, run: str, report: str, order: Sequence[str] = ()) -> Path:
    """Writes a page per case and the list of all cases, and returns the list's path.

    Only one case is in memory at a time. Candidates are sorted by `order`, others come last. Images are files in
    images/, named by their content, which pages share.
    """
    entries: list[tuple[str, str, list[AskCounts]]] = []  # id, page and asks of each case
    values: dict[tuple[str, str], int] = {}
    candidates = {name: index for index, name in enumerate(order)}
    images, previous = ImageFolder(folder / IMAGES), None
    for case, following in pairwise(chain(cases, [None])):
        assert case is not None
        name = page_name(case.id)
        case = images.with_files(case)
        html = page(
            "cases/case.html",
            images="'self' file: data:",
            case=case,
            prompts=group_prompts(case, order),
            run=run,
            report=report,
            previous=previous,
            following=page_name(following.id) if following else None,
        )
        write_page(folder / name, html)
        entries.append((case.id, name, _count_outcomes(case, values, candidates)))
        previous = name
    images.remove_others()
    return write_page(
        folder / "index.html",
        page(
            "cases/case_list.html",
            scripts=("theme.js", "filter.js"),
            run=run,
            report=report,
            cases=[(id, name, _totals(asks, len(candidates))) for id, name, asks in entries],
            candidates=list(candidates),
            keys={key: [value for name, value in values if name == key] for key, _ in values},
            data={"values": list(values), "candidates": list(candidates), "cases": [asks for _, _, asks in entries]},
        ),
    )


class ImageFolder:
    """Writes images to files named by the hash of their bytes, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: set[str] = set()

    def with_files(self, case: CaseView) -> CaseView:
        """The case with the address of a file in place of each embedded image."""
        asks = [replace(ask, prompt=tuple(map(self._part, ask.prompt))) for ask in case.asks]
        return replace(case, asks=tuple(asks))

    def _part(self, part: PromptPart) -> PromptPart:
        if part.image is None or not part.image.startswith(EMBEDDED):
            return part
        kind, _, data = part.image.removeprefix(EMBEDDED).partition(";base64,")
        content = b64decode(data)
        name = f"{hashlib.sha256(content).hexdigest()[:24]}.{kind}"
        if name not in self._names:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_file(self._folder / name, content)
            self._names.add(name)
        return replace(part, image=f"{self._folder.name}/{name}")

    def remove_others(self) -> None:
        """Removes images that an earlier report had and this one has not."""
        for file in self._folder.glob("*") if self._folder.is_dir() else ():
            if file.name not in self._names:
                file.unlink()


def page_name(case: str) -> str:
    """A file name for a case id: safe on every file system, and unique."""
    safe = re.sub(r"[^a-z0-9-]+", "-", case.lower()).strip("-")[:60]
    if safe != case or safe == "index":
        safe = f"{safe}-{hashlib.blake2b(case.encode(), digest_size=6).hexdigest()}".lstrip("-")
    return f"{safe}.html"


def group_prompts(case: CaseView, order: Sequence[str] = ()) -> list[PromptGroup]:
    """The asks of a case grouped by prompt, sorted by question, condition and number of images (most first).

    An image is embedded only at its first occurrence.
    """
    groups: dict[Any, list[AskView]] = {}
    for ask in case.asks:
        key = (ask.question, tuple(sorted(ask.condition.items())), ask.prompt, ask.order)
        groups.setdefault(key, []).append(ask)
    questions = list(dict.fromkeys(question for question, *_ in groups))
    conditions = list(dict.fromkeys(condition for _, condition, *_ in groups))

    def sort_key(key: Any) -> tuple[int, int, int]:
        question, condition, prompt, _ = key
        return questions.index(question), conditions.index(condition), -sum(bool(part.image) for part in prompt)

    images: dict[str, int] = {}
    prompts = []
    for key in sorted(groups, key=sort_key):
        first, *_ = asks = sorted(
            groups[key], key=lambda ask: order.index(ask.candidate) if ask.candidate in order else len(order)
        )
        parts = []
        for part in first.prompt:
            is_repeated = part.image in images
            number = images.setdefault(part.image, len(images) + 1) if part.image else None
            parts.append((part, number, is_repeated))
        prompts.append(PromptGroup(first.question, changed_axes(first.condition), parts, asks))
    return prompts


def changed_axes(condition: Mapping[str, str]) -> dict[str, str]:
    """The axes on which a condition differs from the default."""
    return {axis: value for axis, value in condition.items() if value != DEFAULTS.get(axis)}


def _format_ranges(numbers: list[int]) -> str:
    """Sorted trial numbers as ranges: 0 to 3, 5."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1].append(number)
        else:
            ranges.append([number])
    return ", ".join(f"{part[0]} to {part[-1]}" if len(part) > 2 else ", ".join(map(str, part)) for part in ranges)


def _count_outcomes(case: CaseView, values: dict[tuple[str, str], int], candidates: dict[str, int]) -> list[AskCounts]:
    """The counts of each ask; new slice values and candidates are numbered in `values` and `candidates`."""
    counts = []
    for ask in case.asks:
        slices = [*ask.condition.items(), *((key, name) for key, names in ask.slices.items() for name in names)]
        outcomes = [trial.outcome for trial in ask.trials]
        counts.append(
            (
                candidates.setdefault(ask.candidate, len(candidates)),
                [values.setdefault(pair, len(values)) for pair in slices],
                [outcomes.count(name) for name in OUTCOMES],
            )
        )
    return counts


def _totals(asks: list[AskCounts], candidates: int) -> list[list[int] | None]:
    """The count of each outcome of each candidate; None if it was not asked."""
    totals: list[list[int] | None] = [None] * candidates
    for candidate, _, outcomes in asks:
        before = totals[candidate] or [0] * len(OUTCOMES)
        totals[candidate] = [a + b for a, b in zip(before, outcomes, strict=True)]
    return totals
