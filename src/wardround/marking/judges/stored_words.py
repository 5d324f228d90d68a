"""What a judge wrote about a pair of diagnoses or a criterion, found again in the answer store. Calls nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import ValidationError

from wardround.core.ask import Answer, Identity, Sampling
from wardround.core.errors import WardroundError
from wardround.core.study import JudgeSettings
from wardround.marking.judges.judge import DiagnosisPair
from wardround.marking.judges.model_judge import PROMPT, VERDICT_TOKENS, JudgeQuestion, judge_name, same_question
from wardround.marking.judges.rubric_judge import (
    CRITERION_TOKENS,
    RUBRIC_TOKENS,
    CriterionPair,
    RubricAnswer,
    criterion_question,
    rubric_question,
    stated_reasons,
)
from wardround.running.store import AnswerKey
from wardround.running.stored_run import StoredRun

TOKENS = {"same": VERDICT_TOKENS, "criterion": CRITERION_TOKENS, "criteria": RUBRIC_TOKENS}  # by prompt


class KnownJudge(NamedTuple):
    """A judge as its requests name it, and the prompt of its verdicts."""

    identity: Identity
    sampling: Sampling
    kind: str


class JudgeWords:
    """The replies of a run's judges, by the name of the judge in the table of verdicts.

    A judge that is not of the study is known by the manifest, which names the latest one. A rule and a plug-in write
    no replies; of a judge whose prompt or settings have changed since, none are found.
    """

    def __init__(self, run: StoredRun) -> None:
        self._run = run
        self._judges: dict[str, KnownJudge] = {}
        try:
            for kind in TOKENS:
                run.prompts.fill(PROMPT, kind, {})
        except WardroundError:  # the run's own prompts are gone
            return
        for settings, revision in _known_judges(run):
            for kind, tokens in TOKENS.items():
                sampling = settings.sampling(tokens)
                for identity in (settings.identity, replace(settings.identity, revision=revision)):
                    name = judge_name(identity, sampling, run.prompts.hashes[f"{PROMPT}/{kind}"])
                    self._judges[name] = KnownJudge(identity, sampling, kind)

    def of_pair(self, judge: str, pair: DiagnosisPair) -> str | None:
        """What this judge replied about a pair; None if its reply is not known."""
        answer = self._answer(judge, same_question(pair))
        return None if answer is None else answer.text

    def of_criteria(self, judge: str, shown: RubricAnswer, criteria: Sequence[str]) -> list[str | None]:
        """What this judge wrote about each criterion of a rubric answer; None if it is not known."""
        known = self._judges.get(judge)
        if known is not None and known.kind == "criteria":
            return stated_reasons(self._answer(judge, rubric_question(shown, criteria)), len(criteria))
        answers = (self._answer(judge, criterion_question(CriterionPair(shown, text))) for text in criteria)
        return [None if answer is None else answer.text for answer in answers]

    def _answer(self, judge: str, question: JudgeQuestion) -> Answer | None:
        if (known := self._judges.get(judge)) is None:
            return None
        request = question.request(known.identity, known.sampling, self._run.prompts)
        answer = self._run.store.get(AnswerKey(request.ask.key, 0, 0))
        return None if answer is None or answer.refused_for else answer


def _known_judges(run: StoredRun) -> Iterator[tuple[JudgeSettings, str | None]]:
    """The settings of the manifest's judge and of the study's, each with the revision that the run found."""
    entry: dict[str, Any] = run.manifest.get("judge") or {}
    if run.study.judge is not None and not run.study.judge.is_rule:
        yield run.study.judge, entry.get("revision")
    if isinstance(entry.get("settings"), dict):
        fields = {name: entry[name] for name in ("provider", "model", "revision") if entry.get(name) is not None}
        try:
            yield JudgeSettings.model_validate(entry["settings"] | fields), entry.get("revision")
        except ValidationError:
            return
