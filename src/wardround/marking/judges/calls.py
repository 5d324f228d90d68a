"""A judge is heard: its requests are put, its verdicts are read, and what it took is told in the manifest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.prompts import Prompts
from wardround.asking.render import estimated_tokens
from wardround.candidates.candidate import Gone, Request
from wardround.candidates.registry import make_candidate
from wardround.cases.set import CaseSet
from wardround.core.ask import Identity
from wardround.core.errors import WardroundError
from wardround.core.study import JudgeSettings, Study
from wardround.marking.evidence.support_judge import Supported, Wanted, read_support, support_request
from wardround.marking.judges.error_classes import (
    ERROR_TOKENS,
    NO_REASONING,
    error_request,
    read_error_class,
    reasoning_of,
    wrong_answers,
)
from wardround.marking.judges.judge import Judge, pairs
from wardround.marking.judges.lexical_judge import lexical_judge
from wardround.marking.judges.model_judge import PROMPT, VERDICT_TOKENS, Verdicts, judge_name, read_same, same_request
from wardround.running.batch import Heard, answers_to, stored_answers
from wardround.running.budget import Purse, price
from wardround.running.caller import Caller
from wardround.running.images import Imagery
from wardround.running.store import Row, Store

Asking = Callable[[Identity], list[Request]]  # the requests to a judge of this identity


def open_judge(settings: JudgeSettings, study: Study, beside: Path) -> None:
    """Refuses a judge that cannot be asked before anything is spent."""
    if settings.errors:
        refuse_to_name_errors(settings)
    if settings.is_rule:
        lexical_judge(settings.extra_body, beside)
    else:
        make_candidate(settings, offline=study.offline)


def refuse_to_name_errors(settings: JudgeSettings) -> None:
    """Refuses a judge that cannot tell one kind of error from another."""
    if settings.is_rule or settings.provider == "simulated":
        raise WardroundError(f"error classes need a judge that is a model, not {settings.provider!r}")


@dataclass
class Hearing:
    """One judge over the answers of one run. Nobody is called for what is stored."""

    settings: JudgeSettings
    study: Study
    cases: CaseSet
    store: Store
    prompts: Prompts
    purse: Purse
    beside: Path  # the folder that the judge's files are relative to
    note: Callable[[str], None]
    asks: bool = True  # or only what is stored counts
    quiet: bool = True
    heard: list[Heard] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)  # the answers of the judge that were used
    told: dict[str, Any] = field(default_factory=dict)  # for the manifest
    _identity: Identity | None = None

    def judge(self, predicted: pl.DataFrame) -> Judge:
        """The judge with a verdict on every distinct pair, as far as it gives one."""
        if self.settings.is_rule:
            rule = lexical_judge(self.settings.extra_body, self.beside)
            self.told = {"name": rule.name, "provider": self.settings.provider, "pairs": len(pairs(predicted))}
            return rule
        every, sampling = pairs(predicted), self.settings.sampling(VERDICT_TOKENS)

        def asking(identity: Identity) -> list[Request]:
            return [same_request(pair, identity, sampling, self.prompts) for pair in every]

        requests, heard = self._hear(asking, "verdicts")
        answers = [heard.answer_to(request) for request in requests]
        verdicts = [read_same(answer) for answer in answers]
        self.prompts.fill(PROMPT, "same", {})  # its hash is known from now on, also where there is no pair
        prompt = self.prompts.hashes[f"{PROMPT}/same"]
        name = judge_name(self._identity or self.settings.identity, sampling, prompt)
        said = [answer for answer, verdict in zip(answers, verdicts, strict=True) if answer and verdict is None]
        self.told = {
            "name": name,
            "pairs": len(every),
            "unreadable": len(said),
            "cut": sum(answer.finish == "length" for answer in said),
            "reported_models": sorted({answer.model for answer in answers if answer and answer.model}),
        }
        return Verdicts(name, dict(zip(every, verdicts, strict=True)))

    def error_classes(self, marks: pl.DataFrame, used: pl.LazyFrame) -> dict[tuple[Any, ...], str]:
        """The error class of every wrong answer, by its place."""
        refuse_to_name_errors(self.settings)
        every = [
            (wrong, reasoning_of(wrong.answer, wrong.question))
            for wrong in wrong_answers(marks, used, self.cases, self.store, self.study)
        ]
        reasoned = [(wrong, reasoning) for wrong, reasoning in every if reasoning is not None]
        sampling = self.settings.sampling(ERROR_TOKENS)

        def asking(identity: Identity) -> list[Request]:
            return [error_request(*each, identity, sampling, self.prompts) for each in reasoned]

        requests, heard = self._hear(asking, "error classes")
        classes = {wrong.place: NO_REASONING for wrong, _ in every}
        for (wrong, _), request in zip(reasoned, requests, strict=True):
            classes[wrong.place] = read_error_class(heard.answer_to(request))
        return classes

    def support(self, wanted: Wanted) -> Supported:
        """The judge's own support test: a verdict on every distinct pair of a diagnosis and documents."""
        if self.settings.is_rule:
            raise WardroundError('[literature] support = "judge" needs a judge that is a model, not the rule')
        sampling = self.settings.sampling(VERDICT_TOKENS)

        def asking(identity: Identity) -> list[Request]:
            return [support_request(*pair, identity, sampling, self.prompts) for pair in wanted.pairs.values()]

        requests, heard = self._hear(asking, "verdicts on support")
        answers = [heard.answer_to(request) for request in requests]
        verdicts = [read_support(answer) for answer in answers]
        said = [answer for answer, verdict in zip(answers, verdicts, strict=True) if answer and verdict is None]
        self.told["support"] = {
            "pairs": len(requests),
            "unreadable": len(said),
            "unanswered": sum(answer is None for answer in answers),
        }
        return Supported(dict(zip(wanted.pairs, verdicts, strict=True)))

    def _hear(self, asking: Asking, what: str) -> tuple[list[Request], Heard]:
        requests = asking(self._identity or self.settings.identity)
        heard = stored_answers(requests, self.store)
        if len(heard.answers) < heard.asked and not self.asks:
            heard.why = "it is not asked after an interruption"
        elif len(heard.answers) < heard.asked:
            try:
                requests, heard = asyncio.run(self._ask(asking, what))
            except asyncio.CancelledError:  # Ctrl-C for the second time
                raise KeyboardInterrupt from None
        self.heard.append(heard)
        self.rows += [Row(key, 0, 0) for key in heard.answers]
        return requests, heard

    async def _ask(self, asking: Asking, what: str) -> tuple[list[Request], Heard]:
        candidate = make_candidate(self.settings, offline=self.study.offline)
        imagery = Imagery()
        try:
            await candidate.prepare(self.cases)
            self._identity = candidate.identity  # final only now: a local model is named by its weights
            requests = asking(candidate.identity)
            self._announce(requests, what)
            caller = Caller(self._run, candidate, self.store, imagery, self.purse)
            heard = await answers_to(requests, caller, self.store, quiet=self.quiet)
            return requests, heard
        except Gone as gone:
            return asking(candidate.identity), Heard(why=str(gone))
        finally:
            await self.store.settled()
            await candidate.close()
            imagery.close()

    def _announce(self, requests: Sequence[Request], what: str) -> None:
        heard = stored_answers(requests, self.store)
        new = {request.ask.key: request.ask for request in requests if request.ask.key not in heard.answers}
        tokens_in = sum(estimated_tokens(ask.messages) for ask in new.values())
        tokens_out = sum(ask.sampling.max_tokens or 0 for ask in new.values())
        cost = price(self.settings, tokens_in, tokens_out)
        about = f", about {cost:.2f} USD" if cost else ""
        self.note(f"judge: stored {heard.stored:,} of {heard.asked:,} {what}; {len(new):,} new{about}")

    @property
    def _run(self) -> str:
        """The judge's calls are counted apart from those of a candidate of the same name."""
        return f"{self.study.name}: judge"

    @property
    def why(self) -> str | None:
        """Why the judge did not answer everything, or None."""
        why = next((heard.why for heard in self.heard if heard.why), None)
        return why and f"the judge: {self.purse.reached or why}"

    @property
    def interrupted(self) -> bool:
        return any(heard.interrupted for heard in self.heard)

    def manifest(self) -> dict[str, Any]:
        """Who judged, what was stored, what it took, and what failed."""
        if self.settings.is_rule:
            return self.told | {"warnings": []}
        identity = self._identity or self.settings.identity
        calls, tokens_in, tokens_out, duplicates = self.store.spent(self._run, self.settings.name)
        hidden = {"headers", "name", "provider", "model", "revision"}
        return self.told | {
            "provider": identity.provider,
            "model": identity.model,
            "revision": identity.revision,
            "settings": self.settings.model_dump(exclude=hidden, exclude_unset=True),
            "headers": sorted(self.settings.headers),
            "prompts": {key: value for key, value in self.prompts.hashes.items() if key.startswith(f"{PROMPT}/")},
            "asked": sum(heard.asked for heard in self.heard),
            "stored": sum(heard.stored for heard in self.heard),
            "new": sum(len(heard.answers) - heard.stored for heard in self.heard),
            "failed": sum(heard.failed for heard in self.heard),
            "failures": [failure for heard in self.heard for failure in heard.failures],
            "calls": calls,
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "cost": price(self.settings, tokens_in, tokens_out),
            "duplicates": duplicates,
            "why": self.why,
            "warnings": self._warnings(identity),
        }

    def _warnings(self, identity: Identity) -> list[str]:
        told = [
            f"the judge is the examined candidate {candidate.name!r} itself"
            for candidate in self.study.candidates
            if (candidate.provider, candidate.model, candidate.revision)
            == (identity.provider, identity.model, identity.revision)
        ]
        if cut := self.told.get("cut"):
            told.append(f"{cut} verdicts were cut by length: give the judge a larger max_tokens")
        if unclear := self.told.get("unreadable", 0) - (cut or 0):
            told.append(f"{unclear} of the judge's {self.told['pairs']} verdicts could not be read and are unscored")
        return told
