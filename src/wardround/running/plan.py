"""Schedule: which seats a study holds, which of them lack answers, and how a candidate goes through those."""

from __future__ import annotations

import asyncio
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from wardround.asking.applicable import chosen_questions, units
from wardround.asking.protocols import progressive_chain
from wardround.asking.without import names_left_out
from wardround.candidates.candidate import Gone, Unable
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import BadInput
from wardround.running.caller import GaveUp, Stopping
from wardround.running.context import Room
from wardround.running.replay_count import Found
from wardround.running.trials import Together

MOST_FAILURES_TOLD = 20
TRAINING = "train"  # the split that candidates may be fitted on


@dataclass(slots=True)
class Seat:
    """One thing to be asked: a question or a chain of one case under one condition, in so many trials."""

    number: int
    case: Case
    unit: list[Question]
    scored: set[str]
    condition: Condition
    condition_number: int
    trials: int

    @property
    def naming(self) -> int:
        """How many of its questions speak of an imaging modality that is left out."""
        return sum(names_left_out(self.case, question, self.condition) for question in self.unit)

    def together(self, room: Room) -> Together:
        return Together(room, self.number, self.case, self.unit, self.scored, self.condition, self.condition_number)


def seats(room: Room, number: int, case: Case, inapplicable: Callable[[str], None]) -> Iterator[Seat]:
    """All that one candidate is asked about one case; for what cannot be asked, why."""
    study = room.study
    if case.split == TRAINING:
        inapplicable("the case is for training, and is not examined")
        return
    chosen = chosen_questions(case, study)
    scored = {question.id for question in chosen}
    for with_ancestors, conditions in room.conditions:
        for unit in units(case, chosen, with_ancestors=with_ancestors):
            for condition_number, condition in conditions:
                reasons = (room.renderer.why_not(case, question, condition) for question in unit)
                reason = room.why_not(condition) or next(filter(None, reasons), None)
                if reason is not None:
                    inapplicable(reason)
                    continue
                trials = room.trials(case, unit, condition)
                if not trials:
                    inapplicable("none of these people answered it")
                    continue
                yield Seat(number, case, unit, scored, condition, condition_number, trials)


@dataclass
class Plan:
    """What one candidate is asked: what is stored, what is not, and which seats lack answers."""

    found: Found = field(default_factory=Found)
    inapplicable: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)  # modality -> questions asked without it
    named: Counter[str] = field(default_factory=Counter)  # and of these those that still name it
    skipped: dict[str, str] = field(default_factory=dict)  # case -> what is wrong with it
    _cases: array[int] = field(default_factory=lambda: array("q"))
    _places: array[int] = field(default_factory=lambda: array("q"))

    @property
    def empty(self) -> bool:
        """Whether nothing of the set was even considered."""
        return not (self.found.stored or self.found.missing or self.inapplicable or self.skipped)

    def lacks(self, number: int, place: int) -> None:
        self._cases.append(number)
        self._places.append(place)

    def lacking(self) -> Iterator[tuple[int, set[int]]]:
        """Case numbers, each with the places of its seats that lack answers."""
        places: set[int] = set()
        for at, (number, place) in enumerate(zip(self._cases, self._places, strict=True)):
            places.add(place)
            if at + 1 == len(self._cases) or self._cases[at + 1] != number:
                yield number, places
                places = set()


async def replay(room: Room, cases: CaseSet) -> Plan:
    """Goes through all seats on stored answers alone: what is complete is used, the rest is planned."""
    plan = Plan()

    def count(reason: str) -> None:
        plan.inapplicable[reason] += 1

    for number, case in enumerate(cases):
        for place, seat in enumerate(seats(room, number, case, count)):
            try:
                whole = await seat.together(room).replay(progressive_chain, seat.trials, plan.found)
            except BadInput as problem:
                plan.skipped[case.id] = str(problem)
                continue
            if seat.condition.without != "none":
                plan.left_out[seat.condition.without] += len(seat.unit)
                plan.named[seat.condition.without] += seat.naming
            if not whole:
                plan.lacks(number, place)
    return plan


@dataclass
class Outcome:
    """How the examination of one candidate ended."""

    failures: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    unable: Counter[str] = field(default_factory=Counter)  # what it cannot do, and of how many seats that was asked
    stopped: bool = False
    gone: str | None = None


async def examine(room: Room, cases: CaseSet, plan: Plan) -> Outcome:
    """Takes one candidate through the seats that lack answers. Memory does not grow with the study."""
    outcome = Outcome()

    async def sit(seat: Seat) -> None:
        try:
            await seat.together(room).sit(progressive_chain, seat.trials)
        except BadInput as problem:
            outcome.skipped[seat.case.id] = str(problem)
        except GaveUp as failure:
            if len(outcome.failures) < MOST_FAILURES_TOLD:
                outcome.failures.append(f"{seat.case.id}: {failure}")
        except Unable as unable:
            outcome.unable[str(unable)] += 1
        except Stopping:
            outcome.stopped = True
        except Gone as gone:
            outcome.gone = str(gone)

    window = asyncio.Semaphore(2 * room.caller.settings.concurrency + 16)
    async with asyncio.TaskGroup() as group:
        for number, places in plan.lacking():
            for place, seat in enumerate(seats(room, number, cases.case(number), lambda reason: None)):
                if place not in places:
                    continue
                await window.acquire()
                if room.caller.ending:
                    outcome.stopped = outcome.gone is None
                    return outcome
                group.create_task(sit(seat)).add_done_callback(lambda _: window.release())
    return outcome
