"""What a run's own answers show of its settings, after they were given: no call is made for it."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import polars as pl

from wardround.asking.reasoning import split_reasoning
from wardround.core.ask import Answer
from wardround.core.condition import Condition
from wardround.running.context import RunContext
from wardround.running.sentinel import spread
from wardround.running.settings import max_tokens, reasoning, stop, temperature
from wardround.running.settings.model_name import model_verdict
from wardround.running.settings.prober import Prober
from wardround.running.settings.uses import SettingUses, can_be_probed
from wardround.running.settings.verdict import SettingVerdict
from wardround.running.stored_run import used_keys
from wardround.running.used_answers import scan_used

MAX_ANSWERS = 2_000  # of one candidate, spread over the run
MIN_WITH_REASONING, MIN_SHARE = 3, 0.1  # under `reasoning = off`: fewer may be tags that a prompt asked for


@dataclass
class AnswerCounts:
    """Counts over answers of one candidate. `limit` is the sent max_tokens, if the study sets one."""

    stops: tuple[str, ...] = ()
    limit: int | None = None
    answers: int = 0
    past_stop: int = 0
    too_long: int = 0
    by_reasoning: Counter[bool] = field(default_factory=Counter)
    with_reasoning: Counter[bool] = field(default_factory=Counter)

    def add(self, condition: Condition, answer: Answer) -> None:
        """Counts one answer that is scored; refusals and log-probabilities are left out."""
        if answer.refused_for is not None or condition.confidence == "logprobs" or condition.probe != "none":
            return
        self.answers += 1
        if self.stops:
            self.past_stop += stop.runs_past_stop([answer.text], self.stops)
        if self.limit is not None:
            self.too_long += max_tokens.exceeds(answer.text, self.limit)
        if condition.reasoning != "as-is":
            is_on = condition.reasoning == "on"
            self.by_reasoning[is_on] += 1
            self.with_reasoning[is_on] += bool(answer.reasoning or split_reasoning(answer.text).reasoning)


def watched_verdicts(uses: SettingUses, counts: AnswerCounts) -> list[SettingVerdict]:
    """What the counts prove; settings about which they say nothing are left out."""
    verdicts: list[SettingVerdict] = []
    for is_on in uses.reasoning:
        answers, reasoned = counts.by_reasoning[is_on], counts.with_reasoning[is_on]
        name, value = reasoning.reasoning_setting(is_on), "on" if is_on else "off"
        why = f"{reasoned:,} of {answers:,} answers have reasoning text"
        if is_on and reasoned:
            verdicts.append(SettingVerdict(name, value, "honoured", why))
        elif not is_on and reasoned >= max(MIN_WITH_REASONING, MIN_SHARE * answers):
            verdicts.append(SettingVerdict(name, value, "ignored", why))
        else:
            verdicts.append(SettingVerdict(name, value, "unknown", why))
    if counts.past_stop:
        why = f"{counts.past_stop:,} of {counts.answers:,} answers go on after a stop sequence"
        verdicts.append(SettingVerdict(stop.SETTING, ", ".join(map(repr, counts.stops)), "ignored", why))
    if counts.too_long:
        why = f"{counts.too_long:,} of {counts.answers:,} answers have more than twice as many words"
        verdicts.append(SettingVerdict(max_tokens.SETTING, str(uses.sampling.max_tokens), "ignored", why))
    return verdicts


def watch(context: RunContext, uses: SettingUses, folder: Path) -> list[SettingVerdict]:
    """The verdicts that a run's own answers, the requests and the names of models allow."""
    if not can_be_probed(context):
        return []
    prober, sampling = Prober(context, uses.probe_reasoning), uses.sampling
    fields = prober.sent_fields(sampling)
    limit = sampling.max_tokens and max_tokens.sent_limit(fields, sampling.max_tokens)
    counts = AnswerCounts(sampling.stop or (), limit)
    for condition, answer in _answers(context, folder):
        counts.add(condition, answer)
    verdicts = watched_verdicts(uses, counts)
    if fields is not None and sampling.temperature is not None and temperature.SETTING not in fields:
        why = "the API takes none: the server's own default holds"
        verdicts.append(SettingVerdict(temperature.SETTING, f"{sampling.temperature:g}", "refused", why))
    if fields is not None and sampling.stop and not any(name in fields for name in stop.FIELDS):
        verdicts.append(stop.stop_verdict(sampling.stop, (), is_sent=False))
    if context.caller.settings.base_url is not None:
        verdicts.append(model_verdict(context.caller.settings.model, context.models))
    return verdicts


def _answers(context: RunContext, folder: Path) -> Iterable[tuple[Condition, Answer]]:
    """Scored answers of the candidate, spread evenly over the run."""
    is_own = (pl.col("candidate") == context.caller.settings.name) & pl.col("scored")
    used = scan_used(folder).filter(is_own).select("condition", "ask", "trial", "turn").collect()
    conditions = {text: Condition(**json.loads(text)) for text in used["condition"].unique()}
    chosen = used[sorted(spread(len(used), MAX_ANSWERS))]
    bodies = context.store.bodies(list(used_keys(chosen)))
    for condition, body in zip(chosen["condition"], bodies, strict=True):
        if body is not None:
            yield conditions[condition], Answer.from_dict(orjson.loads(body))
