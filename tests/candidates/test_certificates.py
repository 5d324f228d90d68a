"""Authorities to trust and certificates to show, against TLS servers on loopback."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress

import pytest
from connecting import HOST, answer, settings
from exam_study import wardround, write_cases, write_study

from wardround.candidates.candidate import CandidateUnavailable
from wardround.candidates.http.connection import Connection
from wardround.candidates.registry import make_candidate
from wardround.core.errors import WardroundError
from wardround.core.study import load_study

pytest.importorskip("cryptography")
from relay import Authority, Relay


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
