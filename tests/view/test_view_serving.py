"""Who may see the explorer: the one who used its link, from this machine, by its own pages."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import pytest
from exam_study import WARDROUND, environment, wardround
from starlette.testclient import TestClient

from wardround.view.app import LOOPBACK, Entrance, view_app
from wardround.view.explorer import Explorer

PRIVATE = ("/", "/data/table.json", "/data/rows/0.json", "/data/question/0.json", "/data/runs.json", "/api/search?q=a")


@pytest.fixture
def entrance() -> Entrance:
    return Entrance()


@pytest.fixture
def client(explored: Path, entrance: Entrance) -> TestClient:
    return TestClient(view_app(Explorer([explored]), entrance, LOOPBACK), base_url="http://127.0.0.1:8000")


@pytest.mark.parametrize("address", PRIVATE)
def test_nothing_is_shown_without_the_link(client: TestClient, address: str) -> None:
    assert client.get(address).status_code == 403


def test_the_link_works_once(client: TestClient, explored: Path, entrance: Entrance) -> None:
    link = entrance.path
    first = client.get(link, follow_redirects=False)
    assert first.status_code == 303
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert all(client.get(address).status_code == 200 for address in PRIVATE)
    client.cookies.clear()
    assert client.get(link).status_code == 403
    assert client.get("/open/guess").status_code == 403


def test_another_host_name_is_refused(client: TestClient, entrance: Entrance) -> None:
    assert client.get(entrance.path, headers={"host": "evil.example"}).status_code == 400


def test_pages_load_nothing_from_elsewhere(client: TestClient, entrance: Entrance) -> None:
    policy = client.get(entrance.path).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "http" not in policy


@pytest.mark.parametrize("address", ["/api/notes", "/api/interval", "/api/runs/stop", "/api/runs/resume"])
def test_only_our_own_pages_may_change_anything(client: TestClient, entrance: Entrance, address: str) -> None:
    client.get(entrance.path)
    body = json.dumps({"run": "explored", "row": 0, "kind": "note", "text": "x"})
    assert client.post(address, content=body).status_code == 403
    token = client.get("/").text.partition('name="csrf" content="')[2].partition('"')[0]
    foreign = {"x-csrf-token": token, "origin": "http://evil.example"}
    assert client.post(address, content=body, headers=foreign).status_code == 403


@pytest.mark.parametrize("row", ["-1", "999999"])
def test_a_question_that_is_not_there_is_one_line(client: TestClient, entrance: Entrance, row: str) -> None:
    client.get(entrance.path)
    answer = client.get(f"/data/question/{row}.json")
    assert answer.status_code == 422
    assert "there is no question number" in answer.json()["detail"]


def test_the_first_line_printed_is_the_address(explored: Path) -> None:
    process = subprocess.Popen(
        [*WARDROUND, "view", str(explored), "--json"], stdout=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert process.stdout is not None
        link = json.loads(process.stdout.readline())["url"]
        visitor = build_opener(ProxyHandler({}), HTTPCookieProcessor())
        with visitor.open(link) as answer:
            assert b"wardround view" in answer.read()
    finally:
        process.terminate()
        process.wait()


def test_a_path_that_is_not_a_run_is_refused_in_one_line(tmp_path: Path) -> None:
    refused = wardround("view", "nowhere", cwd=tmp_path)
    assert refused.returncode == 1
    assert "there is no such folder" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
