"""Proxies of the environment, against real proxies and TLS servers on loopback."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit

import pytest
from connecting import HOST, KEY, answer, settings

from wardround.candidates.candidate import CandidateUnavailable, Fault
from wardround.candidates.http.connection import Connection
from wardround.candidates.http.proxies import Proxy, find_proxy
from wardround.core.errors import WardroundError

pytest.importorskip("cryptography")
from relay import Relay


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
