"""Log-in by OpenID Connect against a strict provider: who is known comes in, and every wrong token is refused."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("authlib", reason="the extra oidc is not installed")

from desk_site import ADDRESS, DeskSite, Visitor
from joserfc.jwk import RSAKey
from openid_provider import CLIENT, SECRET, Provider, serve_provider

from wardround.core.errors import WardroundError
from wardround.desk.auth.openid import OpenIdClient, load_openid_settings


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with serve_provider() as provider:
        yield provider


@pytest.fixture
def site(tmp_path, provider, monkeypatch) -> DeskSite:
    provider.tell_the_truth()
    monkeypatch.setenv("DESK_SECRET", SECRET)
    file = tmp_path / "openid.toml"
    file.write_text(f'issuer = "{provider.issuer}"\nclient_id = "{CLIENT}"\nclient_secret_env = "DESK_SECRET"\n')
    site = DeskSite(tmp_path / "desk", openid=OpenIdClient(load_openid_settings(file)))
    site.ann = site.add_person("Ann", "attending")
    site.desk.accounts.set_login(site.ann.person.id, "Ann@hospital.example", site.admin.person)
    return site


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def at_provider(address: str) -> str:
    """What the provider sends the browser back to."""
    with pytest.raises(urllib.error.HTTPError) as answer:
        urllib.request.build_opener(_Stay).open(address, timeout=60)
    assert answer.value.code == 302, answer.value.read()
    return answer.value.headers["location"]


def come_back(visitor: Visitor, to: str = "/") -> str:
    """Begins a log-in and passes the provider; returns the address that it sends the browser to."""
    begun = visitor.get(f"/login/openid?to={to}", follow_redirects=False)
    assert begun.status_code == 303, begun.text
    return at_provider(begun.headers["location"]).removeprefix(ADDRESS)


def log_in(visitor: Visitor, to: str = "/"):
    return visitor.get(come_back(visitor, to), follow_redirects=False)


def test_a_known_person_comes_in_where_they_wanted_to_go(site):
    visitor = Visitor(site)
    assert "Log in by hospital" in visitor.get("/login").text
    before = visitor.cookies.get(site.desk.visits.cookie)
    entered = log_in(visitor, "/tasks/1")
    assert (entered.status_code, entered.headers["location"]) == (303, "/tasks/1")
    assert visitor.cookies.get(site.desk.visits.cookie) != before  # a new session, not the visitor's
    assert "Ann" in visitor.get("/").text


def test_an_invited_person_needs_no_password(site, provider):
    data = b"name,role,specialty,email\nBea,student,Surgery,bea@hospital.example\n"
    site.admin.submit("/admin/invitations/list", files={"file": ("people.csv", data)})
    provider.claims["email"] = "bea@hospital.example"
    visitor = Visitor(site)
    assert log_in(visitor).status_code == 303
    assert "Bea" in visitor.get("/").text
    assert not site.desk.accounts.open_invitations()
    assert log_in(Visitor(site)).status_code == 303
    with pytest.raises(WardroundError, match="name or password is wrong"):
        site.desk.accounts.log_in("Bea", "", "127.0.0.1")


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"nonce": "another", "nonce_supported": False}, "nonce"),
        ({"iss": "https://evil.example"}, "iss"),
        ({"aud": "another client"}, "aud"),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "azp"),
        ({"exp": int(time.time()) - 3600}, "expired"),
        ({"iat": None}, "iat"),
        ({"email": None}, "no claim"),
        ({"email": "stranger@hospital.example"}, "does not know you"),
        ({"email_verified": False}, "not verified"),
    ],
)
def test_a_wrong_id_token_is_refused(site, provider, lie, message):
    provider.lies = lie
    refused = log_in(Visitor(site))
    assert refused.status_code == 401
    assert message in refused.text


def test_a_token_that_the_provider_did_not_sign_is_refused(site, provider):
    provider.key = RSAKey.generate_key(2048, {"kid": "one"})
    assert "id token is not valid" in log_in(Visitor(site)).text
    provider.tell_the_truth()
    provider.unsigned = True
    assert "id token is not valid" in log_in(Visitor(site)).text


def test_answers_that_were_begun_elsewhere_or_used_are_refused(site):
    visitor, victim = Visitor(site), Visitor(site)
    address = come_back(visitor)
    assert "begun elsewhere" in victim.get(address).text  # a log-in forced upon another browser
    assert "begun elsewhere" in visitor.get(address).text  # it is void now
    address = come_back(visitor)
    assert visitor.get(address.replace("iss=http", "iss=https"), follow_redirects=False).status_code == 401
    address = come_back(visitor)
    assert visitor.get(address, follow_redirects=False).status_code == 303
    assert Visitor(site).get(address).status_code == 401
    for path in ("/login/openid/return", "/login/openid/return?state=x&code=y"):
        assert visitor.get(path).status_code == 401


def test_every_log_in_has_its_own_state_nonce_and_challenge(site):
    visitor = Visitor(site)
    queries = [
        parse_qs(urlsplit(visitor.get("/login/openid", follow_redirects=False).headers["location"]).query)
        for _ in range(2)
    ]
    for name in ("state", "nonce", "code_challenge"):
        assert queries[0][name] != queries[1][name]
        assert len(queries[0][name][0]) >= 43
    assert queries[0]["redirect_uri"] == [f"{ADDRESS}/login/openid/return"]


def test_a_discovery_of_another_issuer_and_addresses_without_tls_are_refused(site, provider):
    provider.discovery_lies = {"issuer": "https://evil.example"}
    assert "names the issuer" in Visitor(site).get("/login/openid").text
    provider.discovery_lies = {"token_endpoint": "http://evil.example/token"}
    assert "is not an https address" in Visitor(site).get("/login/openid").text.replace("&#39;", "'")


def test_a_removed_person_stays_out_and_one_login_is_one_person(site):
    other = site.add_person("Bob", "student")
    with pytest.raises(WardroundError, match="another person"):
        site.desk.accounts.set_login(other.person.id, "ann@HOSPITAL.example", site.admin.person)
    site.desk.accounts.remove(site.ann.person.id, site.admin.person)
    assert "does not know you" in log_in(Visitor(site)).text


def test_without_a_provider_there_is_no_such_page(tmp_path):
    site = DeskSite(tmp_path)
    visitor = Visitor(site)
    assert "/login/openid" not in visitor.get("/login").text
    assert visitor.get("/login/openid").status_code == 404


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "issuer"),
        ('issuer = "https://x.example"', "client_id"),
        ('issuer = "http://x.example"\nclient_id = "a"', "is not an https address"),
        ('issuer = "https://x.example"\nclient_id = 7', "expected text"),
        ('issuer = "https://x.example"\nclient_id = "a"\nsecret = "b"', "unknown key"),
        ('issuer = "https://x.example"\nclient_id = "a"\nclient_secret_env = "NO_SUCH"', "NO_SUCH"),
        ("issuer", "cannot be read"),
    ],
)
def test_a_settings_file_with_an_error_is_refused(tmp_path, text, message):
    file = tmp_path / "openid.toml"
    file.write_text(text)
    with pytest.raises(WardroundError, match=message):
        load_openid_settings(file)
