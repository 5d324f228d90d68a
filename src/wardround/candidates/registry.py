"""The providers of candidates by name: built-ins and plug-ins."""

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from wardround.candidates.candidate import Candidate, settings_error
from wardround.candidates.http.address import is_loopback, public_address
from wardround.candidates.server_pool import ServerPool
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings
from wardround.plugins import Plugin, extensions

# imported only when a study names them: most need packages of their own
PROVIDERS = {
    "openai": "wardround.candidates.openai:OpenAI",
    "openai:responses": "wardround.candidates.openai_responses:Responses",
    "anthropic": "wardround.candidates.anthropic:Anthropic",
    "gemini": "wardround.candidates.gemini:Gemini",
    "external": "wardround.candidates.external:external",
    "local": "wardround.candidates.local.model:Local",
    "transformers": "wardround.candidates.transformers.candidate:Transformers",
    "inspect": "wardround.candidates.inspect.candidate:InspectCandidate",
    "classifier": "wardround.candidates.classifier.candidate:ImageClassifier",
    "people": "wardround.candidates.people:People",
    "pixels": "wardround.candidates.pixels:Pixels",
    "random": "wardround.candidates.baselines:Random",
    "position": "wardround.candidates.baselines:Position",
    "longest": "wardround.candidates.baselines:Longest",
    "overlap": "wardround.candidates.baselines:Overlap",
    "simulated": "wardround.candidates.simulated.respondent:Simulated",
}


def refuse_remote(settings: CandidateSettings) -> None:
    """Raises if the candidate of an offline study may leave this machine."""
    for url in settings.base_urls or filter(None, [settings.base_url]):
        if not is_loopback(url):
            raise settings_error(settings, f"the study is offline, and {public_address(url)} is not on this machine")
    if settings.provider.partition(":")[0] == "inspect" and not settings.base_url:
        raise settings_error(settings, "the study is offline, and Inspect AI may leave this machine without a base_url")
    if settings.command or settings.token_command:
        raise settings_error(settings, "the study is offline, and a command may leave this machine")


def make_candidate(
    settings: CandidateSettings, *, folder: Path | None = None, offline: bool = False, other_names: Sequence[str] = ()
) -> Candidate:
    """The candidate of a study. With `offline`, one that may leave this machine is refused.

    `folder` is the study's, in which the files of certificates are. `other_names` are listed with the providers if
    there is none of this name.
    """
    settings = settings.with_files_in(folder or Path())
    name = settings.provider
    provider, plugins = (
        name if name in PROVIDERS else name.partition(":")[0],
        checked_extensions("providers", PROVIDERS),
    )
    if provider not in PROVIDERS and provider not in plugins:
        names = ", ".join([*PROVIDERS, *plugins, *other_names])
        raise settings_error(settings, f"unknown provider {settings.provider!r}; there are {names}")
    if offline:
        refuse_remote(settings)
    if provider in plugins:
        candidate: Candidate = load_extension(plugins[provider], offline=offline)(settings)
        return candidate
    module, name = PROVIDERS[provider].split(":")
    make: Callable[[CandidateSettings], Candidate] = getattr(import_module(module), name)
    if len(settings.base_urls) > 1:
        servers = [make(settings.model_copy(update={"base_url": url, "base_urls": []})) for url in settings.base_urls]
        return ServerPool(settings, servers)
    return make(settings)


def checked_extensions(group: str, built_in: Collection[str]) -> Mapping[str, Plugin]:
    """The plug-ins of a group by name; one with the name of a built-in is refused."""
    plugins = extensions(group)
    for name in plugins:
        if name in built_in:
            raise WardroundError(f"plug-in {plugins[name].origin}: {name!r} in wardround.{group} is a built-in name")
    return plugins


def load_extension(plugin: Plugin, *, offline: bool) -> Callable[[CandidateSettings], Any]:
    """The plug-in, to be called with settings. An offline study takes one only if `works_offline` is true for it."""
    extension: Callable[[CandidateSettings], Any] = plugin.load()
    if offline and not getattr(extension, "works_offline", False):
        raise WardroundError(
            f"{plugin.name!r} of {plugin.origin}: the study is offline; the plug-in lacks works_offline = True"
        )
    return extension
