"""PlainAsking: asks single questions whose Ask depends on no answer, without running their protocol.

It does what `TrialGroup.run_trials` does for them, in a third of the steps; that asks all other units.
"""

from __future__ import annotations

import asyncio

from wardround.asking.degradation import check_degraded_images
from wardround.asking.render import RenderedAsk, is_plain
from wardround.running.context import RunContext
from wardround.running.images import UnknownFingerprint
from wardround.running.replaying.plain_replay import PLAIN_PROTOCOL
from wardround.running.store import AnswerKey
from wardround.running.trials import PendingAnswer, PlannedUnit, TrialGroup
from wardround.running.used_answers import UsedAnswer


class PlainAsking:
    """The plain units of one candidate."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._applies = context.protocol is PLAIN_PROTOCOL and not context.caller.settings.send_seed

    async def ask(self, planned: PlannedUnit) -> bool:
        """Asks a unit; False if its protocol must be run: it is not plain, or equal Asks are under way."""
        question, settings = planned.unit[0], self._context.caller.settings
        if not (self._applies and len(planned.unit) == 1 and is_plain(question, planned.condition, settings)):
            return False
        group, context = TrialGroup(self._context, planned), self._context
        try:
            rendered = [group.rendered(trial) for trial in range(planned.trials)]
        except UnknownFingerprint:
            return False
        keys = [AnswerKey(ask.key, trial, 0) for trial, (ask, *_) in enumerate(rendered)]
        if any(key in context.in_flight for key in keys):
            return False
        for ask, *_ in rendered:
            check_degraded_images(planned.case, question, planned.condition, ask.images)
        pending = [self._pending(group, key, of_trial) for key, of_trial in zip(keys, rendered, strict=True)]
        by_ask: dict[bytes, list[PendingAnswer]] = {}
        for key, answer in zip(keys, pending, strict=True):
            by_ask.setdefault(key.ask, []).append(answer)
        if len(by_ask) == 1:
            await group.fetch(pending)
        else:
            await asyncio.gather(*map(group.fetch, by_ask.values()))
        failures = [failure for _, answer in pending if (failure := answer.exception()) is not None]
        if not failures and any(answer.result().sources for _, answer in pending):
            return False  # what it says it found is read from the index: the protocol does that
        counts = question.id in planned.scored
        for key, (_, fetched) in zip(keys, pending, strict=True):
            if fetched.exception() is None:
                place = (planned.case_number, question.id, planned.condition_number)
                context.record_use(UsedAnswer(*place, key, counts, cut=False))
        if failures:
            raise failures[0]
        return True

    def _pending(self, group: TrialGroup, key: AnswerKey, rendered: RenderedAsk) -> PendingAnswer:
        """The request of one trial, and its answer, for which equal Asks of other units wait, too."""
        answer = self._context.in_flight[key] = asyncio.get_running_loop().create_future()
        return group.make_request(group.planned.unit[0], rendered, key.trial, key.turn), answer
