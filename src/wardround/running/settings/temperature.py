"""Temperature, and several replies to one request: random digits differ at temperature 1 and agree at 0."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wardround.running.settings import agreement
from wardround.running.settings.prober import Prober, ProbeReply, ProbeResult
from wardround.running.settings.random_digits import QUESTION, are_numbers, ask_for_digits, texts_of
from wardround.running.settings.verdict import SettingVerdict, Verdict

SETTING, SEVERAL = "temperature", "n"
HIGH = 1.0  # the largest value that every API takes
HIGH_REPLIES = 4
MAX_CALLS = 1 + HIGH_REPLIES + agreement.ALL
NO_NUMBERS = "the candidate did not write the random numbers that it was asked for"


@dataclass(frozen=True)
class TemperatureEvidence:
    """Replies at temperature 1, of one request for several (`together`) or of single requests, and replies at 0."""

    together: tuple[ProbeReply, ...] = ()
    alone: tuple[ProbeReply, ...] = ()
    at_zero: tuple[ProbeReply, ...] = ()
    wanted_together: int = 0  # 0: no request for several can be made
    returned_one: bool = False  # when several were asked for, in a probe or before
    is_sent: bool = True  # whether a temperature is
    refusal: str | None = None

    @property
    def high_texts(self) -> list[str]:
        return texts_of(self.alone or self.together)

    @property
    def samples(self) -> bool:
        """Whether replies at temperature 1 differ, be they numbers or not."""
        return len(set(self.high_texts)) > 1


def temperature_verdict(asked: float, evidence: TemperatureEvidence) -> SettingVerdict:
    """Whether the temperature that the study asks for took effect."""

    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(SETTING, f"{asked:g}", verdict, why)

    if not evidence.is_sent:
        return result("refused", "the API takes none: the server's own default holds")
    if evidence.refusal is not None:
        return result("unknown", f"the probe was refused: {evidence.refusal}")
    high, zero = evidence.high_texts, texts_of(evidence.at_zero)
    if asked > 0 and not evidence.samples:
        if not are_numbers(high):
            return result("unknown", NO_NUMBERS)
        why = f"{len(high)} replies at temperature {HIGH:g} to a request for random digits are the same"
        return result("ignored" if len(high) >= HIGH_REPLIES else "unknown", why)
    agrees_after_differing = asked > 0 and agreement.agreement(zero) == "agree"
    if not are_numbers(zero) and not agrees_after_differing:
        return result("unknown", NO_NUMBERS)
    why = f"{_differ(zero)} at temperature 0" + (f", {_differ(high)} at {HIGH:g}" if asked > 0 else "")
    match agreement.agreement(zero):
        case "agree":
            return result("honoured", why)
        case "differ" if not any(reply.reasoning for reply in evidence.at_zero):  # long texts seldom come again
            return result("ignored", why)
        case _:
            return result("unknown", f"{why}: rounding alone may make those at 0 differ")


def several_verdict(trials: int, evidence: TemperatureEvidence) -> SettingVerdict:
    """Whether a request for several replies returns as many, and not copies of one. Missing ones are asked for."""
    wanted, together, alone = evidence.wanted_together, texts_of(evidence.together), texts_of(evidence.alone)

    def result(verdict: Verdict, why: str, *, is_decisive: bool = False) -> SettingVerdict:
        return SettingVerdict(SEVERAL, str(trials), verdict, why, is_decisive)

    if evidence.returned_one:
        return result("ignored", "one reply came back where several were asked for: each trial is a request of its own")
    if not wanted:
        return result("refused", "the server takes one at a time: each trial is a request of its own")
    if not together:
        return result("unknown", "the probe was not answered")
    are_copies = len(together) >= HIGH_REPLIES and are_numbers(together) and len(set(together)) == 1
    if are_copies and len(set(alone)) > 1:
        why = f"the {len(together)} replies of one request are the same, those of single requests differ"
        return result("ignored", why, is_decisive=True)
    return result("honoured", f"{len(together)} of {wanted} replies came back")


async def probe_temperature(prober: Prober, asked: float | None, trials: int) -> list[SettingVerdict]:
    """The verdicts on temperature, if the study sets one, and on n, if it has several trials."""
    evidence = await _collect(prober, asked, trials)
    verdicts = [] if asked is None else [temperature_verdict(asked, evidence)]
    return [*verdicts, *([several_verdict(trials, evidence)] if trials > 1 else [])]


async def _collect(prober: Prober, asked: float | None, trials: int) -> TemperatureEvidence:
    high = prober.sampling(temperature=None if asked is None else HIGH)
    zero = prober.sampling(temperature=0.0)

    def is_sent() -> bool:
        fields = prober.sent_fields(zero)
        return fields is None or SETTING in fields

    def is_enough_at_high(texts: Sequence[str]) -> bool:
        return len(texts) >= HIGH_REPLIES or len(set(texts)) > 1 or (bool(texts) and not is_sent())

    def is_enough_at_zero(texts: Sequence[str]) -> bool:
        return agreement.is_enough(texts) or (bool(texts) and not is_sent())

    together = alone = ProbeResult()
    wanted = HIGH_REPLIES if trials > 1 and prober.supports_multiple else 0
    if wanted:
        together = await prober.ask(QUESTION, high, count=wanted)
    if asked and len(set(together.texts)) < 2:
        alone = await ask_for_digits(prober, high, is_enough_at_high)
    refusal = together.refusal or alone.refusal
    evidence = TemperatureEvidence(
        together=together.replies,
        alone=alone.replies,
        wanted_together=0 if prober.refuses_several else wanted,
        returned_one=prober.gets_one,
        is_sent=is_sent(),
        refusal=refusal,
    )
    if asked is None or not evidence.is_sent or refusal or (asked > 0 and not evidence.samples):
        return evidence
    at_zero = await ask_for_digits(prober, zero, is_enough_at_zero, stops_at_words=asked == 0)
    return replace(evidence, at_zero=at_zero.replies, is_sent=is_sent(), refusal=at_zero.refusal)


def _differ(texts: Sequence[str]) -> str:
    return f"{len(set(texts))} different replies of {len(texts)}"
