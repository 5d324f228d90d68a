"""The models that a build asks, by role. Their answers go to the answer store like all others."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wardround.asking.prompts import Prompts
from wardround.asking.reasoning import without_reasoning
from wardround.candidates.candidate import CandidateUnavailable, Request
from wardround.candidates.registry import make_candidate
from wardround.cases.set import CaseSet
from wardround.core.ask import Ask, Identity, ImagePart, Message
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import BadInput, WardroundError
from wardround.core.store.location import StoreLocation
from wardround.core.study import Budget, CandidateSettings
from wardround.core.toml_table import parse_table, read_toml
from wardround.running.batch import BatchReplies, fetch_batch, stored_replies
from wardround.running.budget import BudgetTracker, bill
from wardround.running.caller import Caller
from wardround.running.images import ImageEncoder
from wardround.running.store import AnswerStore

PROMPT = "building"
PLACEHOLDER_CASE = Case(id="-", questions=[Question(id="-", kind="open", prompt="-", gold="-")])


@dataclass
class StepReplies:
    """The replies of one step by record id, and their cost."""

    answers: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    money: float = 0.0


@dataclass
class BuildModels:
    """The models of a build by role. A step whose role has no model is refused."""

    settings: dict[str, CandidateSettings]
    answers: StoreLocation | None  # the answer store
    build: str  # its name; calls are counted under it
    note: Callable[[str], None]
    prompts: Prompts = field(default_factory=Prompts)

    def has(self, role: str) -> bool:
        return role in self.settings

    def ask(
        self,
        role: str,
        prompt: str,
        slots: dict[str, dict[str, str]],
        max_tokens: int,
        images: Mapping[str, ImagePart] | None = None,
    ) -> StepReplies:
        """One reply for each record, whose slots fill the prompt; stored ones are reused. `images`: one by record."""
        if not self.has(role):
            raise WardroundError(f"the step needs a model: name one as [{role}] in the file given by --models")
        assert self.answers is not None, "models are given together with a store"
        store = AnswerStore(self.answers)
        try:
            return asyncio.run(self._ask(self.settings[role], prompt, slots, max_tokens, store, images or {}))
        except asyncio.CancelledError:  # Ctrl-C for the second time
            raise KeyboardInterrupt from None
        finally:
            store.close()

    async def _ask(
        self,
        settings: CandidateSettings,
        prompt: str,
        slots: dict[str, dict[str, str]],
        max_tokens: int,
        store: AnswerStore,
        images: Mapping[str, ImagePart],
    ) -> StepReplies:
        candidate = make_candidate(settings)
        encoder = ImageEncoder()
        try:
            await candidate.prepare(CaseSet(Path()))  # there are no cases yet to fit it on
            messages: list[tuple[str | ImagePart, ...]] = [
                (self.prompts.fill(PROMPT, prompt, filled), *([images[record]] if record in images else []))
                for record, filled in slots.items()
            ]
            requests = [_request(parts, candidate.identity, settings, max_tokens) for parts in messages]
            replies = stored_replies(requests, store)
            run = f"build {self.build}: {prompt}"
            caller = Caller(run, candidate, store, encoder, BudgetTracker(Budget()))
            if len(replies.answers) < replies.asks:
                self.note(f"{prompt}: stored {replies.stored:,} of {replies.asks:,}; the others are asked now")
                replies = await fetch_batch(requests, caller, store)
            self._refuse_unfinished(prompt, replies)
        except CandidateUnavailable as error:
            raise WardroundError(f"candidate {settings.name!r}: {error}") from None
        finally:
            await store.flush()
            await candidate.close()
            encoder.close()
        spending = store.spent(run, settings.name)
        answers = {record: replies.answer_to(request) for record, request in zip(slots, requests, strict=True)}
        texts_by_record = {
            record: without_reasoning(answer.text).strip() for record, answer in answers.items() if answer is not None
        }
        tokens_in, tokens_out = spending.tokens_in, spending.tokens_out
        return StepReplies(texts_by_record, spending.calls, tokens_in + tokens_out, bill(settings, spending))

    def _refuse_unfinished(self, prompt: str, replies: BatchReplies) -> None:
        """Stops a build that lacks replies it could still get: the same command would otherwise give other sets."""
        if replies.interrupted:
            raise KeyboardInterrupt
        if replies.why and len(replies.answers) + replies.refused < replies.asks:
            raise WardroundError(f"{prompt}: {replies.why}; what was answered is stored: run it again")


def _request(
    parts: tuple[str | ImagePart, ...], identity: Identity, settings: CandidateSettings, max_tokens: int
) -> Request:
    ask = Ask(identity, settings.sampling(max_tokens), (Message("user", parts),))
    return Request(ask, PLACEHOLDER_CASE, PLACEHOLDER_CASE.questions[0], Condition(), (), (0,))


def load_models(path: Path) -> dict[str, CandidateSettings]:
    """The models of a TOML file, by role: each table is a candidate."""
    models = {}
    for role, settings in read_toml(path, "models").items():
        if not isinstance(settings, dict):
            raise BadInput(path, "is not a table", field=role)
        models[role] = parse_table(CandidateSettings, {"name": role, **settings}, path, role)
    return models
