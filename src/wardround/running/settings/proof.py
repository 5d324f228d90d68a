"""Proves which settings of a study take effect: by probe questions before the run, all of them or the vital ones."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from wardround.running.context import RunContext
from wardround.running.settings import images, max_tokens, reasoning, seed, stop, system_text, temperature
from wardround.running.settings.prober import Prober
from wardround.running.settings.uses import SettingUses
from wardround.running.settings.verdict import SettingVerdict


class Probe(NamedTuple):
    """The probe of some settings: at most so many calls."""

    settings: tuple[str, ...]
    max_calls: int
    ask: Callable[[Prober], Awaitable[list[SettingVerdict]]]


def vital_probes(uses: SettingUses) -> list[Probe]:
    """What a run proves before it spends: the reasoning axis, and the temperature that trials differ by."""
    probes = [_reasoning(is_on) for is_on in uses.reasoning]
    if uses.trials > 1 and uses.sampling.temperature and not uses.is_here:
        probes.append(_temperature(uses))
    return probes


def all_probes(uses: SettingUses) -> list[Probe]:
    """What a check proves: every setting that the study uses. Whether images are seen at all is probed before."""
    sampling = uses.sampling
    probes = [_reasoning(is_on) for is_on in uses.reasoning]
    if uses.is_here:
        return probes
    if sampling.temperature is not None or uses.asks_for_several:
        probes.append(_temperature(uses))
    if uses.sends_seed:
        probes.append(Probe((seed.SETTING,), seed.MAX_CALLS, _one(seed.probe_seed)))
    if stops := sampling.stop:
        probes.append(Probe((stop.SETTING,), stop.MAX_CALLS, _one(lambda prober: stop.probe_stop(prober, stops))))
    if limit := sampling.max_tokens:
        ask = _one(lambda prober: max_tokens.probe_max_tokens(prober, limit))
        probes.append(Probe((max_tokens.SETTING,), max_tokens.MAX_CALLS, ask))
    if uses.has_system_text:
        probes.append(Probe((system_text.SETTING,), system_text.MAX_CALLS, _one(system_text.probe_system_text)))
    if uses.most_images > 1:
        probes.append(Probe((images.ORDER,), images.MAX_CALLS_ORDER, _one(images.probe_order)))
    if uses.most_images:
        ask = _one(lambda prober: images.probe_resolution(prober, is_decisive=uses.is_native))
        probes.append(Probe((images.RESOLUTION,), images.MAX_CALLS_RESOLUTION, ask))
    return probes


async def prove(context: RunContext, uses: SettingUses, probes: Sequence[Probe]) -> tuple[list[SettingVerdict], int]:
    """The verdicts of probes that are asked one after the other, and the number of their calls."""
    prober = Prober(context, uses.probe_reasoning)
    verdicts: list[SettingVerdict] = []
    for probe in probes:
        verdicts += await probe.ask(prober)
    return verdicts, prober.calls


def _temperature(uses: SettingUses) -> Probe:
    asked, trials = uses.sampling.temperature, uses.trials if uses.asks_for_several else 1
    is_used = {temperature.SETTING: asked is not None, temperature.SEVERAL: trials > 1}
    names = [name for name in is_used if is_used[name]]
    calls = temperature.MAX_CALLS if asked is not None else 1
    return Probe(tuple(names), calls, lambda prober: temperature.probe_temperature(prober, asked, trials))


def _reasoning(is_on: bool) -> Probe:
    ask = _one(lambda prober: reasoning.probe_reasoning(prober, is_on))
    return Probe((reasoning.reasoning_setting(is_on),), reasoning.MAX_CALLS, ask)


def _one(ask: Callable[[Prober], Awaitable[SettingVerdict]]) -> Callable[[Prober], Awaitable[list[SettingVerdict]]]:
    async def ask_one(prober: Prober) -> list[SettingVerdict]:
        return [await ask(prober)]

    return ask_one
