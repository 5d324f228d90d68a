"""Who reaches what: every route, by everybody; and the ways in which people try to get round it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from desk_site import ADDRESS, SCRIPT, DeskSite, Visitor, case, once, opinion, write_set
from starlette.routing import Mount

from wardround.desk import task_store
from wardround.desk.auth import guard
from wardround.desk.routes import ROUTERS
from wardround.desk.routes.api import LEAVE_GRACE

PUBLIC = {
    ("GET", "/login"),
    ("GET", "/login/openid"),
    ("GET", "/login/openid/return"),
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/join/{token}"),
    ("POST", "/join/{token}"),
}
ROUTES = sorted({(method, route.path) for router in ROUTERS for route in router.routes for method in route.methods})


def address(path: str, **parts: Any) -> str:
    values = {
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
    return re.sub(r"{(\w+)(:\w+)?}", lambda match: str(values[match[1]]), path)


def ask(visitor: Visitor, method: str, path: str):
    if method == "POST" and path.startswith("/api"):
        return visitor.submit_json(path, {})
    if method == "POST":
        return visitor.submit(path, {}, follow_redirects=False)
    return visitor.request(method, path, follow_redirects=False)


def test_nothing_is_served_but_the_routes_that_are_walked_here(site):
    others = [route for route in site.app.routes if not hasattr(route, "original_router")]
    assert [(type(route), route.path) for route in others] == [(Mount, "/static")]
    assert len(ROUTES) > 25


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_log_in_there_is_nothing(site, task, method, path):
    answer = ask(Visitor(site), method, address(path, id=picture(site)))
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
def test_administration_is_for_the_administrator(site, task, method, path):
    for visitor in (site.student, site.physician):
        assert ask(visitor, method, address(path, id=site.student.person.id)).status_code == 403
    safe = address(path, id=site.student.person.id)
    if method == "GET":
        assert ask(site.admin, "GET", safe + ("?kind=review" if safe.endswith("/new") else "")).status_code == 200


def test_a_task_is_for_those_who_have_it(site, task):
    for visitor in (site.other, site.stranger, site.admin):
        for method, path in ROUTES:
            if path.startswith(("/tasks", "/api")):
                assert ask(visitor, method, address(path, task=task.id)).status_code == 404, path
    for visitor in (site.other, site.stranger):
        assert visitor.get(f"/images/{picture(site)}").status_code == 404
    assert site.admin.get(f"/images/{picture(site)}").status_code == 200


def picture(site: DeskSite, item: int = 1) -> str:
    return site.desk.store.value("SELECT id FROM images WHERE item = ?", item) or "none"


def sampled(site: DeskSite) -> set[int]:
    rows = site.desk.store.rows("SELECT item FROM wanted WHERE level = 'physician'")
    return {row["item"] for row in rows}


def test_a_physician_reaches_the_sample_and_nothing_else(site, task):
    (drawn,) = sampled(site)
    for item in range(1, 5):
        wanted = 200 if item == drawn else 404
        assert site.physician.get(f"/tasks/{task.id}/items/{item}").status_code == wanted
        assert site.physician.get(f"/images/{picture(site, item)}").status_code == wanted
        assert site.student.get(f"/images/{picture(site, item)}").status_code == 200


def test_readers_do_not_see_each_others_verdicts(site, task):
    (drawn,) = sampled(site)
    page = site.student.get(f"/tasks/{task.id}/items/{drawn}")
    secret = "the student thinks it is a fake"
    form = opinion("discard", comment=secret) | {"once": once(page.text)}
    assert site.student.submit(f"/tasks/{task.id}/items/{drawn}", form).status_code == 200
    for path in ("/", f"/tasks/{task.id}", f"/tasks/{task.id}/items/{drawn}", f"/api/tasks/{task.id}"):
        assert secret not in site.physician.get(path).text
    assert secret in site.student.get(f"/tasks/{task.id}/items/{drawn}").text
    assert secret in site.admin.get(f"/admin/tasks/{task.id}/items/{drawn}").text


def test_a_script_in_a_case_is_text(site, task):
    page = site.student.get(f"/tasks/{task.id}/items/1")
    assert SCRIPT not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    form = opinion("discard", comment=SCRIPT) | {"once": once(page.text)}
    site.student.submit(f"/tasks/{task.id}/items/1", form)
    for visitor, path in ((site.admin, f"/admin/tasks/{task.id}/items/1"), (site.student, f"/tasks/{task.id}/items/1")):
        assert SCRIPT not in visitor.get(path).text
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy


def test_nothing_stands_inline(site, task):
    for visitor, path in ((site.student, f"/tasks/{task.id}/items/1"), (site.admin, f"/admin/tasks/{task.id}")):
        text = visitor.get(path).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=)", text)


@pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if route[0] == "POST"])
def test_forms_of_other_sites_are_refused(site, task, method, path):
    """No token, a wrong one, somebody else's, and a right one that comes from another origin."""
    visitor = site.student if path.startswith(("/tasks", "/api")) else site.admin
    there = address(path, task=task.id, id=site.other.person.id)
    before = site.desk.store.value("SELECT count(*) FROM audit")
    for token in (None, "", "0" * 64, site.physician.token, "é"):
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
    assert site.desk.store.value("SELECT count(*) FROM audit") == before


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "/etc/passwd", "set/../../x", "..", ".", "", "desk.sqlite", "desk.secret", "out", "a\0b"],
)
def test_no_path_leads_out_of_the_root(site, task, path):
    out, outside = site.root / "out", site.root.parent / "outside"
    if not out.exists():
        outside.mkdir()
        (outside / "cases.jsonl").write_text("{}\n")
        out.symlink_to(outside)
    form = {"kind": "review", "project": "P", "name": "N", "source": path}
    answer = site.admin.submit("/admin/tasks/new", form)
    assert answer.status_code == 422
    assert "in the desk&#39;s folder" in answer.text
    form |= {"source": "set", "sources": path or "..", "suspicious": path or ".."}
    assert site.admin.submit("/admin/tasks/new", form).status_code == 422


