"""Writers: the models that a build asks, each in a role. Their answers are in the answer store like any other."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Gone, Request
from wardround.candidates.registry import make_candidate
from wardround.cases.images.recipe import recipe_for
from wardround.cases.set import CaseSet
from wardround.core.ask import Ask, Identity, ImagePart, Message, Sampling
from wardround.core.canonical import sha256_file
from wardround.core.case import Case, Image, Question
from wardround.core.condition import Condition
from wardround.core.errors import BadInput, WardroundError
from wardround.core.field_errors import said, where
from wardround.core.study import Budget, CandidateSettings
from wardround.running.batch import Heard, answers_to, stored_answers
from wardround.running.budget import Purse, price
from wardround.running.caller import Caller
from wardround.running.images import Imagery
from wardround.running.store import Store

PROMPT = "building"
NOBODY = Case(id="-", questions=[Question(id="-", kind="open", prompt="-", gold="-")])
Asked = tuple[str, dict[str, str], list[Path]]  # the record's id, the slots of the prompt, images


@dataclass
class Told:
    """The answers of one step, by the id of the record, and what they took."""

    answers: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    calls: int = 0
    tokens: int = 0
    money: float = 0.0


@dataclass
class Writers:
    """The models of a build by role. A role without a model is refused by name when it is needed."""

    settings: dict[str, CandidateSettings]
    answers: Path | None  # the answer store
    build: str  # its name, under which calls are counted
    prompts: Prompts = field(default_factory=Prompts)
    note: Callable[[str], None] = lambda line: None
    budget: Budget = field(default_factory=Budget)

    def has(self, role: str) -> bool:
        return role in self.settings

    def ask(self, role: str, prompt: str, asked: Iterable[Asked], max_tokens: int) -> Told:
        """One answer to each; what is stored is not asked again."""
        if not self.has(role):
            raise WardroundError(f"the step needs a model: name one as [{role}] in the file given by --models")
        assert self.answers is not None, "models are given together with a store"
        store = Store(self.answers)
        try:
            return asyncio.run(self._ask(self.settings[role], prompt, list(asked), max_tokens, store))
        except asyncio.CancelledError:  # Ctrl-C for the second time
            raise KeyboardInterrupt from None
        finally:
            store.close()

    async def _ask(
        self, settings: CandidateSettings, prompt: str, asked: list[Asked], max_tokens: int, store: Store
    ) -> Told:
        candidate = make_candidate(settings)
        imagery = Imagery()
        try:
            await candidate.prepare(CaseSet(Path()))  # no case is there yet that it could be fitted on
            requests = [self._request(each, prompt, candidate.identity, settings, max_tokens) for each in asked]
            heard = stored_answers(requests, store)
            run = f"build {self.build}: {prompt}"
            caller = Caller(run, candidate, store, imagery, Purse(self.budget))
            if len(heard.answers) < heard.asked:
                self.note(f"{prompt}: stored {heard.stored:,} of {heard.asked:,}; the others are asked now")
                heard = await answers_to(requests, caller, store)
            self._refuse_unfinished(prompt, heard)
        except Gone as gone:
            raise WardroundError(f"candidate {settings.name!r}: {gone}") from None
        finally:
            await store.settled()
            await candidate.close()
            imagery.close()
        calls, tokens_in, tokens_out, _ = store.spent(run, settings.name)  # over all its starts
        told = Told(asked=len(asked), calls=calls, tokens=tokens_in + tokens_out)
        told.money = price(settings, tokens_in, tokens_out)
        for (id, _, _), request in zip(asked, requests, strict=True):
            if (answer := heard.answer_to(request)) is not None:
                told.answers[id] = answer.text
        return told

    def _refuse_unfinished(self, prompt: str, heard: Heard) -> None:
        """A build goes on only with all answers that can be had: else the same command would give other sets."""
        if heard.interrupted:
            raise KeyboardInterrupt
        if heard.why and len(heard.answers) + heard.refused < heard.asked:
            raise WardroundError(f"{prompt}: {heard.why}; what was answered is stored: run it again")

    def _request(
        self, asked: Asked, prompt: str, identity: Identity, settings: CandidateSettings, max_tokens: int
    ) -> Request:
        _, slots, images = asked
        parts = [ImagePart(str(path), sha256_file(path), recipe_for(Image(path=path.name))) for path in images]
        text = self.prompts.fill(PROMPT, prompt, slots)
        told: dict[str, Any] = {"temperature": 0.0, "max_tokens": max_tokens, **settings.given}
        if "stop" in told:
            told["stop"] = tuple(told["stop"])
        ask = Ask(identity, Sampling(**told), (Message("user", (*parts, text)),))
        return Request(ask, NOBODY, NOBODY.questions[0], Condition(), (), (0,))


def load_models(path: Path) -> dict[str, CandidateSettings]:
    """The models of a TOML file, by role: each table is a candidate."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(path, "there is no such file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(path, f"is not TOML: {error}") from None
    models = {}
    for role, settings in told.items():
        try:
            models[role] = CandidateSettings.model_validate({"name": role, **settings})
        except (ValidationError, TypeError) as error:
            if isinstance(error, TypeError):
                raise BadInput(path, "is no table", field=role) from None
            first = error.errors()[0]
            raise BadInput(path, said(first), field=where((role, *first["loc"]))) from None
    return models
