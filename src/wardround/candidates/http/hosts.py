"""Where hosted models are offered: endpoint, fixed fields and authorisation of each host.

A host is named after the provider: `openai`, `openai:responses`, `openai:azure`, `anthropic`, `anthropic:bedrock`,
`anthropic:vertex`, `gemini`, `gemini:vertex`.
Written from the public references as of November 2026.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from wardround.candidates.candidate import settings_error
from wardround.candidates.http.authorization import Authorization, AwsSignature, CommandToken, GoogleToken
from wardround.candidates.http.secrets import Secrets
from wardround.core.study import CandidateSettings

CLAUDE_VERSION = "2023-06-01"  # the version in which older models take a temperature
MakeAuthorization = Callable[[Secrets], Authorization]


@dataclass(frozen=True)
class ApiHost:
    """What differs between the hosts of one API."""

    endpoint: str = ""  # after base_url
    body: dict[str, Any] = field(default_factory=dict)  # fields of every request
    headers: dict[str, str] = field(default_factory=dict)  # of every request, unless the study names others
    key_header: str = "Authorization"  # which carries the key of api_key_env
    make_authorization: MakeAuthorization | None = None


PLAIN_HOST = ApiHost()


def chat_host(settings: CandidateSettings) -> ApiHost:
    """The host of a candidate with provider `openai`."""
    authorize = _token(settings) if settings.token_command else None
    match _host(settings):
        case "":
            return ApiHost("/chat/completions", make_authorization=authorize)
        case "responses":
            return ApiHost("/responses", make_authorization=authorize)
        case "azure":
            return ApiHost("/chat/completions", key_header="api-key", make_authorization=authorize)
    raise _unknown(settings, ("openai", "openai:responses", "openai:azure"))


def claude_host(settings: CandidateSettings) -> ApiHost:
    """The host of a candidate with provider `anthropic`."""
    model = _model(settings)
    match _host(settings):
        case "":
            headers = {"anthropic-version": CLAUDE_VERSION}
            authorize = _token(settings) if settings.token_command else None
            return ApiHost("/v1/messages", {"model": model}, headers, "x-api-key", authorize)
        case "bedrock":
            endpoint = f"/model/{quote(model, safe=':')}/invoke"
            return ApiHost(endpoint, {"anthropic_version": "bedrock-2023-05-31"}, make_authorization=_aws(settings))
        case "vertex":
            endpoint = f"/publishers/anthropic/models/{quote(model, safe='@')}:rawPredict"
            return ApiHost(endpoint, {"anthropic_version": "vertex-2023-10-16"}, make_authorization=_token(settings))
    raise _unknown(settings, ("anthropic", "anthropic:bedrock", "anthropic:vertex"))


def gemini_host(settings: CandidateSettings) -> ApiHost:
    """The host of a candidate with provider `gemini`."""
    model = quote(_model(settings).removeprefix("models/"), safe="")
    match _host(settings):
        case "":
            authorize = _token(settings) if settings.token_command else None
            return ApiHost(
                f"/models/{model}:generateContent", key_header="x-goog-api-key", make_authorization=authorize
            )
        case "vertex":
            endpoint = f"/publishers/google/models/{model}:generateContent"
            return ApiHost(endpoint, make_authorization=_token(settings))
    raise _unknown(settings, ("gemini", "gemini:vertex"))


def _host(settings: CandidateSettings) -> str:
    """`azure` of `openai:azure`; empty for the API's own host, and for a plug-in that is made of one of these."""
    return settings.provider.partition(":")[2]


def _model(settings: CandidateSettings) -> str:
    if not settings.model:
        raise settings_error(settings, f"model is required for provider {settings.provider!r}")
    return settings.model


def _token(settings: CandidateSettings) -> MakeAuthorization | None:
    if settings.api_key_env:
        return None
    if settings.token_command:
        command = settings.token_command
        return lambda secrets: CommandToken(command, secrets)
    return lambda secrets: GoogleToken(settings, secrets)


def _aws(settings: CandidateSettings) -> MakeAuthorization | None:
    if settings.api_key_env:
        return None
    match = re.search(r"bedrock-runtime[^.]*\.([a-z0-9-]+)\.", urlsplit(settings.base_url or "").hostname or "")
    region = match[1] if match else os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise settings_error(settings, "set AWS_REGION: base_url does not name the region")
    return lambda secrets: AwsSignature(settings, region, "bedrock")


def _unknown(settings: CandidateSettings, names: tuple[str, ...]) -> Exception:
    return settings_error(settings, f"unknown provider {settings.provider!r}; there are {', '.join(names)}")
