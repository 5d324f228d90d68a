"""Calls of a judge: its requests, the verdicts in its replies, and its entry in the manifest."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.prompts import Prompts
from wardround.asking.render import estimated_tokens
from wardround.candidates.candidate import CandidateUnavailable, Request
from wardround.candidates.registry import make_candidate
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Identity, Sampling
from wardround.core.errors import WardroundError
from wardround.core.study import JudgeSettings, Study
from wardround.marking.evidence.support_judge import JudgedSupport, SupportPair, parse_support, support_question
from wardround.marking.judges.error_classes import (
    ERROR_TOKENS,
    NO_REASONING,
    error_question,
    parse_error_class,
    wrong_answers,
)
from wardround.marking.judges.judge import VERDICTS_FILE, DiagnosisPair, Judge, distinct_pairs
from wardround.marking.judges.lexical_judge import make_lexical_judge
from wardround.marking.judges.model_judge import (
    PROMPT,
    VERDICT_TOKENS,
    JudgeQuestion,
    JudgeVerdicts,
    judge_name,
    parse_same,
    same_question,
)
from wardround.marking.judges.plugin_judge import RULE, PairJudge, ask_plugin_judge, judge_plugins, make_plugin_judge
from wardround.running.batch import BatchReplies, fetch_batch, stored_replies
from wardround.running.budget import BudgetTracker, judge_run, price
from wardround.running.caller import Caller
from wardround.running.context import refuse_other_addresses
from wardround.running.images import ImageEncoder
from wardround.running.store import AnswerKey, AnswerStore

NOT_CALLED = "it is not asked after an interruption"


def check_judge_settings(settings: JudgeSettings, study: Study, base_folder: Path) -> None:
    """Refuses a judge that cannot be asked, before anything is spent."""
    if settings.errors:
        refuse_error_classes(settings)
    if settings.synonyms is not None and not settings.is_rule:
        raise WardroundError(f"judge: synonyms: is for the provider lexical, not {settings.provider!r}")
    if study.literature is not None and study.literature.support == "judge":
        refuse_support(settings)
    if settings.is_rule:
        make_lexical_judge(settings, base_folder)
    elif make_plugin_judge(settings, offline=study.offline) is None:
        other_names = (RULE, *judge_plugins())
        make_candidate(settings, folder=base_folder, offline=study.offline, other_names=other_names)


def refuse_error_classes(settings: JudgeSettings) -> None:
    """Refuses a judge that cannot name the class of an error."""
    if settings.is_rule or settings.provider == "simulated" or settings.provider in judge_plugins():
        raise WardroundError(f"error classes need a judge that is a model, not {settings.provider!r}")


def refuse_support(settings: JudgeSettings) -> None:
    """Refuses a judge that cannot say whether documents support a diagnosis."""
    if settings.is_rule or settings.provider in judge_plugins():
        raise WardroundError(f'[literature] support = "judge" needs a judge that is a model, not {settings.provider!r}')


@dataclass
class JudgeCalls:
    """The calls of one judge over the answers of one run; stored answers are not asked for again."""

    settings: JudgeSettings
    study: Study
    cases: CaseSet
    store: AnswerStore
    prompts: Prompts
    budget: BudgetTracker
    base_folder: Path  # paths in the judge's settings are relative to it
    note: Callable[[str], None]
    can_call: bool = True  # or only stored answers count
    quiet: bool = True
    batches: list[BatchReplies] = field(default_factory=list)
    answer_keys: list[AnswerKey] = field(default_factory=list)  # of the judge's answers that were used
    summary: dict[str, Any] = field(default_factory=dict)  # for the manifest
    _identity: Identity | None = None

    @cached_property
    def _plugin(self) -> PairJudge | None:
        return make_plugin_judge(self.settings, offline=self.study.offline)

    def judge(self, predictions: pl.DataFrame) -> Judge:
        """The judge, with its verdict on every distinct pair that it has one for."""
        return self.judge_pairs(distinct_pairs(predictions))

    def judge_pairs(self, pairs: Sequence[DiagnosisPair]) -> Judge:
        """The judge, with its verdict on each of these pairs that it has one for."""
        if self.settings.is_rule:
            rule = make_lexical_judge(self.settings, self.base_folder)
            self.summary = {"name": rule.name, "provider": self.settings.provider, "pairs": len(pairs)}
            return rule
        if self._plugin is not None:
            return self._judge_by_plugin(self._plugin, pairs)
        sampling = self.settings.sampling(VERDICT_TOKENS)
        answers = self._answers(map(same_question, pairs), sampling, "verdicts")
        verdicts = [parse_same(answer) for answer in answers]
        self.prompts.fill(PROMPT, "same", {})  # so that its hash is known even without a pair
        prompt = self.prompts.hashes[f"{PROMPT}/same"]
        name = judge_name(self._identity or self.settings.identity, sampling, prompt)
        unreadable = [answer for answer, verdict in zip(answers, verdicts, strict=True) if answer and verdict is None]
        self.summary = {
            "name": name,
            "pairs": len(pairs),
            "unreadable": len(unreadable),
            "cut": sum(answer.finish == "length" for answer in unreadable),
            "reported_models": sorted({answer.model for answer in answers if answer and answer.model}),
        }
        return JudgeVerdicts(name, dict(zip(pairs, verdicts, strict=True)))

    def _judge_by_plugin(self, plugin: PairJudge, pairs: Sequence[DiagnosisPair]) -> Judge:
        if not self.can_call:
            self.batches.append(BatchReplies(why=NOT_CALLED))
        judge = ask_plugin_judge(plugin, pairs) if self.can_call else JudgeVerdicts(plugin.name)
        missing = sum(judge.by_pair.get(pair) is None for pair in pairs)
        provider = self.settings.provider
        self.summary = {"name": judge.name, "provider": provider, "pairs": len(pairs), "unreadable": missing}
        self.summary["why"] = self.why
        return judge

    def error_classes(self, marks: pl.DataFrame, used: pl.LazyFrame) -> dict[tuple[Any, ...], str]:
        """The error class of every wrong answer, by the key of its mark."""
        refuse_error_classes(self.settings)
        wrongs = list(wrong_answers(marks, used, self.cases, self.store, self.study))
        questions = {wrong.key: question for wrong in wrongs if (question := error_question(wrong)) is not None}
        answers = self._answers(questions.values(), self.settings.sampling(ERROR_TOKENS), "error classes")
        classes = map(parse_error_class, answers)
        return {wrong.key: NO_REASONING for wrong in wrongs} | dict(zip(questions, classes, strict=True))

    def support(self, pairs: Sequence[SupportPair]) -> JudgedSupport:
        """The judge's own support test: its verdict on every pair of a diagnosis and documents."""
        refuse_support(self.settings)
        sampling = self.settings.sampling(VERDICT_TOKENS)
        answers = self._answers(map(support_question, pairs), sampling, "verdicts on support")
        verdicts = [parse_support(answer) for answer in answers]
        self.summary["support"] = {
            "pairs": len(pairs),
            "unreadable": sum(bool(a) and verdict is None for a, verdict in zip(answers, verdicts, strict=True)),
            "unanswered": sum(answer is None for answer in answers),
        }
        return JudgedSupport(dict(zip(pairs, verdicts, strict=True)))

    def _answers(self, questions: Iterable[JudgeQuestion], sampling: Sampling, subject: str) -> list[Answer | None]:
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

    def _requests(self, questions: Sequence[JudgeQuestion], sampling: Sampling) -> list[Request]:
        identity = self._identity or self.settings.identity
        return [question.request(identity, sampling, self.prompts) for question in questions]

    async def _ask(
        self, questions: Sequence[JudgeQuestion], sampling: Sampling, subject: str
    ) -> tuple[list[Request], BatchReplies]:
        candidate = make_candidate(self.settings, folder=self.base_folder, offline=self.study.offline)
        images = ImageEncoder()
        try:
            await candidate.prepare(self.cases)
            self._identity = candidate.identity  # fixed only now: a local model is named by its weights
            requests = self._requests(questions, sampling)
            self._announce(requests, subject)
            caller = Caller(judge_run(self.study.name), candidate, self.store, images, self.budget)
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
        self.note(f"judge: stored {replies.stored:,} of {replies.asks:,} {subject}; {len(new):,} new{price_note}")

    @property
    def why(self) -> str | None:
        """The reason why verdicts are missing, or None."""
        why = next((batch.why for batch in self.batches if batch.why), None)
        return why and f"the judge: {self.budget.reached or why}"

    @property
    def interrupted(self) -> bool:
        return any(batch.interrupted for batch in self.batches)

    def manifest(self) -> dict[str, Any]:
        """The manifest entry: the judge, stored and new answers, cost and failures."""
        if self.settings.is_rule or self._plugin is not None:
            return self.summary | {"warnings": self._unreadable_warnings()}
        identity = self._identity or self.settings.identity
        spent = self.store.spent(judge_run(self.study.name), self.settings.name)
        hidden = {"headers", "name", "provider", "model", "revision"}
        return self.summary | {
            "provider": identity.provider,
            "model": identity.model,
            "revision": identity.revision,
            "settings": self.settings.model_dump(exclude=hidden, exclude_unset=True),
            "headers": sorted(self.settings.headers),
            "prompts": {key: value for key, value in self.prompts.hashes.items() if key.startswith(f"{PROMPT}/")},
            "asked": sum(batch.asks for batch in self.batches),
            "stored": sum(batch.stored for batch in self.batches),
            "new": sum(len(batch.answers) - batch.stored for batch in self.batches),
            "failed": sum(batch.failed for batch in self.batches),
            "failures": [failure for batch in self.batches for failure in batch.failures],
            "calls": spent.calls,
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "cost": price(self.settings, spent.tokens_in, spent.tokens_out),
            "duplicates": spent.duplicates,
            "why": self.why,
            "warnings": self._warnings(identity),
        }

    def _warnings(self, identity: Identity) -> list[str]:
        own = [
            f"the judge is the examined candidate {candidate.name!r} itself"
            for candidate in self.study.candidates
            if (candidate.provider, candidate.model, candidate.revision)
            == (identity.provider, identity.model, identity.revision)
        ]
        return own + self._unreadable_warnings()

    def _unreadable_warnings(self) -> list[str]:
        warnings, cut = [], self.summary.get("cut", 0)
        for kind, count in self.summary.get("flagged", {}).items():
            if count:
                warnings.append(f"{count} open answers gave the judge {kind} text; see flag in {VERDICTS_FILE}")
        if refused := sum(batch.answers_refused for batch in self.batches):
            warnings.append(f"the judge's server refused {refused} requests: what they were for is unscored")
        if cut:
            warnings.append(f"{cut} verdicts were cut by length: give the judge a larger max_tokens")
        if unreadable := self.summary.get("unreadable", 0) - cut:
            pairs = self.summary["pairs"]
            warnings.append(f"{unreadable} of the judge's {pairs} verdicts could not be read and are unscored")
        return warnings
