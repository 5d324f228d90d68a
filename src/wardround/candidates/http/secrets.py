"""Secrets of a candidate: written as `$NAME` in the study, read from the environment, never in a message."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlsplit

from wardround.candidates.candidate import settings_error
from wardround.core.secrets import (
    has_secret_name,
    is_known_secret,
    is_secret_value,
    is_variable_name,
)
from wardround.core.study import CandidateSettings

ADVICE = 'write "$NAME" and set the environment variable NAME'
REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
HEADER_REFERENCE = re.compile(r"([A-Za-z]+ )?(\$.*)")  # `$NAME`, or `Bearer $NAME`
SECRET_HEADERS = ("authorization", "key", "token", "secret", "cookie", "password")
# names of headers that are never secret, whatever their values look like
PUBLIC_HEADERS = {"openai-organization", "openai-project", "anthropic-version", "anthropic-beta", "user-agent"}


def refuse_literal_secrets(settings: CandidateSettings) -> None:
    """Raises if headers, address or extra body contain what looks like a secret; the message does not."""
    is_inspect = settings.provider.partition(":")[0] == "inspect"  # its providers know their addresses
    if settings.base_url is None and settings.command is None and not is_inspect:
        return  # nobody to tell a secret to
    for place in _literal_secrets(settings):
        raise settings_error(settings, f"{place} looks like a secret; {ADVICE}")


def _literal_secrets(settings: CandidateSettings) -> Iterator[str]:
    for name, value in settings.headers.items():
        if not _header_reference(value) and _is_secret_header(name, value):
            yield f"header {name!r}"
    for name, value in parse_qsl(_query(settings.base_url), keep_blank_values=True):
        if value and not is_reference(value) and (_is_secret_parameter(name) or is_secret_value(value)):
            yield f"base_url: the value of {name!r}"
    for path, name, value in _texts(settings.extra_body, "extra_body", ""):
        if value and not is_reference(value) and (has_secret_name(name) or is_known_secret(value)):
            yield path


def _header_reference(value: str) -> tuple[str, str] | None:
    """Of `$NAME` or `Bearer $NAME` what is before the reference, and the variable's name."""
    match = HEADER_REFERENCE.fullmatch(value)
    return (match[1] or "", match[2][1:]) if match is not None and is_reference(match[2]) else None


def _is_secret_header(name: str, value: str) -> bool:
    if name.lower() in PUBLIC_HEADERS:
        return is_known_secret(value)
    by_name = has_secret_name(name) or any(word in name.lower() for word in SECRET_HEADERS)
    return by_name or is_secret_value(value)


def _is_secret_parameter(name: str) -> bool:
    return has_secret_name(name) or name.lower() in ("code", "k")  # `code` is the key of an Azure function


def _query(base_url: str | None) -> str:
    try:
        return urlsplit(base_url or "").query
    except ValueError:
        return ""


def _texts(value: Any, path: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Every text in a value, at any depth: its path, the name of its field, itself."""
    if isinstance(value, str):
        yield path, name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}", str(key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, f"{path}[{number}]", name)


def is_reference(value: str) -> bool:
    """Whether a value is `$NAME`, with a name that can be a variable's."""
    match = REFERENCE.fullmatch(value)
    return match is not None and is_variable_name(match[1])


class Secrets:
    """What a candidate reads from the environment. Its values are replaced in every message."""

    def __init__(self, settings: CandidateSettings) -> None:
        refuse_literal_secrets(settings)
        self._settings = settings
        self._values: set[str] = set()
        self._forms: list[str] = []

    def add(self, value: str) -> None:
        """A value is replaced as it is, in a URL and in JSON."""
        self._values |= {value, quote(value, safe=""), quote(value), json.dumps(value)[1:-1]} - {""}
        self._forms = sorted(self._values, key=len, reverse=True)  # one may be part of another

    def redact(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, "[secret]")
        return text

    def from_environment(self, variable: str) -> str:
        value = os.environ.get(variable)
        if not value:
            raise settings_error(self._settings, f"environment variable {variable} is not set")
        if not value.isprintable():
            raise settings_error(self._settings, f"environment variable {variable} contains a line break or the like")
        self.add(value)
        return value

    def headers(self, key_header: str = "Authorization") -> dict[str, str]:
        """The study's headers, and the key: as a bearer token, or as it is in another header."""
        headers = {name: self._header(name, value) for name, value in self._settings.headers.items()}
        if self._settings.api_key_env:
            key = self.from_environment(self._settings.api_key_env)
            headers[key_header] = f"Bearer {key}" if key_header == "Authorization" else key
        return headers

    def _header(self, name: str, value: str) -> str:
        if not value.isprintable():
            raise settings_error(self._settings, f"header {name!r} contains a line break")
        if reference := _header_reference(value):
            scheme, variable = reference
            return scheme + self.from_environment(variable)
        if value.startswith("$"):
            raise settings_error(self._settings, f"header {name!r}: `$` is followed by the name of a variable")
        return value

    def query(self, query: str) -> str:
        """A URL's query with the values of its variables; all else stays as it is written."""
        return "&".join(map(self._parameter, query.split("&")))

    def _parameter(self, parameter: str) -> str:
        name, _, value = parameter.partition("=")
        value = unquote_plus(value)
        return f"{name}={quote(self.from_environment(value[1:]), safe='')}" if is_reference(value) else parameter

    def resolve(self, value: Any) -> Any:
        """A value of JSON in which each text `$NAME` is the variable's value."""
        if isinstance(value, str):
            return self.from_environment(value[1:]) if is_reference(value) else value
        if isinstance(value, dict):
            return {key: self.resolve(item) for key, item in value.items()}
        return [self.resolve(item) for item in value] if isinstance(value, list) else value
