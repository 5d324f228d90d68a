"""Seed: random digits of one seed agree, those of another seed differ."""

from collections.abc import Sequence
from dataclasses import dataclass

from wardround.running.settings import agreement
from wardround.running.settings.prober import Prober
from wardround.running.settings.random_digits import are_numbers, ask_for_digits
from wardround.running.settings.temperature import HIGH, NO_NUMBERS
from wardround.running.settings.verdict import SettingVerdict, Verdict

SETTING = "seed"
SEED, OTHER_SEEDS = 20_261, (4_711, 86_028)
MAX_CALLS = agreement.ALL + len(OTHER_SEEDS)


@dataclass(frozen=True)
class SeedEvidence:
    """Replies at temperature 1 with one seed, and one reply with each other seed."""

    same: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    is_sent: bool = True
    refusal: str | None = None
    has_reasoning: bool = False


def seed_verdict(evidence: SeedEvidence) -> SettingVerdict:
    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(SETTING, "sent", verdict, why)

    if not evidence.is_sent:
        return result("refused", "the API takes none")
    if evidence.refusal is not None:
        return result("unknown", f"the probe was refused: {evidence.refusal}")
    if not are_numbers(evidence.same):
        return result("unknown", NO_NUMBERS)
    why = f"{len(set(evidence.same))} different replies of {len(evidence.same)} with one seed"
    match agreement.agreement(evidence.same):
        case "agree" if set(evidence.others) - set(evidence.same):
            return result("honoured", f"{why}, another with another seed")
        case "agree":
            return result("unknown", f"{why}, and the same with another seed: the server may not sample")
        case "differ" if not evidence.has_reasoning:
            return result("ignored", why)
        case _:
            return result("unknown", f"{why}: rounding alone may make them differ")


async def probe_seed(prober: Prober) -> SettingVerdict:
    sampling = prober.sampling(temperature=HIGH)

    def is_sent() -> bool:
        fields = prober.sent_fields(sampling, seed=SEED)
        return fields is None or SETTING in fields

    def is_enough(texts: Sequence[str]) -> bool:
        return agreement.is_enough(texts) or (bool(texts) and not is_sent())

    if not is_sent():
        return seed_verdict(SeedEvidence(is_sent=False))
    same = await ask_for_digits(prober, sampling, is_enough, SEED)
    others: list[str] = []
    if agreement.agreement(same.texts) == "agree":
        for seed in OTHER_SEEDS:
            others += (await ask_for_digits(prober, sampling, bool, seed)).texts
            if set(others) - set(same.texts):
                break
    has_reasoning = any(reply.reasoning for reply in same.replies)
    return seed_verdict(SeedEvidence(tuple(same.texts), tuple(others), is_sent(), same.refusal, has_reasoning))
