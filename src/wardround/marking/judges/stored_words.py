"""What a judge wrote about a pair of diagnoses, found again in the answer store. Calls nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from wardround.core.ask import Identity, Sampling
from wardround.core.errors import WardroundError
from wardround.core.study import JudgeSettings
from wardround.marking.judges.judge import DiagnosisPair
from wardround.marking.judges.model_judge import PROMPT, VERDICT_TOKENS, judge_name, same_question
from wardround.running.store import AnswerKey
from wardround.running.stored_run import StoredRun


class JudgeWords:
    """The replies of a run's judges, by the name of the judge in the table of verdicts.

    A judge that is not of the study is known by the manifest, which names the latest one. A rule and a plug-in write
    no replies; of a judge whose prompt or settings have changed since, none are found.
    """

    def __init__(self, run: StoredRun) -> None:
        self._run = run
        self._judges: dict[str, tuple[Identity, Sampling]] = {}
        try:
            run.prompts.fill(PROMPT, "same", {})
        except WardroundError:  # the run's own prompts are gone
            return
        prompt_hash = run.prompts.hashes[f"{PROMPT}/same"]
        for settings, revision in _known_judges(run):
            sampling = settings.sampling(VERDICT_TOKENS)
            for identity in (settings.identity, replace(settings.identity, revision=revision)):
                self._judges[judge_name(identity, sampling, prompt_hash)] = identity, sampling

    def of_pair(self, judge: str, pair: DiagnosisPair) -> str | None:
        """What this judge replied about a pair; None if its reply is not known."""
        if judge not in self._judges:
            return None
        request = same_question(pair).request(*self._judges[judge], self._run.prompts)
        answer = self._run.store.get(AnswerKey(request.ask.key, 0, 0))
        return None if answer is None or answer.refused_for else answer.text


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
