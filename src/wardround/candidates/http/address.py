"""Addresses of servers: checked, joined with an endpoint, and as messages may show them."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from wardround.candidates.candidate import settings_error
from wardround.core.study import CandidateSettings


def is_loopback(base_url: str) -> bool:
    """Whether an address is on this machine, by its text alone: nothing is looked up."""
    host = ""
    try:
        host = urlsplit(base_url).hostname or ""
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def public_address(url: str) -> str:
    """An address without user name, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "base_url"
    if not parts.netloc:  # it may be anything
        return "base_url"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def checked_address(settings: CandidateSettings) -> SplitResult:
    """The parts of a candidate's base_url; user names and passwords are refused."""
    if not settings.base_url:
        raise settings_error(settings, f"base_url is required for provider {settings.provider!r}")
    try:
        parts = urlsplit(settings.base_url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not settings.base_url.isprintable():
        shown = "" if set("@?#") & set(settings.base_url) else f" {settings.base_url!r}"
        raise settings_error(settings, f"base_url{shown} is not an address; expected http://HOST:PORT/v1")
    if parts.username is not None or parts.password is not None:
        raise settings_error(settings, "base_url contains a user name or password; use api_key_env or headers")
    if parts.fragment:
        raise settings_error(settings, "base_url contains a '#'; expected http://HOST:PORT/v1")
    return parts
