"""Calls of a model that marks answers, a judge or a reader: its requests, stored and new answers, budget and cost."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from wardround.asking.prompts import Prompts
from wardround.asking.render import estimated_tokens
from wardround.candidates.candidate import CandidateUnavailable, Request
from wardround.candidates.registry import make_candidate
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Identity, Sampling
from wardround.core.study import CandidateSettings, Study
from wardround.running.batch import BatchReplies, fetch_batch, stored_replies
from wardround.running.budget import BudgetTracker, bill, marking_run, price
from wardround.running.caller import Caller
from wardround.running.context import refuse_other_addresses
from wardround.running.images import ImageEncoder
from wardround.running.store import AnswerKey, AnswerStore

NOT_CALLED = "it is not asked after an interruption"


class ModelQuestion(Protocol):
    """A question to a model that marks answers."""

    def request(self, identity: Identity, sampling: Sampling, prompts: Prompts) -> Request:
        """The request to a model of this identity."""
        ...


@dataclass
class ModelCalls:
    """The calls of one model over the answers of one run; stored answers are not asked for again."""

    role: ClassVar[str]  # what it is in messages, and the name of its prompts

    settings: CandidateSettings
    study: Study
    cases: CaseSet
    store: AnswerStore
    prompts: Prompts
    budget: BudgetTracker
    base_folder: Path  # paths in its settings are relative to it
    note: Callable[[str], None]
    can_call: bool = True  # or only stored answers count
    quiet: bool = True
    batches: list[BatchReplies] = field(default_factory=list)
    answer_keys: list[AnswerKey] = field(default_factory=list)  # of its answers that were used
    summary: dict[str, Any] = field(default_factory=dict)  # for the manifest
    _identity: Identity | None = None

    @property
    def identity(self) -> Identity:
        return self._identity or self.settings.identity

    def _answers(self, questions: Iterable[ModelQuestion], sampling: Sampling, subject: str) -> list[Answer | None]:
        """The answer to each question, if there is one; stored ones first."""
        questions = list(questions)
        requests = self._requests(questions, sampling)
        replies = stored_replies(requests, self.store)
        refuse_other_addresses(self.settings, replies.addresses)
        if len(replies.answers) < replies.asks and not self.can_call:
            replies.why = NOT_CALLED
        elif len(replies.answers) < replies.asks:
            try:
                requests, replies = asyncio.run(self._ask(questions, sampling, subject))
            except asyncio.CancelledError:  # Ctrl-C for the second time
                raise KeyboardInterrupt from None
        self.batches.append(replies)
        self.answer_keys += [AnswerKey(key, 0, 0) for key in replies.answers]
        return [replies.answer_to(request) for request in requests]

    def _requests(self, questions: Sequence[ModelQuestion], sampling: Sampling) -> list[Request]:
        return [question.request(self.identity, sampling, self.prompts) for question in questions]

    async def _ask(
        self, questions: Sequence[ModelQuestion], sampling: Sampling, subject: str
    ) -> tuple[list[Request], BatchReplies]:
        candidate = make_candidate(self.settings, folder=self.base_folder, offline=self.study.offline)
        images = ImageEncoder()
        try:
            await candidate.prepare(self.cases)
            self._identity = candidate.identity  # fixed only now: a local model is named by its weights
            requests = self._requests(questions, sampling)
            self._announce(requests, subject)
            caller = Caller(marking_run(self.study.name, self.role), candidate, self.store, images, self.budget)
            return requests, await fetch_batch(requests, caller, self.store, quiet=self.quiet)
        except CandidateUnavailable as error:
            return self._requests(questions, sampling), BatchReplies(why=str(error))
        finally:
            await self.store.flush()
            await candidate.close()
            images.close()

    def _announce(self, requests: Sequence[Request], subject: str) -> None:
        replies = stored_replies(requests, self.store)
        new = {request.ask.key: request.ask for request in requests if request.ask.key not in replies.answers}
        tokens_in = sum(estimated_tokens(ask.messages) for ask in new.values())
        tokens_out = sum(ask.sampling.max_tokens or 0 for ask in new.values())
        cost = price(self.settings, tokens_in, tokens_out)
        price_note = f", about {cost:.2f} USD" if cost else ""
        self.note(f"{self.role}: stored {replies.stored:,} of {replies.asks:,} {subject}; {len(new):,} new{price_note}")

    @property
    def why(self) -> str | None:
        """The reason why answers are missing, or None."""
        why = next((batch.why for batch in self.batches if batch.why), None)
        return why and f"the {self.role}: {self.budget.reached or why}"

    @property
    def interrupted(self) -> bool:
        return any(batch.interrupted for batch in self.batches)

    def model_manifest(self) -> dict[str, Any]:
        """The manifest entry of a model that was called: its identity and settings, answers, cost and failures."""
        identity = self.identity
        spent = self.store.spent(marking_run(self.study.name, self.role), self.settings.name)
        hidden = {"headers", "name", "provider", "model", "revision"}
        return self.summary | {
            "provider": identity.provider,
            "model": identity.model,
            "revision": identity.revision,
            "settings": self.settings.model_dump(exclude=hidden, exclude_unset=True),
            "headers": sorted(self.settings.headers),
            "prompts": self._own_prompts(self.prompts.hashes),
            "prompt_sources": self._own_prompts(self.prompts.sources),
            "asked": sum(batch.asks for batch in self.batches),
            "stored": sum(batch.stored for batch in self.batches),
            "new": sum(len(batch.answers) - batch.stored for batch in self.batches),
            "failed": sum(batch.failed for batch in self.batches),
            "failures": [failure for batch in self.batches for failure in batch.failures],
            "calls": spent.calls,
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "cost": bill(self.settings, spent),
            "duplicates": spent.duplicates,
            "why": self.why,
        }

    def _own_prompts(self, values: Mapping[str, str]) -> dict[str, str]:
        """What is known of the prompts of this role."""
        return {key: value for key, value in values.items() if key.startswith(f"{self.role}/")}

    def examined_warnings(self) -> list[str]:
        """A warning if the model is itself a candidate of the study, whatever its settings."""
        own = [_model_key(identity) for identity in (self.settings.identity, self.identity)]
        return [
            f"the {self.role} is the examined candidate {candidate.name!r} itself"
            for candidate in self.study.candidates
            if _model_key(candidate.identity) in own
        ]


def _model_key(identity: Identity) -> tuple[Any, ...]:
    """What names a model: of a simulated one its parameters, too."""
    named = (identity.provider, identity.model, identity.revision)
    return (*named, identity.extra_body) if identity.provider == "simulated" else named
