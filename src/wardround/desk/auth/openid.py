"""Log-in by the hospital's own OpenID Connect: authorization code with PKCE; signed id tokens, checked by Authlib.

OpenID Connect Core 1.0, sections 3.1.2 and 3.1.3.7; Discovery 1.0; RFC 7636; RFC 9207.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import threading
import time
import tomllib
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from wardround.core.errors import BadInput, WardroundError
from wardround.core.sockets import is_loopback

MISSING = "--openid needs its extra: pip install 'wardround[oidc]'"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
TIMEOUT, LEEWAY = 10.0, 60  # seconds
FLOW_SECONDS, MAX_FLOWS = 600.0, 1_000
METADATA_SECONDS = 3600.0
MAX_BYTES = 1 << 20
REFUSED = "the log-in by {name} was refused: {why}"


@dataclass(frozen=True)
class OpenIdSettings:
    """The provider and how the desk is registered there. `claim` names the claim that is a person's log-in."""

    issuer: str
    client_id: str
    client_secret: str | None
    name: str
    claim: str
    scope: str


@dataclass(frozen=True)
class _Flow:
    """One log-in that is under way, in one browser."""

    visit: str
    nonce: str
    verifier: str
    to: str
    begun: float


def load_openid_settings(file: Path) -> OpenIdSettings:
    """Reads `--openid FILE`: issuer, client_id, and perhaps client_secret_env, name, claim, scope."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(file, f"cannot be read: {error}") from None
    known = {"issuer", "client_id", "client_secret_env", "name", "claim", "scope"}
    if unknown := sorted(set(table) - known):
        raise BadInput(file, f"unknown key; there are {', '.join(sorted(known))}", field=unknown[0])
    for key, value in table.items():
        if not isinstance(value, str) or not value.strip():
            raise BadInput(file, "expected text", field=key)
    for key in ("issuer", "client_id"):
        if key not in table:
            raise BadInput(file, "is required", field=key)
    _require_safe(table["issuer"], str(file))
    secret = None
    if variable := table.get("client_secret_env"):
        secret = os.environ.get(variable)
        if not secret:
            raise BadInput(file, f"the environment has no {variable}", field="client_secret_env")
    claim, scope = table.get("claim", "email"), table.get("scope", "openid email profile")
    return OpenIdSettings(table["issuer"], table["client_id"], secret, table.get("name", "hospital"), claim, scope)


class OpenIdClient:
    """The desk as a client of one provider."""

    def __init__(self, settings: OpenIdSettings) -> None:
        try:
            import authlib  # noqa: F401
        except ImportError:
            raise WardroundError(MISSING) from None
        self.settings = settings
        self._flows: OrderedDict[str, _Flow] = OrderedDict()  # by state
        self._lock = threading.Lock()
        self._metadata: tuple[float, dict[str, Any]] | None = None

    def begin(self, visit: str, redirect_uri: str, to: str) -> str:
        """The address of the provider to which a browser is sent."""
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        moment = time.monotonic()
        with self._lock:
            self._flows[state] = _Flow(visit, nonce, verifier, to, moment)
            while len(self._flows) > MAX_FLOWS or next(iter(self._flows.values())).begun < moment - FLOW_SECONDS:
                self._flows.popitem(last=False)
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": redirect_uri,
            "scope": self.settings.scope,
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
        endpoint = str(self._load_metadata()["authorization_endpoint"])
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def finish(self, visit: str, redirect_uri: str, response: Mapping[str, str]) -> tuple[str, str]:
        """The log-in of the person whom the provider names, and the page that they wanted; else WardroundError."""
        with self._lock:
            flow = self._flows.pop(response.get("state", ""), None)
        if flow is None or flow.visit != visit or flow.begun < time.monotonic() - FLOW_SECONDS:
            raise self._refused("it was begun elsewhere, or too long ago; begin again")
        if "iss" in response and response["iss"] != self.settings.issuer:
            raise self._refused("the answer is of another issuer")
        if "code" not in response:
            raise self._refused(response.get("error", "no code came back")[:200])
        token = self._fetch_token(response["code"], redirect_uri, flow.verifier)
        return self._read_login(self._check_id_token(token, flow.nonce)), flow.to

    def _fetch_token(self, code: str, redirect_uri: str, verifier: str) -> dict[str, Any]:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
        form["code_verifier"] = verifier
        headers = {}
        if self.settings.client_secret is None:
            form["client_id"] = self.settings.client_id
        else:  # client_secret_basic: both parts are form-encoded first (RFC 6749, 2.3.1)
            pair = f"{quote(self.settings.client_id, safe='')}:{quote(self.settings.client_secret, safe='')}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return self._fetch(self._load_metadata()["token_endpoint"], form, headers)

    def _check_id_token(self, token: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """The claims of an id token, if its signature, issuer, audience, times and nonce are right."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        keys: Any = self._fetch(self._load_metadata()["jwks_uri"])
        options = {"iss": {"essential": True, "values": [self.settings.issuer]}}
        options["aud"] = {"essential": True, "values": [self.settings.client_id]}
        parameters = {"nonce": nonce, "client_id": self.settings.client_id, "access_token": token.get("access_token")}
        try:
            decoded = jwt.decode(str(token.get("id_token")), KeySet.import_key_set(keys), algorithms=list(ALGORITHMS))
            claims = CodeIDToken(decoded.claims, decoded.header, options, parameters)
            claims.validate(leeway=LEEWAY)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise self._refused(f"its id token is not valid ({error})") from None
        return dict(claims)

    def _read_login(self, claims: Mapping[str, Any]) -> str:
        login = claims.get(self.settings.claim)
        if not isinstance(login, str) or not login.strip():
            raise self._refused(f"the id token has no claim {self.settings.claim!r}")
        if self.settings.claim == "email" and claims.get("email_verified") is False:
            raise self._refused("the address is not verified there")
        return login.strip()

    def _load_metadata(self) -> dict[str, Any]:
        """The provider's discovery document, at most an hour old."""
        with self._lock:
            known = self._metadata
        if known is not None and known[0] > time.monotonic() - METADATA_SECONDS:
            return known[1]
        metadata = self._fetch(f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration")
        if metadata.get("issuer") != self.settings.issuer:
            raise self._refused(f"its discovery names the issuer {metadata.get('issuer')!r}")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            _require_safe(str(metadata.get(name)), f"{self.settings.issuer}: {name}")
        with self._lock:
            self._metadata = (time.monotonic(), metadata)
        return metadata

    def _fetch(
        self, address: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        data = None if form is None else urlencode(form).encode()
        request = urllib.request.Request(address, data, {"accept": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                document = json.loads(answer.read(MAX_BYTES))
        except (OSError, ValueError) as error:
            raise self._refused(f"{urlsplit(address).path} did not answer as expected ({error})") from None
        if not isinstance(document, dict):
            raise self._refused(f"{urlsplit(address).path} did not answer with an object")
        return document

    def _refused(self, why: str) -> WardroundError:
        return WardroundError(REFUSED.format(name=self.settings.name, why=why))


def _require_safe(address: str, place: str) -> None:
    """An address of the provider is https, or on this machine."""
    parts = urlsplit(address)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_safe or not parts.hostname:
        raise WardroundError(f"{place}: {address!r} is not an https address")
