"""PlainReplay: replays single questions whose Ask depends on no answer, without running their protocol.

It does what `TrialGroup.replay` does for them, which replays all other units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from wardround.asking.degradation import check_degraded_images
from wardround.asking.options import depends_on_trial
from wardround.asking.protocols import PROTOCOLS
from wardround.asking.render import is_plain
from wardround.core.ask import Ask
from wardround.core.errors import BadInput
from wardround.running.context import RunContext
from wardround.running.store import AnswerKey, StoredBody
from wardround.running.trials import MissingAsk, PlannedUnit, ReplayCount, TrialGroup
from wardround.running.used_answers import UsedAnswer

PLAIN_PROTOCOL = PROTOCOLS["progressive_chain"]
OWN_SOURCES = b'"sources":'  # in the body of an answer with evidence of its own


class PlainAsks(NamedTuple):
    """The keys of a unit's answers by trial, whether its Asks show images, and those Asks that were made for it."""

    keys: list[AnswerKey]
    with_images: bool
    asks: Mapping[bytes, Ask]


class PlainReplay:
    """The plain units of one candidate."""

    def __init__(self, context: RunContext, count: ReplayCount) -> None:
        self._context, self._count = context, count
        self._applies = context.protocol is PLAIN_PROTOCOL
        self._will_need_asks = context.store.is_empty  # then a key is taken from the Ask, not made before it

    def render(self, planned: PlannedUnit) -> PlainAsks | None:
        """Its Asks; None if it is not plain, or if an image cannot be read.

        Raises UnknownFingerprint if an image was not hashed yet.
        """
        question, condition, settings = planned.unit[0], planned.condition, self._context.caller.settings
        if not (self._applies and len(planned.unit) == 1 and is_plain(question, condition, settings)):
            return None
        asks: dict[bytes, Ask] = {}
        try:
            if depends_on_trial(condition):
                return self._render_rotated(planned, asks)
            order = self._context.renderer.order(planned.case, question, condition, 0)
            key, with_images = self._key(planned, 0, order, asks)
        except BadInput:
            return None
        return PlainAsks([AnswerKey(key, trial, 0) for trial in range(planned.trials)], with_images, asks)

    def _render_rotated(self, planned: PlannedUnit, asks: dict[bytes, Ask]) -> PlainAsks:
        """The Asks of a unit whose trials show the options in different orders."""
        keys: list[AnswerKey] = []
        key_by_order: dict[tuple[int, ...], bytes] = {}
        with_images = False
        for trial in range(planned.trials):
            order = self._context.renderer.order(planned.case, planned.unit[0], planned.condition, trial)
            if order not in key_by_order:
                key_by_order[order], with_images = self._key(planned, trial, order, asks)
            keys.append(AnswerKey(key_by_order[order], trial, 0))
        return PlainAsks(keys, with_images, asks)

    def _key(
        self, planned: PlannedUnit, trial: int, order: tuple[int, ...], asks: dict[bytes, Ask]
    ) -> tuple[bytes, bool]:
        """The key of the Ask in a trial with this order of options, and whether it shows images."""
        case, question, condition, caller = planned.case, planned.unit[0], planned.condition, self._context.caller
        if not self._will_need_asks:
            identity = caller.candidate.identity
            return self._context.renderer.plain_key(case, question, condition, caller.settings, identity, order)
        ask = self._ask(planned, trial)
        check_degraded_images(case, question, condition, images := ask.images)
        asks[ask.key] = ask
        return ask.key, bool(images)

    def find_stored(self, block: Iterable[PlainAsks]) -> dict[AnswerKey, StoredBody]:
        """What is stored for the Asks of several units."""
        if self._will_need_asks:  # nothing is
            return {}
        return self._context.store.find_bodies(key for asks in block for key in asks.keys)

    def replay(
        self, planned: PlannedUnit, asks: PlainAsks, stored: Mapping[AnswerKey, StoredBody]
    ) -> list[MissingAsk] | None:
        """The Asks that lack answers; uses the answers if there are none. None if an answer names sources of its own:
        then the protocol is run."""
        rows = [stored.get(key) for key in asks.keys]
        for row in rows:
            if row is not None and OWN_SOURCES in row[0]:
                return None
        question, context, estimator = planned.unit[0], self._context, self._count.estimator
        id, scored = question.id, question.id in planned.scored
        group = (planned.condition_number, question.kind)
        used: list[UsedAnswer] = []
        missing: dict[bytes, list[int]] = {}  # trials by Ask
        for key, row in zip(asks.keys, rows, strict=True):
            if row is None:
                missing.setdefault(key.ask, []).append(key.trial)
                continue
            facts = context.note_stored_body(row)
            if estimator.has_call(key.ask):
                estimator.add_stored(key.ask, group, partial(self._ask, planned, key.trial))
            if facts.is_answer and not context.caller.has_known_answer(with_images=asks.with_images):
                context.caller.note_answered(TrialGroup(context, planned).stored_request(key.trial))
            used.append(
                UsedAnswer(planned.case_number, id, planned.condition_number, key, scored, False, None, facts.digest)
            )
        self._count.stored += len(used)
        if not missing:
            for answer in used:
                context.record_use(answer)
            return []
        lacking = [
            MissingAsk(asks.asks.get(key) or self._ask(planned, trials[0]), question, len(trials))
            for key, trials in missing.items()
        ]
        for ask in lacking:
            self._count.missing += ask.trials
            estimator.add_missing(ask.ask, group, ask.trials)
        return lacking

    def _ask(self, planned: PlannedUnit, trial: int) -> Ask:
        return TrialGroup(self._context, planned).rendered(trial).ask
