"""Proxies, certificates and secrets, against real proxies and TLS servers on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from exam_server import ExamServer
from exam_study import bodies, wardround, write_cases, write_study

from wardround.benchmarks.engine.candidate_text import parse_candidate, read_candidates
from wardround.candidates.candidate import Candidate, CandidateUnavailable, Fault, Request
from wardround.candidates.http.address import public_address
from wardround.candidates.http.connection import Connection
from wardround.candidates.http.proxies import Proxy, find_proxy
from wardround.candidates.registry import make_candidate, refuse_remote
from wardround.core.ask import Ask, Message, Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.core.secrets import has_secret_name, is_secret_value, is_variable_name
from wardround.core.study import CandidateSettings, Study, load_study

pytest.importorskip("cryptography")
from relay import Authority, Relay

KEY = "sk-exam-7f3c9b1e5a2d4c6f8e0b"
HOST = "model.example"
CASE = Case.model_validate(
    {"id": "c", "questions": [{"id": "q", "kind": "choice", "prompt": "?", "options": ["x", "y"], "gold": 0}]}
)
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
NETWORK_VARIABLES = (*PROXY_VARIABLES, *map(str.upper, PROXY_VARIABLES), "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


@pytest.fixture(autouse=True)
def _no_network_variables(monkeypatch):
    for name in NETWORK_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with ExamServer() as server:
        yield server


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


def settings(url: str, **fields: Any) -> CandidateSettings:
    return CandidateSettings(name="server", provider="openai", base_url=url, **{"model": "exam"} | fields)


def ask(to: Candidate) -> str:
    """The text of the candidate's answer to one question."""
    question = Ask(to.identity, Sampling(), (Message("user", ("Which?",)),))

    async def go() -> str:
        await to.prepare(None)  # type: ignore[arg-type]
        try:
            reply = await to.answer(Request(question, CASE, CASE.questions[0], Condition(), (0, 1), (0,)))
            return reply.answers[0].text
        finally:
            await to.close()

    return asyncio.run(go())


def answer(url: str, **fields: Any) -> str:
    return ask(make_candidate(settings(url, **fields)))


# --- proxies


def test_a_plain_request_goes_through_the_proxy_with_its_credentials(monkeypatch, server):
    with Relay(server.port, is_proxy=True) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:pass%20word@127.0.0.1:{proxy.port}")
        text = answer(f"http://{HOST}/v1")
    assert text
    assert proxy.heads[0].startswith(f"POST http://{HOST}/v1/chat/completions HTTP/1.1")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'me:pass word').decode()}" in proxy.heads[0]


def test_an_encrypted_request_is_tunnelled_and_the_proxy_reads_none_of_it(monkeypatch, server, authority):
    monkeypatch.setenv("EXAM_KEY", KEY)
    with Relay(server.port, tls=authority.server_context(HOST)) as front, Relay(front.port, is_proxy=True) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:word@127.0.0.1:{proxy.port}")
        text = answer(f"https://{HOST}/v1", ca_bundle=str(authority.bundle), api_key_env="EXAM_KEY")
    assert text
    assert proxy.heads[0].startswith(f"CONNECT {HOST}:443 HTTP/1.1")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'me:word').decode()}" in proxy.heads[0]
    assert KEY not in proxy.heads[0]  # aiohttp would send it, as a header of the session
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "Proxy-Authorization" not in server.headers[0]


def test_a_proxy_may_itself_be_at_an_encrypted_address(monkeypatch, server, authority):
    """aiohttp's own reading of the environment ignores such a proxy and connects without one."""
    with (
        Relay(server.port, tls=authority.server_context(HOST)) as front,
        Relay(front.port, is_proxy=True, tls=authority.server_context("127.0.0.1")) as proxy,
    ):
        monkeypatch.setenv("ALL_PROXY", f"https://127.0.0.1:{proxy.port}")
        text = answer(f"https://{HOST}/v1", ca_bundle=str(authority.bundle))
    assert text
    assert proxy.heads[0].startswith(f"CONNECT {HOST}:443")


def test_loopback_never_goes_through_a_proxy(monkeypatch, server):
    with Relay(server.port, is_proxy=True) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert answer(server.url)
    assert proxy.connections == 0


