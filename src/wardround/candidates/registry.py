"""Providers by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from wardround.candidates.candidate import Candidate
from wardround.candidates.openai import is_loopback
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

# imported only when a study names them: most need packages that others do not
PROVIDERS = {
    "openai": "wardround.candidates.openai:OpenAI",
    "external": "wardround.candidates.external:external",
    "local": "wardround.candidates.local:Local",
    "people": "wardround.candidates.people:People",
    "pixels": "wardround.candidates.pixels:Pixels",
    "random": "wardround.candidates.baselines:Random",
    "position": "wardround.candidates.baselines:Position",
    "longest": "wardround.candidates.baselines:Longest",
    "overlap": "wardround.candidates.baselines:Overlap",
    "simulated": "wardround.candidates.simulated.respondent:Simulated",
}


def refuse_elsewhere(settings: CandidateSettings) -> None:
    """An offline study names no address beyond this machine, not even for its judge."""
    if settings.base_url and not is_loopback(settings.base_url):
        raise WardroundError(
            f"candidate {settings.name!r}: the study is offline, and {settings.base_url} is not on this machine"
        )
    if settings.command:
        raise WardroundError(
            f"candidate {settings.name!r}: the study is offline, and nobody can say whether a command stays on this "
            "machine"
        )


def make_candidate(settings: CandidateSettings, *, offline: bool = False) -> Candidate:
    """The candidate that a study names. With `offline`, an address beyond this machine is refused."""
    place = PROVIDERS.get(settings.provider.partition(":")[0])
    if place is None:
        raise WardroundError(
            f"candidate {settings.name!r}: unknown provider {settings.provider!r}; there are {', '.join(PROVIDERS)}"
        )
    if offline:
        refuse_elsewhere(settings)
    module, name = place.split(":")
    make: Callable[[CandidateSettings], Candidate] = getattr(import_module(module), name)
    return make(settings)
