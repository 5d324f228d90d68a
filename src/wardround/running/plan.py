"""The plan of a run: the units that one candidate is asked, which of them lack answers, and asking those."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from wardround.asking.units import question_units, select_questions
from wardround.asking.without import names_left_out_modality
from wardround.candidates.candidate import CandidateUnavailable, OfflineCandidate, Unsupported
from wardround.cases.rare_collection import rare_collection
from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.core.errors import BadInput
from wardround.running.caller import MAX_LISTED_FAILURES, GaveUp, Stopping
from wardround.running.context import RunContext
from wardround.running.estimates.estimator import TokenEstimator
from wardround.running.estimates.hardest import HardestUnits, UnitPlace
from wardround.running.images import FILES_AT_ONCE, UnknownFingerprint
from wardround.running.replaying.plain_asking import PlainAsking
from wardround.running.replaying.plain_replay import PlainAsks, PlainReplay
from wardround.running.trials import PlannedUnit, ReplayCount, TrialGroup

UNITS_PER_BLOCK = 2000  # whose answers are looked up together: with 500, looking up took a quarter longer
MAX_KEPT_UNITS = 10_000  # that lack answers: 2 MB
TRAINING = "train"  # the split that candidates may be fitted on
IndexedUnit = tuple[
    int, PlannedUnit, PlainAsks | None
]  # a unit with its index in its case, and its Asks if it is plain


def planned_units(
    context: RunContext, case_number: int, case: Case, note_inapplicable: Callable[[str], None] = lambda reason: None
) -> Iterator[PlannedUnit]:
    """All units of one case for one candidate; for each that cannot be asked, the reason is noted."""
    if case.split == TRAINING:
        note_inapplicable("the case is for training, and is not examined")
        return
    questions = select_questions(case, context.study)
    scored = {question.id for question in questions}
    for with_ancestors, conditions in context.conditions:
        if not conditions:
            continue
        for unit in question_units(case, questions, with_ancestors=with_ancestors):
            for condition_number, condition in conditions:
                reason = context.inapplicable_reason(case, unit, condition)
                if reason is not None:
                    note_inapplicable(reason)
                elif trials := context.count_trials(case, unit, condition):
                    yield PlannedUnit(case_number, case, unit, scored, condition, condition_number, trials)
                else:
                    note_inapplicable("none of these people answered it")


@dataclass
class Plan:
    """What one candidate is asked: how much is stored, and which units lack answers."""

    count: ReplayCount
    hardest: HardestUnits = field(default_factory=HardestUnits)
    inapplicable: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)  # modality -> questions asked without it
    naming: Counter[str] = field(default_factory=Counter)  # modality -> those of them whose text still names it
    skipped: dict[str, str] = field(default_factory=dict)  # case -> what is wrong with it
    _case_numbers: array[int] = field(default_factory=lambda: array("q"))
    _unit_indices: array[int] = field(default_factory=lambda: array("q"))
    _kept: list[PlannedUnit] | None = field(default_factory=list)  # the incomplete ones, unless they are many

    @property
    def is_empty(self) -> bool:
        """Whether no question of the set was considered."""
        return not (self.count.stored or self.count.missing or self.inapplicable or self.skipped)

    def add_incomplete(self, unit: PlannedUnit, index: int, *, may_be_kept: bool) -> None:
        """Adds a unit with its index in its case; those of a small set in memory need not be made again."""
        self._case_numbers.append(unit.case_number)
        self._unit_indices.append(index)
        if not may_be_kept or len(self._case_numbers) > MAX_KEPT_UNITS:
            self._kept = None
        elif self._kept is not None:
            self._kept.append(unit)

    def incomplete_units(self, context: RunContext, cases: CaseSet) -> Iterator[PlannedUnit]:
        """The units that lack answers, in order."""
        if self._kept is not None:
            return iter(self._kept)
        return units_at(zip(self._case_numbers, self._unit_indices, strict=True), context, cases)


def units_at(places: Iterable[UnitPlace], context: RunContext, cases: CaseSet) -> Iterator[PlannedUnit]:
    """The units at these places, which are in order."""
    for case_number, pairs in groupby(places, key=itemgetter(0)):
        indices = {index for _, index in pairs}
        units = planned_units(context, case_number, cases.case(case_number))
        yield from (unit for index, unit in enumerate(units) if index in indices)


def all_units(context: RunContext, cases: CaseSet) -> Iterator[PlannedUnit]:
    """All units of all cases for one candidate."""
    for number, case in enumerate(cases):
        yield from planned_units(context, number, case)


async def replay(context: RunContext, cases: CaseSet) -> Plan:
    """Replays all units from stored answers: the answers of complete ones are used, the others are planned."""
    plan = Plan(ReplayCount(_estimator(context)))

    def note_inapplicable(reason: str) -> None:
        plan.inapplicable[reason] += 1

    plain = PlainReplay(context, plan.count)
    block: list[IndexedUnit] = []  # consecutive units
    unhashed: dict[str, list[int]] = {}  # image that was not hashed before -> places in the block of units that show it
    with rare_collection():
        for case_number, case in enumerate(cases):
            file: str | None = None  # the first such image of the case, which most of its units show
            for index, unit in enumerate(planned_units(context, case_number, case, note_inapplicable)):
                asks = None
                if file is None:
                    try:
                        asks = plain.render(unit)
                    except UnknownFingerprint as unknown:
                        file = unknown.file
                if file is not None:
                    unhashed.setdefault(file, []).append(len(block))
                block.append((index, unit, asks))
            if len(unhashed) >= FILES_AT_ONCE or len(block) >= UNITS_PER_BLOCK:
                await _render_with_new_images(context, plain, block, unhashed)
                unhashed = {}
            if len(block) >= UNITS_PER_BLOCK:
                await _replay_block(context, plan, plain, block, cases.is_in_memory)
                block = []
        await _render_with_new_images(context, plain, block, unhashed)
        await _replay_block(context, plan, plain, block, cases.is_in_memory)
    return plan


async def _render_with_new_images(
    context: RunContext, plain: PlainReplay, block: list[IndexedUnit], unhashed: dict[str, list[int]]
) -> None:
    """Renders the units of a block whose images were not all hashed before. The images are read together."""
    while unhashed:
        await context.fingerprints.learn_all(list(unhashed))
        places_by_file, unhashed = unhashed, {}
        for file, places in places_by_file.items():
            for place in places:
                index, unit, _ = block[place]
                try:
                    block[place] = index, unit, plain.render(unit)
                except UnknownFingerprint as unknown:
                    if unknown.file != file:  # its next image; one that cannot be read is left to the protocol
                        unhashed.setdefault(unknown.file, []).append(place)


async def _replay_block(
    context: RunContext, plan: Plan, plain: PlainReplay, block: list[IndexedUnit], is_in_memory: bool
) -> None:
    """Looks the answers of plain units up together; the protocols of the others are run."""
    stored = plain.find_stored(asks for _, _, asks in block if asks is not None)
    for index, unit, plain_asks in block:
        missing = None if plain_asks is None else plain.replay(unit, plain_asks, stored)
        if missing is None:
            try:
                missing = await TrialGroup(context, unit).replay(plan.count)
            except BadInput as problem:
                plan.skipped[unit.case.id] = str(problem)
                continue
        if (modality := unit.condition.without) != "none":
            plan.left_out[modality] += len(unit.unit)
            plan.naming[modality] += sum(names_left_out_modality(unit.case, q, unit.condition) for q in unit.unit)
        if missing:
            plan.add_incomplete(unit, index, may_be_kept=is_in_memory)
            place = (unit.case_number, index)
            asks = [missing_ask.ask for missing_ask in missing]
            plan.hardest.consider(place, unit.condition_number, asks, plan.count.estimator.measure)


def _estimator(context: RunContext) -> TokenEstimator:
    """Candidates without a connection need no tokens, except models in this machine's memory."""
    settings, candidate = context.caller.settings, context.caller.candidate
    is_billed = settings.provider.startswith(("local", "transformers")) or not isinstance(candidate, OfflineCandidate)
    multiple = candidate.supports_multiple
    return TokenEstimator.from_store(settings, context.store, is_billed=is_billed, supports_multiple=multiple)