@pytest.mark.parametrize(
    ("scheme", "refusal", "error", "reason"),
    [
        ("http", "407 Proxy Authentication Required", CandidateUnavailable, "refuses the connection: HTTP 407"),
        ("https", "407 Proxy Authentication Required", CandidateUnavailable, "refuses the connection: HTTP 407"),
        ("https", "403 Forbidden", CandidateUnavailable, "refuses the connection: HTTP 403 Forbidden"),
        ("https", "502 Bad Gateway", Fault, "answered HTTP 502 Bad Gateway"),
    ],
)
def test_a_proxy_that_refuses_is_named_without_its_password(monkeypatch, scheme, refusal, error, reason):
    """Without a tunnel, a status other than 407 may be the server's own."""
    with Relay(9, is_proxy=True, refusal=refusal) as proxy:
        monkeypatch.setenv(f"{scheme}_proxy", f"http://me:pass-word-77@127.0.0.1:{proxy.port}")
        with pytest.raises(error, match=reason) as raised:
            answer(f"{scheme}://{HOST}/v1")
    assert f"the proxy http://127.0.0.1:{proxy.port} ({scheme}_proxy)" in str(raised.value)
    assert "pass-word-77" not in str(raised.value)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_cannot_be_reached_is_named(monkeypatch, scheme):
    with Relay(9) as gone:
        pass
    monkeypatch.setenv(f"{scheme}_proxy", f"http://me:pass-word-77@127.0.0.1:{gone.port}")
    with pytest.raises(Fault, match="cannot be reached") as raised:
        answer(f"{scheme}://{HOST}/v1")
    assert str(raised.value).startswith(f"the proxy http://127.0.0.1:{gone.port} ({scheme}_proxy) cannot be reached")
    assert raised.value.unreachable
    assert "pass-word-77" not in str(raised.value)


def proxy_of(url: str, **environment: str) -> Proxy | None:
    return find_proxy(urlsplit(url), environment)


def test_the_variable_of_the_scheme_comes_before_all_proxy_and_small_letters_before_capitals():
    variables = {"HTTPS_PROXY": "http://a:1", "https_proxy": "http://b:2", "ALL_PROXY": "c"}
    assert proxy_of("https://model.example", **variables) == Proxy("http://b:2", "https_proxy")
    assert proxy_of("http://model.example", **variables) == Proxy("http://c:80", "ALL_PROXY")
    assert proxy_of("https://model.example", https_proxy="", ALL_PROXY="c") is None
    assert proxy_of("https://model.example") is None


