"""Tokens of google-auth for Vertex AI: real credentials of a service account, whose token server is on loopback."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from anthropic_api import VertexClaudeApi
from gemini_api import VertexGeminiApi
from test_contract import PROVIDERS, VERTEX, request, send

from wardround.candidates.candidate import CandidateUnavailable
from wardround.candidates.registry import make_candidate
from wardround.core.study import CandidateSettings

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class TokenServer:
    """What answers at `/token`: a token for each signed assertion, numbered."""

    issued = 0
    refuses = False

    async def other(self, asked: web.Request, raw: bytes) -> web.Response | None:
        if asked.path != "/token":
            return None
        form = parse_qs(raw.decode())
        assert form["grant_type"] == [GRANT]
        assert form["assertion"][0].count(".") == 2
        if self.refuses:
            return web.json_response({"error": "invalid_grant", "error_description": "Invalid account"}, status=400)
        self.issued += 1
        return web.json_response({"access_token": f"token-{self.issued}", "expires_in": 3600, "token_type": "Bearer"})


class ClaudeWithTokens(TokenServer, VertexClaudeApi):
    pass


class GeminiWithTokens(TokenServer, VertexGeminiApi):
    pass


@pytest.fixture
def sign_in(tmp_path, monkeypatch):
    """Makes this machine's credentials those of a service account at a token server."""
    pytest.importorskip("google.auth")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()

    def write(url: str) -> None:
        account = {
            "type": "service_account",
            "project_id": "ward",
            "private_key_id": "1",
            "private_key": pem,
            "client_email": "exam@ward.iam.gserviceaccount.com",
            "token_uri": f"{url}/token",
        }
        (tmp_path / "account.json").write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))

    return write


def candidate(name: str, url: str):
    settings = PROVIDERS[name].settings | {"token_command": None}
    fields = {"name": "hosted", "provider": name, "base_url": url + VERTEX, **settings}
    return make_candidate(CandidateSettings.model_validate(fields))


@pytest.mark.parametrize(("name", "api"), [("anthropic:vertex", ClaudeWithTokens), ("gemini:vertex", GeminiWithTokens)])
def test_a_token_is_fetched_once_and_renewed_when_it_is_refused(name, api, sign_in):
    with api() as server:
        sign_in(server.url)
        to = candidate(name, server.url)
        [first, second] = send(to, request(), request())
        assert (first.answers[0].text, second.answers[0].text, server.issued) == ("Answer: A", "Answer: A", 1)
        server.tokens = ("token-2",)
        [third] = send(to, request())
    assert (third.answers[0].text, server.issued) == ("Answer: A", 2)


def test_credentials_that_google_refuses_end_the_candidate_with_the_reason(sign_in):
    with ClaudeWithTokens() as server:
        server.refuses = True
        sign_in(server.url)
        with pytest.raises(CandidateUnavailable, match=r"google-auth: .*invalid_grant"):
            send(candidate("anthropic:vertex", server.url), request())
