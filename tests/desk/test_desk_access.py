"""Who reaches what: every route, by everybody; and the ways in which people try to get round it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from desk_room import ADDRESS, SCRIPT, Room, Visitor, once, opinion
from starlette.routing import Mount

from wardround.desk.auth import guard
from wardround.desk.routes import ROUTERS

PUBLIC = {
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/join/{token}"),
    ("POST", "/join/{token}"),
}
ROUTES = sorted({(method, route.path) for router in ROUTERS for route in router.routes for method in route.methods})


def address(path: str, **parts: Any) -> str:
    told = {
        "token": "x",
        "task": 1,
        "item": 1,
        "id": 1,
        "file": "verdicts.jsonl",
        "severity": "1",
        "center": 40,
        "width": 400,
        **parts,
    }
    return re.sub(r"{(\w+)(:\w+)?}", lambda found: str(told[found[1]]), path)


def ask(visitor: Visitor, method: str, path: str):
    if method == "POST" and path.startswith("/api"):
        return visitor.submit_json(path, {})
    if method == "POST":
        return visitor.submit(path, {}, follow_redirects=False)
    return visitor.request(method, path, follow_redirects=False)


def test_nothing_is_served_but_the_routes_that_are_walked_here(room):
    others = [route for route in room.app.routes if not hasattr(route, "original_router")]
    assert [(type(route), route.path) for route in others] == [(Mount, "/static")]
    assert len(ROUTES) > 25


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_log_in_there_is_nothing(room, task, method, path):
    answer = ask(Visitor(room), method, address(path, id=picture(room)))
    if (method, path) in PUBLIC:
        assert answer.status_code in (200, 303, 401, 404)
        assert "Ward" not in answer.text
    elif answer.status_code == 303:
        assert answer.headers["location"].startswith("/login")
        assert not answer.text
    else:
        assert answer.status_code == 401
        assert "Patient" not in answer.text


@pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if route[1].startswith("/admin")])
def test_administration_is_for_the_administrator(room, task, method, path):
    for visitor in (room.student, room.physician):
        assert ask(visitor, method, address(path, id=room.student.person.id)).status_code == 403
    safe = address(path, id=room.student.person.id)
    if method == "GET":
        assert ask(room.admin, "GET", safe + ("?kind=review" if safe.endswith("/new") else "")).status_code == 200


def test_a_task_is_for_those_who_have_it(room, task):
    for visitor in (room.other, room.stranger, room.admin):
        for method, path in ROUTES:
            if path.startswith(("/tasks", "/api")):
                assert ask(visitor, method, address(path, task=task.id)).status_code == 404, path
    for visitor in (room.other, room.stranger):
        assert visitor.get(f"/images/{picture(room)}").status_code == 404
    assert room.admin.get(f"/images/{picture(room)}").status_code == 200


def picture(room: Room, item: int = 1) -> str:
    return room.desk.store.value("SELECT id FROM images WHERE item = ?", item) or "none"


def sampled(room: Room) -> set[int]:
    rows = room.desk.store.rows("SELECT item FROM wanted WHERE level = 'physician'")
    return {row["item"] for row in rows}


def test_a_physician_reaches_the_sample_and_nothing_else(room, task):
    (drawn,) = sampled(room)
    for item in range(1, 5):
        wanted = 200 if item == drawn else 404
        assert room.physician.get(f"/tasks/{task.id}/items/{item}").status_code == wanted
        assert room.physician.get(f"/images/{picture(room, item)}").status_code == wanted
        assert room.student.get(f"/images/{picture(room, item)}").status_code == 200


def test_readers_do_not_see_each_others_verdicts(room, task):
    (drawn,) = sampled(room)
    page = room.student.get(f"/tasks/{task.id}/items/{drawn}")
    secret = "the student thinks it is a fake"
    form = opinion("discard", comment=secret) | {"once": once(page.text)}
    assert room.student.submit(f"/tasks/{task.id}/items/{drawn}", form).status_code == 200
    for path in ("/", f"/tasks/{task.id}", f"/tasks/{task.id}/items/{drawn}", f"/api/tasks/{task.id}"):
        assert secret not in room.physician.get(path).text
    assert secret in room.student.get(f"/tasks/{task.id}/items/{drawn}").text
    assert secret in room.admin.get(f"/admin/tasks/{task.id}/items/{drawn}").text


def test_a_script_in_a_case_is_text(room, task):
    page = room.student.get(f"/tasks/{task.id}/items/1")
    assert SCRIPT not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    form = opinion("discard", comment=SCRIPT) | {"once": once(page.text)}
    room.student.submit(f"/tasks/{task.id}/items/1", form)
    for visitor, path in ((room.admin, f"/admin/tasks/{task.id}/items/1"), (room.student, f"/tasks/{task.id}/items/1")):
        assert SCRIPT not in visitor.get(path).text
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy


def test_nothing_stands_inline(room, task):
    for visitor, path in ((room.student, f"/tasks/{task.id}/items/1"), (room.admin, f"/admin/tasks/{task.id}")):
        text = visitor.get(path).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=)", text)


@pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if route[0] == "POST"])
def test_forms_of_other_sites_are_refused(room, task, method, path):
    """No token, a wrong one, somebody else's, and a right one that comes from another origin."""
    visitor = room.student if path.startswith(("/tasks", "/api")) else room.admin
    there = address(path, task=task.id, id=room.other.person.id)
    before = room.desk.store.value("SELECT count(*) FROM audit")
    for token in (None, "", "0" * 64, room.physician.token, "é"):
        if path.startswith("/api"):
            headers = {} if token is None else {"x-csrf-token": token.encode()}
            answer = visitor.post(there, json={"form": {}, "said": {}, "once": "12345678"}, headers=headers)
            assert answer.status_code in (403, 422)
        else:
            form = {} if token is None else {"csrf": token}
            assert visitor.post(there, data=form, follow_redirects=False).status_code == 403
    elsewhere = {"origin": "https://elsewhere.example"}
    if not path.startswith("/api"):
        assert visitor.submit(there, {}, headers=elsewhere).status_code == 403
    assert room.desk.store.value("SELECT count(*) FROM audit") == before


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "/etc/passwd", "set/../../x", "..", ".", "", "desk.sqlite", "desk.secret", "out", "a\0b"],
)
def test_no_path_leads_out_of_the_root(room, task, path, tmp_path):
    out = room.root / "out"
    if not out.exists():
        (tmp_path / "cases.jsonl").write_text("{}\n")
        out.symlink_to(tmp_path)
    form = {"kind": "review", "project": "P", "name": "N", "source": path}
    answer = room.admin.submit("/admin/tasks/new", form)
    assert answer.status_code == 422
    assert "in the desk&#39;s folder" in answer.text
    form |= {"source": "set", "sources": path or "..", "suspicious": path or ".."}
    assert room.admin.submit("/admin/tasks/new", form).status_code == 422