@pytest.mark.parametrize(
    ("no_proxy", "url", "is_direct"),
    [
        ("*", "https://model.example", True),
        ("a.example,model.example", "https://model.example", True),
        ("a.example model.example", "https://MODEL.example.", True),
        ("example", "https://model.example", True),
        (".example", "https://model.example", True),
        ("*.example", "https://model.example", True),
        ("del.example", "https://model.example", False),
        ("model.example:8443", "https://model.example:8443", True),
        ("model.example:8443", "https://model.example", False),
        ("model.example:443", "https://model.example", True),
        ("10.0.0.0/8", "http://10.20.30.40:8000", True),
        ("10.0.0.0/8", "http://11.20.30.40:8000", False),
        ("10.20.30.40", "http://10.20.30.40:8000", True),
        ("10.20.30.40:8000", "http://10.20.30.40:8000", True),
        ("fd00::/8", "http://[fd12::1]:8000", True),
        ("[fd12::1]:8000", "http://[fd12::1]:8000", True),
        ("10.0.0.0/8", "https://model.example", False),
        ("", "https://model.example", False),
        (",, ,", "https://model.example", False),
    ],
)
def test_no_proxy_has_hosts_domains_networks_and_ports(no_proxy, url, is_direct):
    assert (proxy_of(url, ALL_PROXY="http://p:1", NO_PROXY=no_proxy) is None) == is_direct


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("socks5://me:pass-word-77@127.0.0.1:1080", "ALL_PROXY: proxies of the kind socks5 are not supported"),
        ("http://", "ALL_PROXY is not the address of a proxy"),
        ("http://[pass-word-77", "ALL_PROXY is not the address of a proxy"),
        ("http://me:pass-word-77@h:port", "ALL_PROXY is not the address of a proxy"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_before_the_run(monkeypatch, value, problem):
    monkeypatch.setenv("ALL_PROXY", value)
    with pytest.raises(WardroundError, match="candidate 'server': environment variable " + problem) as raised:
        Connection(settings(f"https://{HOST}/v1"))
    assert "pass-word-77" not in str(raised.value)


def test_netrc_is_not_read(monkeypatch, tmp_path, server):
    """aiohttp with trust_env would send its password to the server."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password pass-word-77\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    answer(server.url)
    assert "Authorization" not in server.headers[0]


# --- certificates


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", None])
def test_a_bundle_of_authorities_is_trusted(monkeypatch, server, authority, variable):
    if variable:
        monkeypatch.setenv(variable, str(authority.bundle))
    with Relay(server.port, tls=authority.server_context("127.0.0.1")) as front:
        bundle = {} if variable else {"ca_bundle": str(authority.bundle)}
        assert answer(f"https://127.0.0.1:{front.port}/v1", **bundle)


def test_the_candidates_own_bundle_comes_before_the_environments(monkeypatch, tmp_path, server, authority):
    monkeypatch.setenv("SSL_CERT_FILE", str(Authority(tmp_path, "other").bundle))
    with Relay(server.port, tls=authority.server_context("127.0.0.1")) as front:
        assert answer(f"https://127.0.0.1:{front.port}/v1", ca_bundle=str(authority.bundle))


@pytest.mark.parametrize(
    ("hosts", "trusts", "reason"),
    [
        (["127.0.0.1"], "other", "self-signed certificate in certificate chain|unable to get local issuer certificate"),
        ([HOST], "authority", "certificate is not valid for '127.0.0.1'"),
    ],
)
def test_a_certificate_that_is_not_trusted_ends_the_candidate_with_one_line(
    tmp_path, server, authority, hosts, trusts, reason
):
    bundles = {"authority": authority.bundle, "other": Authority(tmp_path, "other").bundle}
    with Relay(server.port, tls=authority.server_context(*hosts)) as front:
        url = f"https://127.0.0.1:{front.port}/v1"
        with pytest.raises(CandidateUnavailable, match=reason) as raised:
            answer(url, ca_bundle=str(bundles[trusts]))
    assert str(raised.value).startswith(f"{url}: the server's certificate is not trusted: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_a_server_that_wants_a_certificate_gets_the_candidates(server, authority, version):
    certificate, key = authority.issue("ward")
    context = authority.server_context("127.0.0.1", wants_certificate=True)
    context.maximum_version = ssl.TLSVersion[version]
    with Relay(server.port, tls=context) as front:
        url, trusted = f"https://127.0.0.1:{front.port}/v1", {"ca_bundle": str(authority.bundle)}
        assert answer(url, client_cert=str(certificate), client_key=str(key), **trusted)


@pytest.mark.parametrize(("version", "reason"), [("TLSv1_2", "handshake failure"), ("TLSv1_3", "certificate required")])
def test_a_server_that_wants_a_certificate_and_gets_none_ends_the_candidate(authority, version, reason):
    context = authority.server_context("127.0.0.1", wants_certificate=True)
    context.maximum_version = ssl.TLSVersion[version]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=refuse_one, args=(listener, context), daemon=True).start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/v1"
        with pytest.raises(CandidateUnavailable, match=f"{url} refuses the TLS connection: {reason}; client_cert and"):
            answer(url, ca_bundle=str(authority.bundle))


def refuse_one(listener: socket.socket, context: ssl.SSLContext) -> None:
    """Accepts one connection and says in TLS why it is refused; asyncio's servers only drop it."""
    client = context.wrap_socket(listener.accept()[0], server_side=True, do_handshake_on_connect=False)
    with suppress(ssl.SSLError):
        client.do_handshake()
    with socket.socket(fileno=client.detach()) as connection:
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65_536):
            pass


