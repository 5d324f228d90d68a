"""The address that a TLS proxy in front of the desk gives to visitors."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from wardround.core.errors import WardroundError


@dataclass(frozen=True)
class PublicAddress:
    """Scheme and host by which visitors reach the desk."""

    origin: str  # https://desk.hospital.example
    host: str  # desk.hospital.example


def parse_public_address(url: str) -> PublicAddress:
    """Reads `--public-url`; an address with a path, a user or another scheme is refused."""
    expected = "expected an address such as https://desk.hospital.example"
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise WardroundError(f"--public-url {url}: {expected}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise WardroundError(f"--public-url {url}: {expected}")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise WardroundError(f"--public-url {url}: the desk needs a host of its own; {expected}, without a path")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_default = port is None or port == {"http": 80, "https": 443}[parts.scheme]
    return PublicAddress(f"{parts.scheme}://{host}{'' if is_default else f':{port}'}", host)