@pytest.mark.parametrize(
    "id", ["..%2f..%2fdesk.secret", "../set/images/1.png", "images%2f1.png", "%00", "1' OR '1'='1"]
)
def test_images_are_found_by_ids_only(room, task, id):
    for visitor in (room.student, room.admin):
        assert visitor.get(f"/images/{id}").status_code in (404, 405)


@pytest.mark.parametrize("path", ["/static/../desk.py", "/static/%2e%2e/desk.py", "/static/..%2f..%2fdesk.py"])
def test_static_files_are_static_files(room, path):
    answer = Visitor(room).get(path, follow_redirects=False)
    assert answer.status_code in (303, 404)
    assert "import" not in answer.text


def test_what_is_too_large_is_refused_before_it_is_read(room, task, monkeypatch):
    monkeypatch.setattr(guard, "UPLOAD_LIMIT", 100_000)
    monkeypatch.setattr(guard, "POST_LIMIT", 10_000)

    def endless() -> Iterator[bytes]:
        yield from (b"x" * 1000 for _ in range(10_000))

    path = f"/tasks/{task.id}/items/2"
    assert room.student.submit(path, {"comment": "x" * 20_000}).status_code == 413
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert room.student.post(path, content=endless(), headers=kind).status_code == 413
    files = {"file": ("set.zip", b"x" * 200_000)}
    assert room.admin.submit("/admin/tasks/new", {"kind": "review"}, files=files).status_code == 413
    for declared in ("-1", "a lot", "1e9"):
        assert room.student.post(path, content=b"", headers={"content-length": declared}).status_code == 413


def packed(**entries: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        for name, text in entries.items():
            file.writestr(name, text)
    return held.getvalue()


@pytest.mark.parametrize("name", ["../out.jsonl", "/etc/out.jsonl", "a/../../out.jsonl", "..\\out.jsonl"])
def test_no_zip_leads_out_of_its_folder(room, task, name):
    before = sorted(room.root.parent.rglob("out.jsonl"))
    form = {"kind": "review", "project": "P", "name": "N"}
    answer = room.admin.submit("/admin/tasks/new", form, files={"file": ("set.zip", packed(**{name: "{}"}))})
    assert (answer.status_code, "no plain file inside it" in answer.text) == (422, True)
    assert sorted(room.root.parent.rglob("out.jsonl")) == before
    assert not list((room.root / "uploads").iterdir())


def test_links_in_a_zip_are_refused(room, task):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        link = zipfile.ZipInfo("cases.jsonl")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    form = {"kind": "review", "project": "P", "name": "N"}
    answer = room.admin.submit("/admin/tasks/new", form, files={"file": ("set.zip", held.getvalue())})
    assert (answer.status_code, "no plain file" in answer.text) == (422, True)


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all"])
def test_a_broken_zip_is_one_line(room, task, data):
    form = {"kind": "review", "project": "P", "name": "N"}
    assert room.admin.submit("/admin/tasks/new", form, files={"file": ("set.zip", data)}).status_code == 422
    assert room.admin.submit("/admin/import", {}, files={"file": ("everything.zip", data)}).status_code == 422


def test_a_desk_on_loopback_answers_to_loopback_names_only(room):
    from starlette.testclient import TestClient

    from wardround.desk.app import LOOPBACK, desk_app

    app = desk_app(room.desk, LOOPBACK)
    assert TestClient(app, base_url="http://rebound.example").get("/login").status_code == 400
    assert TestClient(app, base_url=ADDRESS).get("/login").status_code == 200


def test_nothing_is_kept_by_the_browser(room, task):
    for path in ("/", f"/tasks/{task.id}/items/1", f"/images/{picture(room)}"):
        assert room.student.get(path).headers["cache-control"] == "no-store"