def test_a_certificate_and_its_key_may_be_in_one_file(tmp_path, server, authority):
    certificate, key = authority.issue("ward")
    (tmp_path / "both.pem").write_bytes(certificate.read_bytes() + key.read_bytes())
    with Relay(server.port, tls=authority.server_context("127.0.0.1", wants_certificate=True)) as front:
        url = f"https://127.0.0.1:{front.port}/v1"
        assert answer(url, ca_bundle=str(authority.bundle), client_cert=str(tmp_path / "both.pem"))


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"ca_bundle": "gone.pem"}, "ca_bundle: there is no file .*gone.pem"),
        ({"ca_bundle": "notes.txt"}, "ca_bundle: .*notes.txt contains no certificates that can be read; expected PEM"),
        ({"ca_bundle": "empty.pem"}, "contains no certificates"),
        ({"client_cert": "gone.crt"}, "client_cert: there is no file .*gone.crt"),
        ({"client_cert": "ward.crt", "client_key": "gone.key"}, "client_key: there is no file .*gone.key"),
        ({"client_cert": "ward.crt"}, "client_cert .*ward.crt cannot be used: "),
        ({"client_cert": "ward.crt", "client_key": "other.key"}, "cannot be used: KEY_VALUES_MISMATCH"),
        ({"client_cert": "locked.crt", "client_key": "locked.key"}, "locked.key has a password; store it without one"),
        ({"client_key": "ward.key"}, "client_key needs client_cert"),
    ],
)
def test_files_that_cannot_be_used_are_refused_before_the_run(tmp_path, authority, files, problem):
    (tmp_path / "notes.txt").write_text("not a certificate\n")
    (tmp_path / "empty.pem").write_text("")
    authority.issue("ward")
    authority.issue("other")
    authority.issue("locked", password=b"word")
    with pytest.raises(WardroundError, match=f"candidate 'server': .*{problem}") as raised:
        make_candidate(settings("https://127.0.0.1:9/v1", **files), folder=tmp_path)
    assert "\n" not in str(raised.value)