@pytest.mark.parametrize(
    "id", ["..%2f..%2fdesk.secret", "../set/images/1.png", "images%2f1.png", "%00", "1' OR '1'='1"]
)
def test_images_are_found_by_ids_only(site, task, id):
    for visitor in (site.student, site.admin):
        assert visitor.get(f"/images/{id}").status_code in (404, 405)


@pytest.mark.parametrize("path", ["/static/../desk.py", "/static/%2e%2e/desk.py", "/static/..%2f..%2fdesk.py"])
def test_static_files_are_static_files(site, path):
    answer = Visitor(site).get(path, follow_redirects=False)
    assert answer.status_code in (303, 404)
    assert "import" not in answer.text


def test_what_is_too_large_is_refused_before_it_is_read(site, task, monkeypatch):
    monkeypatch.setattr(guard, "UPLOAD_LIMIT", 100_000)
    monkeypatch.setattr(guard, "POST_LIMIT", 10_000)

    def endless() -> Iterator[bytes]:
        yield from (b"x" * 1000 for _ in range(10_000))

    path = f"/tasks/{task.id}/items/2"
    assert site.student.submit(path, {"comment": "x" * 20_000}).status_code == 413
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert site.student.post(path, content=endless(), headers=kind).status_code == 413
    files = {"file": ("set.zip", b"x" * 200_000)}
    assert site.admin.submit("/admin/tasks/new", {"kind": "review"}, files=files).status_code == 413
    for declared in ("-1", "a lot", "1e9"):
        assert site.student.post(path, content=b"", headers={"content-length": declared}).status_code == 413


def zip_of(**entries: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, text in entries.items():
            file.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["../out.jsonl", "/etc/out.jsonl", "a/../../out.jsonl", "..\\out.jsonl"])
