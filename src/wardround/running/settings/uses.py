"""Which settings a study asks one candidate for: only these are probed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from wardround.candidates.candidate import OfflineCandidate
from wardround.core.ask import Sampling
from wardround.core.canonical import blake
from wardround.core.condition import Condition
from wardround.running.context import RunContext
from wardround.running.estimates.hardest import HardestUnits

WRITERS = ("local", "transformers")  # providers without a server that write texts
WITHOUT_PROBES = ("external", "people")


@dataclass(frozen=True)
class SettingUses:
    """The settings of one candidate in one study."""

    sampling: Sampling = field(default_factory=Sampling)
    trials: int = 1
    sends_seed: bool = False
    reasoning: tuple[bool, ...] = ()  # the values of the axis that are not `as-is`
    is_always_set: bool = False  # whether all conditions set it
    most_images: int = 0  # in one Ask
    has_system_text: bool = False
    is_native: bool = False  # whether images are sent as they are
    is_here: bool = False  # whether it samples in this process: only its chat template can ignore something

    @classmethod
    def of(cls, context: RunContext, hardest: HardestUnits) -> SettingUses:
        study, settings = context.study, context.caller.settings
        values = {condition.reasoning for _, pairs in context.conditions for _, condition in pairs}
        sampling = study.sampling_for(settings, Condition())
        return cls(
            sampling=sampling,
            trials=study.trials,
            sends_seed=settings.send_seed,
            reasoning=tuple(value == "on" for value in ("on", "off") if value in values),
            is_always_set="as-is" not in values,
            most_images=hardest.most_images,
            has_system_text=hardest.has_system_text,
            is_native=study.image_size == "native",
            is_here=_provider(context) in WRITERS,
        )

    @property
    def asks_for_several(self) -> bool:
        """Whether one request may ask for several trials: with a seed each has its own."""
        return self.trials > 1 and not self.sends_seed

    @property
    def probe_reasoning(self) -> bool | None:
        """What probes that are not about reasoning ask for: the least that the study itself asks for."""
        if not self.reasoning or not self.is_always_set:
            return None
        return all(self.reasoning)

    def fingerprint(self, context: RunContext) -> str:
        """Changes with the candidate, its address and what the study asks of it, but not with the cases."""
        asked = asdict(self) | {"most_images": 0, "has_system_text": False}
        identity = context.caller.candidate.identity.named
        return blake({"asked": asked, "identity": identity, "address": context.caller.settings.address}).hex()


def can_be_probed(context: RunContext) -> bool:
    """Whether a candidate writes texts of its own to whatever it is asked."""
    candidate, provider = context.caller.candidate, _provider(context)
    if provider in WITHOUT_PROBES or not candidate.supports_probes:
        return False
    return provider in WRITERS or not isinstance(candidate, OfflineCandidate)


def _provider(context: RunContext) -> str:
    return context.caller.settings.provider.partition(":")[0]