def test_a_variable_that_names_no_file_is_refused_for_encrypted_addresses_only(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/bundle.pem")
    with pytest.raises(WardroundError, match=r"SSL_CERT_FILE: there is no file /nowhere/bundle\.pem"):
        Connection(settings("https://127.0.0.1:9/v1"))
    Connection(settings("http://127.0.0.1:9/v1"))


def test_a_study_with_files_beside_it_runs_and_its_hash_does_not_contain_them(tmp_path, server):
    (tmp_path / "tls").mkdir()
    authority = Authority(tmp_path / "tls")
    authority.issue("ward")
    write_cases(tmp_path / "study" / "cases", 2)
    with Relay(server.port, tls=authority.server_context("127.0.0.1", wants_certificate=True)) as front:
        url = f"https://127.0.0.1:{front.port}/v1"
        files = {"ca_bundle": "../tls/authority.pem", "client_cert": "../tls/ward.crt", "client_key": "../tls/ward.key"}
        study = write_study(tmp_path / "study", url, candidate=files)
        ended = wardround("run", study, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    bare = load_study(write_study(tmp_path / "bare", url))
    assert load_study(study).hash == bare.hash
    assert load_study(study).candidates[0].identity == bare.candidates[0].identity


# --- secrets in the study

SECRET_PLACES: dict[str, tuple[dict[str, Any], str]] = {
    "key": ({"url": f"https://{HOST}/v1?key={KEY}"}, "base_url: the value of 'key'"),
    "short key": ({"url": f"https://{HOST}/v1?api-key=pass-word"}, "base_url: the value of 'api-key'"),
    "token": ({"url": f"https://{HOST}/v1?api-version=2024-10-21&token=pass-word"}, "the value of 'token'"),
    "sig": ({"url": f"https://{HOST}/v1?sig=pass%2Fword"}, "the value of 'sig'"),
    "code": ({"url": f"https://{HOST}/v1?code=pass-word"}, "the value of 'code'"),
    "odd name": ({"url": f"https://{HOST}/v1?x=Zm9vYmFyYmF6MTIzNDU2Nzg5MGFiYw"}, "the value of 'x'"),
    "extra body": ({"extra_body": {"api_key": "pass-word"}}, "extra_body.api_key"),
    "deep": ({"extra_body": {"a": [{"b": {"authToken": "pass-word"}}]}}, r"extra_body.a\[0\].b.authToken"),
    "list": ({"extra_body": {"api_keys": ["pass-word"]}}, r"extra_body.api_keys\[0\]"),
    "known value": ({"extra_body": {"user": KEY}}, "extra_body.user"),
    "password": ({"extra_body": {"data_sources": [{"password": "pass-word"}]}}, "password"),
    "header": ({"headers": {"X-Api-Key": "pass-word"}}, "header 'X-Api-Key'"),
    "odd header": ({"headers": {"X-Ward": f"Bearer {KEY}"}}, "header 'X-Ward'"),
    "key in a header": ({"headers": {"X-Ward": KEY}}, "header 'X-Ward'"),
    "random header": ({"headers": {"X-Ward": "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d"}}, "header 'X-Ward'"),
    "pasted after $": ({"headers": {"X-Ward": f"${KEY}"}}, "header 'X-Ward'"),
}


@pytest.mark.parametrize(("fields", "place"), SECRET_PLACES.values(), ids=SECRET_PLACES)
def test_a_secret_in_the_study_is_refused_with_the_way_to_write_it(fields, place):
    fields = {"url": f"https://{HOST}/v1", **fields}
    with pytest.raises(WardroundError, match=place) as raised:
        make_candidate(settings(fields.pop("url"), **fields))
    assert str(raised.value).endswith(' looks like a secret; write "$NAME" and set the environment variable NAME')
    assert "pass" not in str(raised.value).replace("password", "")
    assert KEY not in str(raised.value)


HARMLESS: list[dict[str, Any]] = [
    {"url": f"https://{HOST}/openai/deployments/gpt?api-version=2024-10-21-preview&debug="},
    {"extra_body": {"max_tokens": 5, "max_completion_tokens": 5, "stop_token_ids": [1], "eos_token": "</s>"}},
    {"extra_body": {"response_format": {"json_schema": {"properties": {"token": {"type": "string"}}}}}},
    {"extra_body": {"prompt_cache_key": "ward", "user": "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d", "guided_regex": "^A$"}},
    {"extra_body": {"skip_special_tokens": True, "token": None, "key": ""}},
    {"headers": {"anthropic-beta": "max-tokens-3-5-sonnet-2024-07-15", "X-Study": "ward-7-2024-10-21-preview"}},
    {"headers": {"OpenAI-Organization": "org-1a2b3c4d5e6f7g8h9i0jklmn", "HTTP-Referer": "https://ward.example/study"}},
]


@pytest.mark.parametrize("fields", HARMLESS)
def test_what_is_harmless_is_allowed(fields):
    fields = {"url": f"https://{HOST}/v1", **fields}
    allowed = settings(fields.pop("url"), **fields)
    assert make_candidate(allowed).settings == allowed


def test_variables_reach_headers_query_and_extra_body_and_nothing_else(monkeypatch, server):
    monkeypatch.setenv("EXAM_KEY", "a+b/c d&e=é%41")
    monkeypatch.setenv("EXAM_TOKEN", KEY)
    fields = {
        "headers": {"Authorization": "Bearer $EXAM_TOKEN", "X-Ward": "$EXAM_TOKEN"},
        "extra_body": {"source": {"key": "$EXAM_TOKEN", "parts": ["$EXAM_TOKEN", "5 $EXAM_TOKEN", "$"]}},
    }
    with Relay(server.port, is_proxy=True) as front:
        url = f"http://127.0.0.1:{front.port}/v1/?api-version=2024-10-21&key=$EXAM_KEY"
        to = make_candidate(settings(url, **fields))
        assert ask(to)
    target = urlsplit(front.heads[0].split(" ")[1])
    assert target.path == "/v1/chat/completions"
    assert parse_qsl(target.query) == [("api-version", "2024-10-21"), ("key", "a+b/c d&e=é%41")]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.headers[0]["X-Ward"] == KEY
    assert server.bodies[0]["source"] == {"key": KEY, "parts": [KEY, "5 $EXAM_TOKEN", "$"]}
    assert to.identity.extra_body == fields["extra_body"]
    assert KEY not in to.identity.json + str(to.settings)


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(WardroundError, match="environment variable NOT_SET_ANYWHERE is not set"):
        make_candidate(settings(f"https://{HOST}/v1", extra_body={"key": "$NOT_SET_ANYWHERE"}))
    with pytest.raises(WardroundError, match="environment variable NOT_SET_ANYWHERE is not set"):
        make_candidate(settings(f"https://{HOST}/v1?key=$NOT_SET_ANYWHERE"))


def test_messages_contain_neither_secrets_nor_the_query(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", "pass word/77")
    with Relay(9) as gone:
        pass
    connection = Connection(settings(f"http://127.0.0.1:{gone.port}/v1?key=$EXAM_KEY"))
    assert connection.url("/chat/completions").endswith("/v1/chat/completions?key=pass%20word%2F77")
    assert connection.address == f"http://127.0.0.1:{gone.port}/v1"
    messages = ("pass word/77", "?key=pass%20word%2F77", "?key=pass%20word/77", "pass word/77 pass word/77")
    assert not any("77" in connection.redact(message) for message in messages)
    with pytest.raises(Fault) as raised:
        answer(f"http://127.0.0.1:{gone.port}/v1?key=$EXAM_KEY")
    assert str(raised.value).startswith(f"http://127.0.0.1:{gone.port}/v1 cannot be reached: ")
    assert "77" not in str(raised.value).replace(str(gone.port), "")


def test_an_address_that_is_refused_is_not_repeated_with_its_secrets():
    for url in (f"ftp://me:{KEY}@h/v1", f"me:{KEY}@h/v1", f"https://me:{KEY}@h/v1", f"https://h/v1#{KEY}"):
        with pytest.raises(WardroundError) as raised:
            make_candidate(settings(url))
        assert KEY not in str(raised.value)
        with pytest.raises(WardroundError) as raised:
            refuse_remote(settings(url))
        assert KEY not in str(raised.value)
    assert public_address(f"https://me:{KEY}@h:1/v1?key={KEY}#{KEY}") == "https://h:1/v1"


PASTED = [KEY, "hf_AbCdEfGhIjKlMnOp1234", "d41d8cd98f00b204e9800998ecf8427e", "my key", "Bearer_x-y", "pass-word"]


@pytest.mark.parametrize("pasted", PASTED)
def test_a_key_pasted_in_place_of_its_variable_is_never_printed(pasted):
    with pytest.raises(ValueError, match="is not the name of an environment variable") as raised:
        settings(f"https://{HOST}/v1", api_key_env=pasted)
    assert pasted not in str(raised.value)
    with pytest.raises(ValueError, match="is not the name of an environment variable") as raised:
        Study(name="s", cases="c", candidates=[{"name": "a", "provider": "openai", "api_key_env": pasted}])  # type: ignore
    assert pasted not in str(raised.value)


@pytest.mark.parametrize("table", ["candidates", "judge"])
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_study_with_a_pasted_key_stops_before_anything_is_written(tmp_path, command, table):
    write_cases(tmp_path / "cases", 2)
    pasted = {"api_key_env": KEY}
    judge = {"judge": {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", **pasted}} if table == "judge" else {}
    study = write_study(tmp_path, candidate={} if judge else pasted, **judge)
    before = sorted(tmp_path.rglob("*"))
    ended = wardround(command, study, cwd=tmp_path)
    field = "judge.api_key_env" if judge else "candidates[0].api_key_env"
    advice = "is not the name of an environment variable; put the key into a variable and name it here"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"wardround: {study}: {field}: {advice}\n")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("value", ['["%s"]', "{ a = '%s' }"])
def test_a_key_of_the_wrong_type_is_not_printed(tmp_path, value):
    for key in ("api_key_env", "headers", "extra_body", "base_url"):
        (tmp_path / "study.toml").write_text(
            f'name = "s"\ncases = "cases"\n[[candidates]]\nname = "a"\nprovider = "openai"\n{key} = [{value % KEY}]\n'
        )
        with pytest.raises(WardroundError) as error:
            load_study(tmp_path / "study.toml")
        assert f"candidates[0].{key}" in str(error.value)
        assert KEY not in str(error.value)


def test_a_run_with_a_variable_in_extra_body_writes_only_its_name(tmp_path):
    write_cases(tmp_path / "cases", 2)
    with ExamServer() as server:
        extra = {"extra_body": {"source": {"key": "$EXAM_KEY"}}}
        study = write_study(tmp_path, f"{server.url}?api-version=1&key=$EXAM_KEY", candidate=extra)
        ended = wardround("run", study, cwd=tmp_path, EXAM_KEY=KEY)
        assert ended.returncode == 0, ended.stderr
        again = wardround("run", study, cwd=tmp_path, EXAM_KEY="another")
    assert again.returncode == 0, again.stderr
    assert [body["source"] for body in server.bodies if body["source"] != {"key": KEY}] == []
    assert bodies(tmp_path / "answers.sqlite")
    assert [file for file in tmp_path.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()] == []
    manifest = json.loads(Path(tmp_path / "runs" / "exam" / "manifest.json").read_text())
    assert manifest["candidates"][0]["settings"]["extra_body"] == extra["extra_body"]


def test_what_looks_like_a_secret():
    names = ["api_key", "apiKey", "X-API-Key", "key", "access_token", "Authorization", "sig", "client_secret"]
    plain = ["max_tokens", "eos_token", "tokenizer", "keyboard", "monkey", "sort_key", "assignment", "model"]
    assert [name for name in names if not has_secret_name(name)] == []
    assert [name for name in plain if has_secret_name(name)] == []
    values = [KEY, f"Bearer {KEY}", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"]
    values += ["9a8b7c6d-5e4f-4a2b-9c0d-9e8f7a6b5c4d", "Zm9vYmFyYmF6MTIzNDU2Nzg5MGFiYw=="]
    texts = ["2024-10-21-preview", "meta-llama/Llama-3.2-90B-Vision-Instruct", "application/json", "ward 7", "on"]
    assert [value for value in values if not is_secret_value(value)] == []
    assert [text for text in texts if is_secret_value(text)] == []
    assert is_variable_name("AZURE_OPENAI_API_KEY_2024_EU2")


def test_a_judge_file_with_a_secret_is_refused_before_anything_is_marked(tmp_path, server):
    write_cases(tmp_path / "cases", 2)
    study = write_study(tmp_path, server.url)
    assert wardround("run", study, cwd=tmp_path).returncode == 0
    before = {file: file.read_bytes() for file in (tmp_path / "runs" / "exam").iterdir() if file.is_file()}
    judge = f'[judge]\nprovider = "openai"\nmodel = "j"\nbase_url = "{server.url}?key={KEY}"\n'
    (tmp_path / "judge.toml").write_text(judge)
    ended = wardround("mark", "runs/exam", "--judge", "judge.toml", cwd=tmp_path)
    assert ended.returncode == 1
    assert "candidate 'judge': base_url: the value of 'key' looks like a secret" in ended.stderr
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize("pasted", ["api_key_env", "base_url", "extra_body.api_key"])
def test_a_bench_study_with_a_secret_is_refused_before_its_file_is_written(tmp_path, pasted):
    write_cases(tmp_path / "cases", 2)
    url = f"http://127.0.0.1:9/v1?key={KEY}" if pasted == "base_url" else "http://127.0.0.1:9/v1"
    more = "" if pasted == "base_url" else f",{pasted}={KEY}"
    candidate = f"x={url},model=exam{more}"
    ended = wardround("bench", "medq-deg/table6", "--cases", "cases", "--candidate", candidate, cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert KEY not in ended.stdout + ended.stderr
    assert not (tmp_path / "runs").exists()


def test_certificates_of_a_bench_candidate_are_beside_its_file(tmp_path):
    (tmp_path / "them.toml").write_text('[[candidates]]\nname = "x"\nprovider = "openai"\nca_bundle = "tls/ca.pem"\n')
    ((candidate,), judge) = read_candidates(tmp_path / "them.toml")
    assert candidate["ca_bundle"] == str(tmp_path / "tls" / "ca.pem")
    assert judge is None
    assert parse_candidate("x=openai,client_cert=ward.crt")["client_cert"] == str(Path.cwd() / "ward.crt")
