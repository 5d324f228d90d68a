"""The proxy of an address, from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in small letters or capitals.

aiohttp's own reading of the environment (trust_env) is not used: it ignores ALL_PROXY, networks in NO_PROXY and,
silently, proxies at https addresses, and it sends passwords of ~/.netrc to servers.
"""

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from wardround.candidates.http.address import is_loopback
from wardround.core.errors import WardroundError


@dataclass(frozen=True)
class Proxy:
    """A proxy: its address without credentials, and the variable that names it."""

    address: str
    variable: str
    user: str = ""
    password: str = ""

    @property
    def authorization(self) -> str | None:
        """The value of Proxy-Authorization, if there is a user."""
        if not self.user and not self.password:
            return None
        return f"Basic {base64.b64encode(f'{self.user}:{self.password}'.encode()).decode()}"

    def __str__(self) -> str:
        return f"the proxy {self.address} ({self.variable})"


def find_proxy(address: SplitResult, environment: Mapping[str, str]) -> Proxy | None:
    """The proxy for an address; None if there is none, or NO_PROXY names the host, or it is on this machine."""
    host, port = (address.hostname or "").rstrip("."), address.port or (443 if address.scheme == "https" else 80)
    if is_loopback(address.geturl()) or _is_exempt(host, port, _variable(environment, "no_proxy")[1]):
        return None
    for name in (f"{address.scheme}_proxy", "all_proxy"):
        variable, value = _variable(environment, name)
        if variable:
            return _parse_proxy(variable, value) if value else None
    return None


def _variable(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """A variable's spelling and value; small letters come first, and an empty value counts."""
    spelling = next((spelling for spelling in (name, name.upper()) if spelling in environment), "")
    return spelling, environment.get(spelling, "").strip()


def _parse_proxy(variable: str, value: str) -> Proxy:
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise WardroundError(
            f"environment variable {variable} is not the address of a proxy; expected http://HOST:PORT"
        )
    if parts.scheme not in ("http", "https"):
        problem = f"proxies of the kind {parts.scheme} are not supported; expected http://HOST:PORT"
        raise WardroundError(f"environment variable {variable}: {problem}")
    host = f"[{host}]" if ":" in host else host
    address = f"{parts.scheme}://{host}:{port or (443 if parts.scheme == 'https' else 80)}"
    return Proxy(address, variable, unquote(parts.username or ""), unquote(parts.password or ""))


def _is_exempt(host: str, port: int, no_proxy: str) -> bool:
    return any(_matches(entry.lower(), host, port) for entry in re.split(r"[,\s]+", no_proxy) if entry)


def _matches(entry: str, host: str, port: int) -> bool:
    """Whether an entry of NO_PROXY names a host: `*`, a network, or a host or its domain, perhaps with a port."""
    if entry == "*":
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # one of them is a name
    name, own_port = entry, ""
    if match := re.fullmatch(r"(\[.*\]|[^:]*):(\d+)", entry):
        name, own_port = match[1].strip("[]"), match[2]
    name = name.removeprefix("*").strip(".")
    return bool(name) and (not own_port or int(own_port) == port) and (host == name or host.endswith(f".{name}"))