@dataclass
class CandidateOutcome:
    """How the examination of one candidate ended."""

    failures: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    unsupported: Counter[str] = field(default_factory=Counter)  # what it cannot do -> units that asked for it
    stopped: bool = False
    unavailable: str | None = None  # why it could not be asked any more
    under_way: int = 0  # Asks in batches whose results are not there yet
    held_back: int = 0  # Asks for which the budget or the provider's queue has no room until these have ended
    user_task: str | None = None  # what the user must do for batches under way

    @property
    def is_waiting(self) -> bool:
        """Whether a later start goes on with batches."""
        return bool(self.under_way or self.held_back)


async def ask_incomplete(context: RunContext, cases: CaseSet, plan: Plan) -> CandidateOutcome:
    """Asks one candidate the units that lack answers. Memory does not grow with the study."""
    outcome, plain = CandidateOutcome(), PlainAsking(context)

    async def ask(unit: PlannedUnit) -> None:
        try:
            if not await plain.ask(unit):
                await TrialGroup(context, unit).run_trials()
        except BadInput as problem:
            outcome.skipped[unit.case.id] = str(problem)
        except GaveUp as failure:
            if len(outcome.failures) < MAX_LISTED_FAILURES:
                outcome.failures.append(f"{unit.case.id}: {failure}")
        except Unsupported as unsupported:
            outcome.unsupported[str(unsupported)] += 1
        except Stopping:
            outcome.stopped = True
        except CandidateUnavailable as unavailable:
            outcome.unavailable = str(unavailable)

    if not await context.caller.run_all(ask, plan.incomplete_units(context, cases)):
        outcome.stopped = outcome.unavailable is None
    return outcome
