"""The connection of a candidate to its server, as its settings and the environment say: addresses, headers, session."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from wardround.candidates.candidate import CandidateUnavailable, Fault, settings_error
from wardround.candidates.http.address import checked_address, public_address
from wardround.candidates.http.certificates import make_tls_context
from wardround.candidates.http.hosts import PLAIN_HOST, ApiHost
from wardround.candidates.http.post_pool import NotConnected, NotConnectedInTime, PostPool, can_post
from wardround.candidates.http.proxies import Proxy, find_proxy
from wardround.candidates.http.reply_parser import MalformedReply
from wardround.candidates.http.secrets import Secrets
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

if TYPE_CHECKING:  # takes long to load, and a study whose answers are all stored needs none of it
    import aiohttp

CONNECT_SECONDS = 5.0
CERTIFICATE_ALERT = re.compile(r"ALERT_(\w*(?:CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)\w*)")
PROXY_REFUSALS = {401, 403, 405, 407}  # a proxy that says so will not let the candidate through later either


class Connection:
    """Checked when it is made: what cannot work is refused before anything is sent or written."""

    def __init__(self, settings: CandidateSettings, host: ApiHost = PLAIN_HOST) -> None:
        self._settings = settings
        self._base = checked_address(settings)
        self._secrets = Secrets(settings)
        own_headers = self._secrets.headers(host.key_header)
        own_names = {name.lower() for name in own_headers}
        defaults = {name: value for name, value in host.headers.items() if name.lower() not in own_names}
        self._headers = {"Content-Type": "application/json", **defaults, **own_headers}
        self._authorization = host.make_authorization(self._secrets) if host.make_authorization else None
        self._endpoint = host.endpoint
        self._query = self._secrets.query(self._base.query)
        self.address = public_address(self._base.geturl())  # without query: for messages and records
        self.extra_body: dict[str, Any] = self._secrets.resolve(settings.extra_body)
        self._proxy = self._find_proxy(os.environ)
        self._request_options = self._make_request_options()  # arguments of every request of the session
        is_encrypted = "https" in (self._base.scheme, self._proxy and self._proxy.address.partition(":")[0])
        self._tls = make_tls_context(settings, with_environment=is_encrypted)

    def _find_proxy(self, environment: Mapping[str, str]) -> Proxy | None:
        try:
            proxy = find_proxy(self._base, environment)
        except WardroundError as error:
            raise settings_error(self._settings, str(error)) from None
        if proxy is not None and proxy.authorization is not None:
            for secret in (proxy.user, proxy.password, proxy.authorization.removeprefix("Basic ")):
                self._secrets.add(secret)
        return proxy

    def _make_request_options(self) -> dict[str, Any]:
        """aiohttp sends the headers of a session to the proxy, too, the key among them: so each request has its own."""
        if self._proxy is None:
            return {}
        authorization = self._proxy.authorization
        for_proxy = {} if authorization is None else {"Proxy-Authorization": authorization}
        if self._base.scheme == "http":  # the proxy itself reads the request
            return {"proxy": self._proxy.address, "headers": self._headers | for_proxy}
        return {"proxy": self._proxy.address, "headers": self._headers, "proxy_headers": for_proxy}

    async def authorize(self, url: str, body: Sequence[bytes]) -> dict[str, str]:
        """Headers of one request that are made for it: a token or a signature; none for a fixed key."""
        return await self._authorization.headers(url, body) if self._authorization is not None else {}

    def renew(self, authorization: dict[str, str]) -> bool:
        """Whether a request that was refused with these headers may be sent again with other ones."""
        return self._authorization is not None and self._authorization.renew(authorization)

    def request_options(self, authorization: dict[str, str]) -> dict[str, Any]:
        """The arguments of one request of the session."""
        if not authorization:
            return self._request_options
        return {**self._request_options, "headers": {**self._request_options.get("headers", {}), **authorization}}

    def url(self, endpoint: str | None = None, *, prefix: str = "") -> str:
        """The URL of an endpoint such as `/chat/completions`; it has the query of base_url, secrets included.

        `prefix` stands before the path of base_url.
        """
        endpoint, _, query = (self._endpoint if endpoint is None else endpoint).partition("?")
        path = f"{prefix}{self._base.path.rstrip('/')}{endpoint}" if endpoint else self._base.path
        return self._base._replace(path=path, query="&".join(filter(None, (self._query, query)))).geturl()

    def same_host(self, url: str) -> str:
        """A URL that the server named; one of another host gets no data."""
        parts = urlsplit(url)
        if (parts.scheme, parts.netloc) != (self._base.scheme, self._base.netloc):
            raise CandidateUnavailable(f"{self.address} wants data to be sent to {public_address(url)}, another host")
        return url

    def redact(self, text: str) -> str:
        """A message without secrets."""
        return self._secrets.redact(text)

    def open_session(self) -> aiohttp.ClientSession:
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, ssl=self._tls or True),
            timeout=aiohttp.ClientTimeout(total=self._settings.timeout, sock_connect=CONNECT_SECONDS),
            headers=self._headers if self._proxy is None else {},
            skip_auto_headers=("User-Agent",),
        )

    def can_post(self, url: str) -> bool:
        """Whether POSTs to a URL need nothing that only aiohttp's client has."""
        return self._proxy is None and can_post(url, self._headers)

    def open_posts(self, url: str) -> PostPool:
        """Connections for POSTs to the server of a URL, for which `can_post` holds."""
        return PostPool(url, self._headers, self._tls, self._settings.timeout, CONNECT_SECONDS)

    def check_proxy_status(self, status: int) -> None:
        """Raises if a reply comes from the proxy: 407 is for nobody else to say."""
        if status == 407:
            raise self._proxy_refusal(status, "Proxy Authentication Required")

    def failure(self, error: BaseException) -> Fault | CandidateUnavailable:
        """What one of `transport_errors` means."""
        failure = self._failure(error)
        failure.args = (" ".join(self.redact(str(failure)).split()),)
        return failure

    def _failure(self, error: BaseException) -> Fault | CandidateUnavailable:
        if isinstance(error, ssl.SSLCertVerificationError):
            return self._untrusted(error)
        if isinstance(error, NotConnectedInTime):
            return _unreachable(self.address, f"no connection in {CONNECT_SECONDS:g} s")
        if isinstance(error, NotConnected):
            return _unreachable(self.address, str(error))
        if isinstance(error, MalformedReply):
            return Fault(f"the connection broke: {error}", kind="broken connection")
        if isinstance(error, TimeoutError) and "aiohttp" not in sys.modules:
            return self._no_reply()
        return self._failure_of_client(error)

    def _failure_of_client(self, error: BaseException) -> Fault | CandidateUnavailable:
        import aiohttp

        if isinstance(error, aiohttp.ClientHttpProxyError):
            return self._proxy_refusal(error.status, error.message)
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return self._untrusted(error)
        if alert := CERTIFICATE_ALERT.search(str(getattr(error, "strerror", None))):
            reason = alert[1].replace("_", " ").lower()
            advice = "client_cert and client_key name the certificate that it may want"
            return CandidateUnavailable(f"{self.address} refuses the TLS connection: {reason}; {advice}")
        if isinstance(error, aiohttp.ClientConnectorError):
            reason = error.strerror or str(error.os_error) or type(error.os_error).__name__
            return _unreachable(self._peer(error), reason)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return _unreachable(str(self._proxy or self.address), f"no connection in {CONNECT_SECONDS:g} s")
        if isinstance(error, TimeoutError):
            return self._no_reply()
        if isinstance(error, aiohttp.InvalidURL):
            return CandidateUnavailable(f"base_url {self.address} is not an address")
        return Fault(f"the connection broke: {type(error).__name__}", kind="broken connection")

    def _no_reply(self) -> Fault:
        return Fault(f"no reply in {self._settings.timeout:g} s", kind="no reply in time")

    def _peer(self, error: aiohttp.ClientConnectorError) -> str:
        """Who could not be reached: the proxy, or the server."""
        import aiohttp

        if self._proxy is None:
            return self.address
        by_name = error.host == urlsplit(self._proxy.address).hostname  # it could not be looked up
        is_proxy = by_name or isinstance(error, aiohttp.ClientProxyConnectionError)
        return str(self._proxy) if is_proxy else f"{self.address} (through {self._proxy})"

    def _proxy_refusal(self, status: int, reason: str) -> Fault | CandidateUnavailable:
        if status in PROXY_REFUSALS:
            advice = "; the variable of the proxy contains its user and password" if status == 407 else ""
            proxy = self._proxy or "a proxy on the way"
            return CandidateUnavailable(f"{proxy} refuses the connection: HTTP {status} {reason}{advice}")
        return _unreachable(self.address, f"{self._proxy} answered HTTP {status} {reason}")

    def _untrusted(self, error: BaseException) -> CandidateUnavailable:
        cause = getattr(error, "certificate_error", error)
        reason = getattr(cause, "verify_message", "") or str(cause)
        advice = "ca_bundle names the file of the authorities to trust"
        return CandidateUnavailable(f"{self.address}: the server's certificate is not trusted: {reason}; {advice}")


def transport_errors() -> tuple[type[BaseException], ...]:
    """What a lost connection raises."""
    import aiohttp

    return (aiohttp.ClientError, ConnectionError, TimeoutError, asyncio.IncompleteReadError, ssl.SSLError)


def _unreachable(peer: str, reason: str) -> Fault:
    return Fault(f"{peer} cannot be reached: {reason}", unreachable=True, kind="unreachable")
