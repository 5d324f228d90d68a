"""The check of one candidate: its hardest Asks, how its replies read, whether it sees, and what the rest will cost."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from wardround.candidates.candidate import (
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    Reply,
    RequestAdapted,
    RequestRejected,
    Unsupported,
)
from wardround.core.ask import Answer
from wardround.core.errors import BadInput
from wardround.marking.parser.choice import STRICT, parse_choice
from wardround.marking.unread import commonest_shape
from wardround.preflight.settings_proof import SettingsProof, prove_settings
from wardround.preflight.sight import Sight, probe_sight
from wardround.preflight.votes import VoteComparison, compare_votes
from wardround.running.caller import GaveUp, Stopping
from wardround.running.candidate_run import CandidateRun
from wardround.running.context import RunContext
from wardround.running.plan import all_units, replay, units_at
from wardround.running.store import Call
from wardround.running.study_run import StudyRun
from wardround.running.trials import PlannedUnit, TrialGroup
from wardround.running.used_answers import UsedAnswer

MAX_UNITS = 12  # asked of one candidate
RATE_LIMITS = ("HTTP 429", "HTTP 529")
NO_MORE = "the budget allows no further ask"
SAY_BLIND = "if it sees no images, say `sees = false`"
MIN_UNREAD = 3  # replies that cannot be read, before a candidate counts as not ready


@dataclass
class CheckedReplies:
    """The replies to the Asks of a check, and why others are missing."""

    units: int = 0
    answers: int = 0
    with_images: int = 0  # answers to Asks with images, refusals not counted
    read: int = 0
    cut: int = 0
    empty: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unread: list[Answer] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # of a case, or of what it cannot do: the study goes on without

    def add(self, context: RunContext, unit: PlannedUnit, used: UsedAnswer) -> None:
        """Counts one answer of a unit; those on the way to the scored one are left out."""
        answer = context.store.get(used.key)
        if answer is None or not used.scored:
            return
        self.answers += 1
        if answer.refused_for is not None:
            self.refused[answer.refused_for] += 1
            return
        self.with_images += bool(answer.images)
        self.cut += answer.finish == "length" and unit.condition.confidence != "logprobs"
        self.empty += not answer.text.strip() and answer.text_logprob is None
        if _is_readable(context, unit, used, answer):
            self.read += 1
        else:
            self.unread.append(answer)

    def to_dict(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in ("units", "answers", "read", "cut", "empty")}
        return counts | {"refused": dict(self.refused), "failed": len(self.failures)}

    @property
    def unreadable_reason(self) -> str | None:
        """Why a run would be worth nothing: several replies, and none of them could be read."""
        if len(self.unread) < MIN_UNREAD or self.read:
            return None
        return f"none of {self.answers} replies could be read; the commonest shape: {commonest_shape(self.unread)}"

    @property
    def warnings(self) -> list[str]:
        warnings = [f"{count} of {self.answers} replies were refused: {why}" for why, count in self.refused.items()]
        if self.unread:
            count = f"{len(self.unread)} of {self.answers} replies could not be read"
            warnings.append(f"{count}; the commonest shape: {commonest_shape(self.unread)}")
        return [*self.problems, *warnings]


def _is_readable(context: RunContext, unit: PlannedUnit, used: UsedAnswer, answer: Answer) -> bool:
    if unit.condition.probe != "none" or answer.first_token is not None:
        return bool(answer.text or answer.text_logprob or answer.first_token)
    question = next(question for question in unit.unit if question.id == used.question)
    order = context.renderer.order(unit.case, question, unit.condition, used.key.trial)
    if question.kind == "choice" and answer.refused_for is None and context.study.parser != STRICT:
        shown = [question.choices[index] for index in order]
        return parse_choice(answer.text, shown, context.study.parser).option is not None
    return context.reader.text(answer, question, order) is not None


async def check_candidate(study_run: StudyRun, run: CandidateRun) -> dict[str, Any]:
    """Asks a candidate and describes what came back; the answers are part of the study."""
    caller, replies, sight = run.context.caller, CheckedReplies(), None
    warnings, inapplicable = list(run.plan.skipped.values()), dict(run.plan.inapplicable)
    proof = SettingsProof()
    try:
        sight = await _ask(study_run, run, replies)
        why = next(iter(replies.failures), None) or replies.unreadable_reason
        votes = await compare_votes(study_run, run) if why is None else VoteComparison()
        warnings += [*replies.warnings, *votes.warnings]
        if why is None:
            proof = await prove_settings(study_run, run, sight, votes)
            why = proof.ignored_reason
    except (Fault, CandidateUnavailable, RequestRejected, QuestionRefused, GaveUp, Stopping) as failure:
        why = str(failure) or NO_MORE
    if sight is not None and sight.is_blind and not (sight.result == "refused" and replies.with_images):
        why = sight.why if SAY_BLIND in sight.why else f"{sight.why}; {SAY_BLIND}"
    elif sight is not None and sight.why:
        warnings.append(f"{sight.why}: it may not see images")
    limited = {kind: times for kind, times in caller.tally.fault_kinds.items() if kind in RATE_LIMITS}
    warnings += [f"its rate limit was met {times} times ({kind})" for kind, times in limited.items()]
    if replies.answers:
        run.plan = await replay(run.context, study_run.cases)  # scaled by what the server billed now
    estimate = run.plan.count.estimator.estimate
    return {
        "name": run.name,
        "stored": run.plan.count.stored,
        "new": run.plan.count.missing,
        **estimate.to_manifest(caller.settings),
        "cost": run.price_of_missing,
        "inapplicable": inapplicable,
        "answers": why is None,
        "why": why,
        "replies": replies.to_dict(),
        "sees": None if sight is None else sight.result,
        "settings": [verdict.to_dict() for verdict in proof.verdicts],
        "probe_calls": proof.calls,
        "adaptations": list(caller.candidate.adaptations),
        "faults": dict(caller.tally.fault_kinds),
        "warnings": warnings,
        "models": sorted(run.context.models),
    }


async def _ask(study_run: StudyRun, run: CandidateRun, replies: CheckedReplies) -> Sight | None:
    """Asks the hardest units at once, the first in all its trials, and shows an image of ours to a server that sees."""
    context, settings = run.context, run.context.caller.settings
    units = list(units_at(run.plan.hardest.choose(MAX_UNITS), context, study_run.cases))
    if not units:
        await _ask_again(study_run, run)
        return None
    is_server = settings.base_url is not None and settings.provider != "external"
    probe = probe_sight(context) if is_server and run.plan.hardest.shows_images else _no_sight()
    asking = [_ask_unit(context, unit, None if number == 0 else 1, replies) for number, unit in enumerate(units)]
    sight, failures = await asyncio.gather(probe, asyncio.gather(*asking))
    replies.units = len(units)
    for unit, failure in zip(units, failures, strict=True):
        if failure is not None and failure.refused and replies.answers:  # that it answers others is known only now
            failure = await _ask_unit(context, unit, 1, replies)
        if failure is not None:
            replies.failures.append(str(failure))
    if context.caller.budget.reached:
        (replies.problems if replies.answers else replies.failures).append(
            f"{NO_MORE}: {context.caller.budget.reached}"
        )
    return sight


async def _no_sight() -> None:
    """For a candidate that is shown no image."""


async def _ask_unit(
    context: RunContext, unit: PlannedUnit, trials: int | None, replies: CheckedReplies
) -> GaveUp | None:
    """Asks one unit and counts its replies; returns why it was given up, if it was."""
    group = TrialGroup(context, unit)
    try:
        await group.run_trials(trials)
    except GaveUp as failure:
        return failure
    except (BadInput, Unsupported) as problem:
        replies.problems.append(str(problem))
    except CandidateUnavailable as unavailable:
        replies.failures.append(str(unavailable))
    except Stopping:
        pass  # the budget is spent
    for used in group.used:
        replies.add(context, unit, used)
    return None


async def _ask_again(study_run: StudyRun, run: CandidateRun) -> None:
    """Everything is stored: one Ask is repeated, to see that the candidate answers. The answer is not kept."""
    caller, store = run.context.caller, run.context.store
    unit = next(all_units(run.context, study_run.cases), None)
    if unit is None:
        return
    request = await TrialGroup(run.context, unit).first_request()

    async def keep(reply: Reply, call: Call) -> None:
        await store.put_call(request.ask.key, call)

    try:
        await caller.call(request, keep, purpose="check")
    except RequestAdapted:
        await caller.call(request, keep, purpose="check")
