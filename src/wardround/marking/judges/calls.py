"""Calls of a judge: its requests, the verdicts in its replies, and its entry in the manifest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from wardround.candidates.registry import make_candidate
from wardround.core.errors import WardroundError
from wardround.core.study import JudgeSettings, Study
from wardround.marking.evidence.support_judge import JudgedSupport, SupportPair, parse_support, support_question
from wardround.marking.judges.error_classes import (
    ERROR_TOKENS,
    REFUSED,
    UNREADABLE,
    ErrorVerdict,
    error_question,
    parse_error_class,
    reasoning_of,
    wrong_answers,
)
from wardround.marking.judges.judge import VERDICTS_FILE, DiagnosisPair, Judge, distinct_pairs
from wardround.marking.judges.lexical_judge import make_lexical_judge
from wardround.marking.judges.model_calls import NOT_CALLED, ModelCalls
from wardround.marking.judges.model_judge import (
    PROMPT,
    VERDICT_TOKENS,
    JudgeVerdicts,
    judge_name,
    parse_same,
    same_question,
)
from wardround.marking.judges.plugin_judge import RULE, PairJudge, ask_plugin_judge, judge_plugins, make_plugin_judge
from wardround.marking.judges.rubric_judge import (
    CRITERION_TOKENS,
    RUBRIC_TOKENS,
    CriterionPair,
    RubricAnswer,
    RubricVerdicts,
    criterion_question,
    parse_lines,
    parse_met,
    rubric_question,
)
from wardround.marking.marks import MARK_KEY
from wardround.running.batch import BatchReplies


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
    if settings.provider == "simulated" and settings.rubric == "answer":
        raise WardroundError('judge: rubric: a simulated judge gives one verdict a call; use rubric = "criterion"')


def refuse_error_classes(settings: JudgeSettings) -> None:
    """Refuses a judge that cannot name the class of an error."""
    if settings.is_rule or settings.provider == "simulated" or settings.provider in judge_plugins():
        raise WardroundError(f"error classes need a judge that is a model, not {settings.provider!r}")


def refuse_support(settings: JudgeSettings) -> None:
    """Refuses a judge that cannot say whether documents support a diagnosis."""
    if settings.is_rule or settings.provider in judge_plugins():
        raise WardroundError(f'[literature] support = "judge" needs a judge that is a model, not {settings.provider!r}')


@dataclass
class JudgeCalls(ModelCalls):
    """The calls of one judge over the answers of one run; stored verdicts are not asked for again."""

    role = PROMPT

    settings: JudgeSettings

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
        name = judge_name(self.identity, sampling, prompt)
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

    def error_classes(self, marks: pl.DataFrame, used: pl.LazyFrame) -> dict[tuple[Any, ...], ErrorVerdict]:
        """The error class of every answer that is not right, by the key of its mark.

        If a reply names no single class, the judge is asked once more and shown that reply.
        """
        refuse_error_classes(self.settings)
        sampling = self.settings.sampling(ERROR_TOKENS)
        wrongs = list(wrong_answers(marks, used, self.cases, self.store, self.study))
        answers = self._answers(map(error_question, wrongs), sampling, "error classes")
        classes = list(map(parse_error_class, answers))
        unread = [place for place, name in enumerate(classes) if name == UNREADABLE]
        if unread:
            again = [error_question(wrongs[place], answer.text) for place in unread if (answer := answers[place])]
            for place, answer in zip(unread, self._answers(again, sampling, "second error classes"), strict=True):
                classes[place] = UNREADABLE if answer is None else parse_error_class(answer)
        refused = marks.filter(pl.col("outcome") == "refused").select(MARK_KEY)
        verdicts = {key: ErrorVerdict(REFUSED, False) for key in refused.iter_rows()}
        for wrong, name in zip(wrongs, classes, strict=True):
            verdicts[wrong.key] = ErrorVerdict(name, reasoning_of(wrong.answer, wrong.question) is not None)
        return verdicts

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

    @property
    def can_judge_criteria(self) -> bool:
        """Whether it is a model: rules and plug-ins compare diagnoses only."""
        return not self.settings.is_rule and self._plugin is None

    def rubric_verdicts(self, answers: Sequence[tuple[RubricAnswer, Sequence[str]]]) -> RubricVerdicts:
        """The judge's verdict on every criterion of every distinct answer that it has one for."""
        rubrics = list(dict.fromkeys((shown, tuple(criteria)) for shown, criteria in answers))
        if self.settings.rubric == "answer":
            kind, sampling = "criteria", self.settings.sampling(RUBRIC_TOKENS)
            replies = self._answers((rubric_question(*rubric) for rubric in rubrics), sampling, "verdicts on answers")
            pairs = [CriterionPair(shown, text) for shown, criteria in rubrics for text in criteria]
            verdicts = [
                verdict
                for (_, criteria), reply in zip(rubrics, replies, strict=True)
                for verdict in parse_lines(reply, len(criteria))
            ]
            answered = [
                reply is not None for (_, criteria), reply in zip(rubrics, replies, strict=True) for _ in criteria
            ]
        else:
            kind, sampling = "criterion", self.settings.sampling(CRITERION_TOKENS)
            pairs = list(dict.fromkeys(CriterionPair(shown, text) for shown, criteria in rubrics for text in criteria))
            replies = self._answers(map(criterion_question, pairs), sampling, "verdicts on criteria")
            verdicts, answered = [parse_met(reply) for reply in replies], [reply is not None for reply in replies]
        self.prompts.fill(PROMPT, kind, {})
        name = judge_name(self.identity, sampling, self.prompts.hashes[f"{PROMPT}/{kind}"])
        unread = [is_answered and verdict is None for is_answered, verdict in zip(answered, verdicts, strict=True)]
        self.summary["rubric"] = {
            "name": name,
            "calls_for": self.settings.rubric,
            "criteria": len(pairs),
            "unreadable": sum(unread),
            "unanswered": sum(not is_answered for is_answered in answered),
            "cut_answers": sum(shown.answer.endswith(" [...]") for shown, _ in rubrics),
        }
        return RubricVerdicts(name, dict(zip(pairs, verdicts, strict=True)))

    def manifest(self) -> dict[str, Any]:
        """The manifest entry: the judge, stored and new answers, cost and failures."""
        if self.settings.is_rule or self._plugin is not None:
            return self.summary | {"warnings": self._unreadable_warnings()}
        return self.model_manifest() | {"warnings": self.examined_warnings() + self._unreadable_warnings()}

    def _unreadable_warnings(self) -> list[str]:
        warnings, cut = [], self.summary.get("cut", 0)
        for kind, count in self.summary.get("flagged", {}).items():
            if count:
                warnings.append(f"{count} open answers gave the judge {kind} text; see flag in {VERDICTS_FILE}")
        if refused := sum(batch.answers_refused for batch in self.batches):
            warnings.append(f"the judge's server refused {refused} requests: what they were for is unscored")
        if cut:
            warnings.append(f"{cut} verdicts were cut by length: give the judge a larger max_tokens")
        rubric = self.summary.get("rubric", {})
        if unscored := rubric.get("unscored_answers"):
            warnings.append(
                f"{unscored} rubric answers are unscored: the judge {self.settings.provider!r} cannot judge criteria; "
                "name a model as [judge]"
            )
        if unreadable := rubric.get("unreadable"):
            warnings.append(
                f"{unreadable} of the judge's {rubric['criteria']} verdicts on criteria could not be read; "
                "the answers they belong to are unscored"
            )
        if cut_answers := rubric.get("cut_answers"):
            warnings.append(f"{cut_answers} rubric answers were cut to 12,000 characters for the judge")
        if unreadable := self.summary.get("unreadable", 0) - cut:
            pairs = self.summary["pairs"]
            warnings.append(f"{unreadable} of the judge's {pairs} verdicts could not be read and are unscored")
        return warnings
