"""A small, strict OpenID Connect provider on loopback: discovery, PKCE, nonce, signed id tokens; it can also lie."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlencode

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import RedirectResponse
from joserfc import jwt
from joserfc.jwk import RSAKey

from wardround.core.sockets import open_socket, socket_url

CLIENT, SECRET = "desk", "a secret: with/signs"


class Provider:
    """`claims` are added to every id token; `lies` replace its claims, `key` signs it, `algorithm` says how."""

    def __init__(self) -> None:
        self.issuer = ""
        self.key = self._published = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
        self.claims: dict[str, Any] = {"email": "ann@hospital.example", "email_verified": True}
        self.lies: dict[str, Any] = {}
        self.discovery_lies: dict[str, Any] = {}
        self.unsigned = False
        self._codes: dict[str, dict[str, str]] = {}
        self.app = self._make_app()

    def tell_the_truth(self) -> None:
        self.key, self.lies, self.discovery_lies, self.unsigned = self._published, {}, {}, False
        self.claims = {"email": "ann@hospital.example", "email_verified": True}

    def _make_app(self) -> FastAPI:
        app = FastAPI()

        @app.get("/.well-known/openid-configuration")
        def discovery() -> dict[str, Any]:
            endpoints = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            document = {name: f"{self.issuer}/{path}" for name, path in endpoints.items()}
            document |= {"issuer": self.issuer, "response_types_supported": ["code"]}
            return document | {"id_token_signing_alg_values_supported": ["RS256"]} | self.discovery_lies

        @app.get("/keys")
        def keys() -> dict[str, Any]:
            return {"keys": [self._published.as_dict(private=False)]}

        @app.get("/authorize")
        def authorize(request: Request) -> RedirectResponse:
            query = dict(request.query_params)
            wanted = {"response_type": "code", "client_id": CLIENT, "code_challenge_method": "S256"}
            if any(query.get(name) != value for name, value in wanted.items()):
                raise HTTPException(400, "invalid_request")
            if "openid" not in query["scope"].split() or not query["nonce"] or len(query["code_challenge"]) != 43:
                raise HTTPException(400, "invalid_request")
            code = secrets.token_urlsafe(16)
            self._codes[code] = query
            answer = {"code": code, "state": query["state"], "iss": self.issuer}
            return RedirectResponse(f"{query['redirect_uri']}?{urlencode(answer)}", 302)

        @app.post("/token")
        async def token(request: Request) -> dict[str, Any]:
            form = await request.form()
            begun = self._codes.pop(str(form.get("code")), None)  # a code works once
            if begun is None or form.get("grant_type") != "authorization_code":
                raise HTTPException(400, "invalid_grant")
            kind, _, pair = request.headers.get("authorization", "").partition(" ")
            name, _, password = base64.b64decode(pair).decode().partition(":")
            if (kind, unquote(name), unquote(password)) != ("Basic", CLIENT, SECRET):
                raise HTTPException(401, "invalid_client")
            digest = hashlib.sha256(str(form.get("code_verifier")).encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if challenge != begun["code_challenge"] or form.get("redirect_uri") != begun["redirect_uri"]:
                raise HTTPException(400, "invalid_grant")
            return {"access_token": "x", "token_type": "Bearer", "id_token": self._id_token(begun["nonce"])}

        return app

    def _id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": "7", "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce}
        claims = {name: value for name, value in (claims | self.claims | self.lies).items() if value is not None}
        if self.unsigned:
            parts = [b'{"alg":"none"}', str(claims).replace("'", '"').replace("True", "true").encode(), b""]
            return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)


@contextmanager
def serve_provider() -> Iterator[Provider]:
    """A provider, served from a thread on a free port."""
    provider = Provider()
    listening = open_socket("127.0.0.1", 0)
    provider.issuer = socket_url("127.0.0.1", listening)
    server = uvicorn.Server(uvicorn.Config(provider.app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join()
