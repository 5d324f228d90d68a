"""PlainReplay: replays single questions whose Ask depends on no answer, without running their protocol.

It does what `TrialGroup.replay` does for them if all their answers are stored, and leaves all other units to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from wardround.asking.protocols import PROTOCOLS
from wardround.asking.render import is_plain
from wardround.core.ask import Ask
from wardround.core.errors import BadInput
from wardround.running.context import RunContext
from wardround.running.images import UnknownFingerprint
from wardround.running.store import AnswerKey, StoredBody
from wardround.running.trials import PlannedUnit, ReplayCount, TrialGroup
from wardround.running.used_answers import UsedAnswer, body_digest

PLAIN_PROTOCOL = PROTOCOLS["progressive_chain"]
OWN_SOURCES = b'"sources":'  # in the body of an answer with evidence of its own


class PlainAsks(NamedTuple):
    """The keys of a unit's answers by trial, and whether its Asks show images."""

    keys: list[AnswerKey]
    with_images: bool


class PlainReplay:
    """The plain units of one candidate."""

    def __init__(self, context: RunContext, count: ReplayCount) -> None:
        self._context, self._count = context, count
        self._applies = context.protocol is PLAIN_PROTOCOL

    def render(self, planned: PlannedUnit) -> PlainAsks | None:
        """Its Asks; None if it is not plain, or if an image was not hashed yet or cannot be read."""
        question, condition, settings = planned.unit[0], planned.condition, self._context.caller.settings
        if not (self._applies and len(planned.unit) == 1 and is_plain(question, condition, settings)):
            return None
        renderer, identity = self._context.renderer, self._context.caller.candidate.identity
        keys: list[AnswerKey] = []
        key_by_order: dict[tuple[int, ...], bytes] = {}
        with_images = False
        try:
            for trial in range(planned.trials):
                order = renderer.order(planned.case, question, condition, trial)
                if order not in key_by_order:
                    key_by_order[order], with_images = renderer.plain_key(
                        planned.case, question, condition, settings, identity, order
                    )
                keys.append(AnswerKey(key_by_order[order], trial, 0))
        except (UnknownFingerprint, BadInput):
            return None
        return PlainAsks(keys, with_images)

    def use(self, planned: PlannedUnit, asks: PlainAsks, stored: Mapping[AnswerKey, StoredBody]) -> bool:
        """Uses the stored answers of a unit; False if one is missing or names sources: then its protocol is run."""
        bodies: list[StoredBody] = []
        for key in asks.keys:
            row = stored.get(key)
            if row is None or OWN_SOURCES in row[0]:
                return False
            bodies.append(row)
        question, context, estimator = planned.unit[0], self._context, self._count.estimator
        place, scored = (planned.case_number, question.id, planned.condition_number), question.id in planned.scored
        group = (planned.condition_number, question.kind)
        for key, row in zip(asks.keys, bodies, strict=True):
            is_answer = context.note_stored_body(row)
            if estimator.has_call(key.ask):
                estimator.add_stored(key.ask, group, partial(self._ask, planned, key.trial))
            if is_answer and not context.caller.has_known_answer(with_images=asks.with_images):
                context.caller.note_answered(TrialGroup(context, planned).stored_request(key.trial))
            context.record_use(UsedAnswer(*place, key, scored, cut=False, digest=body_digest(row[0])))
        self._count.stored += len(bodies)
        return True

    def _ask(self, planned: PlannedUnit, trial: int) -> Ask:
        return TrialGroup(self._context, planned).stored_request(trial).ask