def test_no_zip_leads_out_of_its_folder(site, task, name):
    before = sorted(site.root.parent.rglob("out.jsonl"))
    form = {"kind": "review", "project": "P", "name": "N"}
    answer = site.admin.submit("/admin/tasks/new", form, files={"file": ("set.zip", zip_of(**{name: "{}"}))})
    assert (answer.status_code, "not a regular file inside it" in answer.text) == (422, True)
    assert sorted(site.root.parent.rglob("out.jsonl")) == before
    assert not list((site.root / "uploads").iterdir())


def test_links_in_a_zip_are_refused(site, task):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        link = zipfile.ZipInfo("cases.jsonl")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    form = {"kind": "review", "project": "P", "name": "N"}
    answer = site.admin.submit("/admin/tasks/new", form, files={"file": ("set.zip", buffer.getvalue())})
    assert (answer.status_code, "not a regular file" in answer.text) == (422, True)


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all"])
def test_a_broken_zip_is_one_line(site, task, data):
    form = {"kind": "review", "project": "P", "name": "N"}
    assert site.admin.submit("/admin/tasks/new", form, files={"file": ("set.zip", data)}).status_code == 422
    assert site.admin.submit("/admin/import", {}, files={"file": ("everything.zip", data)}).status_code == 422


def test_a_desk_on_loopback_answers_to_loopback_names_only(site):
    from starlette.testclient import TestClient

    from wardround.desk.app import LOOPBACK, desk_app

    app = desk_app(site.desk, LOOPBACK)
    assert TestClient(app, base_url="http://rebound.example").get("/login").status_code == 400
    assert TestClient(app, base_url=ADDRESS).get("/login").status_code == 200


def test_nothing_is_kept_by_the_browser(site, task):
    for path in ("/", f"/tasks/{task.id}/items/1", f"/images/{picture(site)}"):
        assert site.student.get(path).headers["cache-control"] == "no-store"


def test_an_item_is_free_again_when_its_reader_logs_out(tmp_path):
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [case(0)])
    first, second = site.add_person("Stu", "student"), site.add_person("Sue", "student")
    task = site.make_task("review", "set", ["role:student"], share="0")
    assert "/items/" in str(first.get(f"/tasks/{task.id}/next").url)
    assert "/items/" not in str(second.get(f"/tasks/{task.id}/next").url)
    first.submit("/logout")
    assert "/items/" in str(second.get(f"/tasks/{task.id}/next").url)


def test_an_item_is_free_a_minute_after_its_page_was_closed(tmp_path, monkeypatch):
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [case(0)])
    first, second = site.add_person("Stu", "student"), site.add_person("Sue", "student")
    task = site.make_task("review", "set", ["role:student"], share="0")
    item = str(first.get(f"/tasks/{task.id}/next").url)
    assert first.submit_json(item.replace("/tasks/", "/api/tasks/") + "/leave", {}).status_code == 204
    assert "/items/" not in str(second.get(f"/tasks/{task.id}/next").url)
    now = task_store.time.time()
    monkeypatch.setattr(task_store.time, "time", lambda: now + LEAVE_GRACE + 1)
    assert "/items/" in str(second.get(f"/tasks/{task.id}/next").url)


def test_an_upload_without_a_task_is_removed(site):
    form = {"kind": "review", "project": "Ward", "name": "Broken"}
    file = {"file": ("broken.jsonl", b'{"id": 7}\n')}
    answer = site.admin.submit("/admin/tasks/new", form, files=file)
    assert answer.status_code == 422
    assert not list((site.root / "uploads").glob("*/*"))
    assert not list((site.root / "uploads").iterdir())


def test_an_upload_that_breaks_the_desk_is_removed_too(tmp_path, monkeypatch):
    from wardround.desk.tasks.judge import JudgeValidation

    site = DeskSite(tmp_path)

    def fail(*args):
        raise KeyError("a fault of ours")

    monkeypatch.setattr(JudgeValidation, "make_items", fail)
    form = {"kind": "judge", "project": "P", "name": "N"}
    sent = site.admin.submit("/admin/tasks/new", form, files={"file": ("pairs.csv", b"gold,diagnosis\na,b\n")})
    assert sent.status_code == 500
    assert not list((site.root / "uploads").iterdir())
