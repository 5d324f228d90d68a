"""The desk behind a TLS proxy: `--public-url`, tried with the nginx and Caddy of this machine as docs/desk.md says."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from desk_process import DeskProcess
from desk_site import PASSWORD, DeskSite
from exam_study import wardround
from starlette.testclient import TestClient

from wardround.core.errors import WardroundError
from wardround.desk.app import LOOPBACK
from wardround.desk.auth.public_address import PublicAddress, parse_public_address

DOCS = Path(__file__).parents[3] / "docs" / "desk.md"
ORIGIN = "https://desk.hospital.example"


@pytest.mark.parametrize(
    ("url", "origin", "host"),
    [
        ("https://desk.hospital.example", "https://desk.hospital.example", "desk.hospital.example"),
        ("https://Desk.Hospital.example:443/", "https://desk.hospital.example", "desk.hospital.example"),
        ("https://localhost:8443", "https://localhost:8443", "localhost"),
        ("http://[::1]:80", "http://[::1]", "[::1]"),
    ],
)
def test_a_public_address_is_normalised_as_browsers_send_it(url, origin, host):
    assert parse_public_address(url) == PublicAddress(origin, host)


@pytest.mark.parametrize("url", ["desk.example", "ftp://desk.example", "https://", "https://a:b@c", "https://a:99999"])
def test_another_public_address_is_refused(url):
    with pytest.raises(WardroundError, match="expected an address such as"):
        parse_public_address(url)


def test_a_public_address_with_a_path_is_refused_by_the_command(tmp_path):
    result = wardround("desk", "--root", tmp_path, "--public-url", "https://hospital.example/desk", cwd=tmp_path)
    assert result.returncode == 1
    assert "needs a host of its own" in result.stderr


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    return DeskSite(tmp_path_factory.mktemp("public"), hosts=LOOPBACK, public=parse_public_address(ORIGIN))


def log_in(site: DeskSite, base_url: str, origin: str):
    visitor = TestClient(site.app, base_url=base_url)
    page = visitor.get("/login")
    if page.status_code != 200:
        return page
    token = re.findall(r'name="csrf" value="([^"]+)"', page.text)[0]
    form = {"csrf": token, "name": "Ada", "password": PASSWORD, "to": "/"}
    cookie = page.headers["set-cookie"].split(";")[0]  # sent by the proxy, which speaks TLS with the browser
    return visitor.post("/login", data=form, headers={"origin": origin, "cookie": cookie}, follow_redirects=False)


def test_forms_from_the_public_address_are_taken_and_cookies_are_secure(public):
    answer = log_in(public, "http://desk.hospital.example", ORIGIN)
    assert answer.status_code == 303
    assert "Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    ("base_url", "origin", "status"),
    [
        ("http://desk.hospital.example", "https://elsewhere.example", 403),
        ("http://desk.hospital.example", "https://desk.hospital.example:8443", 403),
        ("http://elsewhere.example", ORIGIN, 400),
    ],
)
def test_other_addresses_are_refused(public, base_url, origin, status):
    assert log_in(public, base_url, origin).status_code == status


def test_invitations_name_the_public_address(public):
    page = public.admin.submit("/admin/invitations", {"role": "student"})
    assert f"{ORIGIN}/join/" in page.text


# real proxies


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> tuple[Path, Path]:
    """A certificate of localhost that nobody signed."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "desk.key", folder / "desk.crt"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    command = ["openssl", "req", "-x509", *new_key, "-keyout", key, "-out", certificate, *subject]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def documented(language: str) -> str:
    """The example of docs/desk.md."""
    return re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)[0]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def nginx(folder: Path, port: int, upstream: str, certificate: tuple[Path, Path]) -> list[str]:
    server = documented("nginx")
    for old, new in {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "desk.hospital.example": "localhost",
        "/etc/ssl/desk.crt": str(certificate[0]),
        "/etc/ssl/desk.key": str(certificate[1]),
        "http://127.0.0.1:8600": upstream,
    }.items():
        assert old in server
        server = server.replace(old, new)
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = f"daemon off; pid {folder}/pid; events {{}} http {{ access_log off; {temporary}\n{server} }}"
    (folder / "nginx.conf").write_text(text)
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors.log")]


def caddy(folder: Path, port: int, upstream: str, certificate: tuple[Path, Path]) -> list[str]:
    site = documented("caddyfile").replace("desk.hospital.example {", f"https://localhost:{port} {{\n  bind 127.0.0.1")
    site = site.replace("127.0.0.1:8600", upstream.removeprefix("http://"))
    site = site.replace("reverse_proxy", f"tls {certificate[0]} {certificate[1]}\n  reverse_proxy")
    (folder / "Caddyfile").write_text(f"{{\n  admin off\n  auto_https disable_redirects\n}}\n{site}")
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_people_log_in_through_a_real_proxy(tmp_path, certificate, proxy):
    import httpx2

    if shutil.which(proxy.__name__) is None or shutil.which("openssl") is None:
        pytest.skip(f"{proxy.__name__} or openssl is not installed")
    port = free_port()
    url = f"https://localhost:{port}"
    with DeskProcess(tmp_path / "desk", "--public-url", url) as desk:
        assert (desk.url, desk.link.startswith(f"{url}/join/")) == (url, True)
        command = proxy(tmp_path, port, desk.listening, certificate)
        environment = {"HOME": str(tmp_path), "PATH": "/usr/sbin:/usr/bin:/bin"}
        process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment)
        try:
            wait_until_listening(port, process)
            trust = ssl.create_default_context(cafile=str(certificate[0]))
            with httpx2.Client(verify=trust, trust_env=False, timeout=120) as visitor:
                page = visitor.get(desk.link)
                token = re.findall(r'name="csrf" value="([^"]+)"', page.text)[0]
                form = {"csrf": token, "name": "Ada", "password": PASSWORD, "again": PASSWORD}
                planted = {"origin": url, "x-forwarded-for": "10.9.9.9"}
                joined = visitor.post(desk.link, data=form, headers=planted)
                assert joined.status_code == 303
                assert "Secure" in joined.headers["set-cookie"]
                assert visitor.get(f"{url}/admin").status_code == 200
        finally:
            process.terminate()
            process.communicate()


def wait_until_listening(port: int, process: subprocess.Popen) -> None:
    while True:
        assert process.poll() is None, process.stderr.read().decode()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=120).close()
            return
        except ConnectionRefusedError:
            continue
