"""Who reaches what: every route, by everybody; and the ways in which people try to get round it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from desk_room import ADDRESS, PASSWORD, Room, Visitor, case, once, opinion, write_set
from starlette.routing import Mount

from wardround.desk import guard, people
from wardround.desk.routes import ROUTERS

PUBLIC = {
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/join/{token}"),
    ("POST", "/join/{token}"),
}
ROUTES = sorted({(method, route.path) for router in ROUTERS for route in router.routes for method in route.methods})
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def room(tmp_path_factory) -> Room:
    room = Room(tmp_path_factory.mktemp("desk"))
    scan = [{"path": "images/1.png", "modality": "CT"}]
    cases = [case(number, images=scan, history=f"{SCRIPT} {number}") for number in range(4)]
    write_set(room.root / "set", cases)
    return room


@pytest.fixture(scope="module")
def task(room):
    """Given to one student and one attending only."""
    room.student, room.other = room.enter("Stu", "student"), room.enter("Sue", "student")
    room.physician, room.stranger = room.enter("Phil", "attending"), room.enter("Pia", "radiologist")
    who = [f"person:{room.student.person.id}", f"person:{room.physician.person.id}"]
    return room.make("review", "set", who, share="0.25")


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


def test_a_session_is_new_at_log_in_and_dead_after_log_out(room, task):
    visitor = Visitor(room)
    cookie = room.desk.visits.cookie
    planted = visitor.cookies[cookie]
    answer = visitor.submit("/login", {"name": "sue", "password": PASSWORD, "to": "/"}, follow_redirects=False)
    assert answer.status_code == 303
    given = answer.headers["set-cookie"]
    assert "HttpOnly" in given
    assert "SameSite=lax" in given
    inside = visitor.cookies[cookie]
    assert inside != planted
    thief = Visitor(room)
    thief.cookies.set(cookie, planted, domain="127.0.0.1")
    assert thief.get("/", follow_redirects=False).status_code == 303
    assert visitor.get("/").status_code == 200
    visitor.submit("/logout")
    thief.cookies.set(cookie, inside, domain="127.0.0.1")
    assert thief.get("/", follow_redirects=False).headers["location"].startswith("/login")


def test_a_forged_cookie_is_nobody(room, task):
    visitor = Visitor(room)
    id = room.desk.people.open_session(room.admin.person)
    for forged in (id, f"{id}.AAAA", room.desk.visits.signed("visitor-x"), "x" * 5000, ""):
        visitor.cookies.set(room.desk.visits.cookie, forged, domain="127.0.0.1")
        assert visitor.get("/admin", follow_redirects=False).status_code == 303


def test_after_the_log_in_nobody_is_sent_elsewhere(room, task):
    for to in ("https://elsewhere.example", "//elsewhere.example", "/\\elsewhere.example", "javascript:alert(1)"):
        answer = Visitor(room).submit("/login", {"name": "Sue", "password": PASSWORD, "to": to}, follow_redirects=False)
        assert answer.headers["location"] == "/"


def test_guessing_passwords_is_stopped_and_told_to_nobody_else(room, task, monkeypatch):
    for _ in range(people.TRIES):
        answer = Visitor(room).submit("/login", {"name": "Pia", "password": "wrong password"})
        assert answer.status_code == 401
    assert Visitor(room).submit("/login", {"name": "pia", "password": PASSWORD}).status_code == 429
    unknown = Visitor(room).submit("/login", {"name": "Nobody", "password": "wrong password"})
    assert (unknown.status_code, "Name or password is wrong" in unknown.text) == (401, True)
    now = people.time.time()
    monkeypatch.setattr(people.time, "time", lambda: now + people.WITHIN + 1)
    assert Visitor(room).submit("/login", {"name": "Pia", "password": PASSWORD}).status_code == 200


def test_one_address_cannot_try_all_names(room, task, monkeypatch):
    now = people.time.time() + 10 * people.WITHIN
    monkeypatch.setattr(people.time, "time", lambda: now)
    monkeypatch.setattr(people, "TRIES_FROM_ONE_PLACE", 6)
    said = [Visitor(room).submit("/login", {"name": f"name {n}", "password": "wrong password"}) for n in range(8)]
    assert [answer.status_code for answer in said] == [401] * 6 + [429] * 2


def test_passwords_are_kept_as_argon2(room, monkeypatch):
    monkeypatch.setattr(people, "_hasher", people.PasswordHasher)
    token = room.desk.people.invite("student", room.admin.person)
    person = room.desk.people.join(token, "Slow", PASSWORD)
    kept = room.desk.store.value("SELECT password FROM people WHERE id = ?", person.id)
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,")
    assert room.desk.people.log_in("Slow", PASSWORD, "here") == person


def test_an_invitation_works_once(room):
    token = room.desk.people.invite("student", room.admin.person)
    form = {"name": "Ines", "password": PASSWORD, "again": PASSWORD}
    assert Visitor(room).submit(f"/join/{token}", form | {"again": "something else"}).status_code == 422
    assert Visitor(room).submit(f"/join/{token}", form | {"password": "short", "again": "short"}).status_code == 422
    assert Visitor(room).submit(f"/join/{token}", form).status_code == 200
    assert Visitor(room).get(f"/join/{token}").status_code == 404
    assert Visitor(room).submit(f"/join/{token}", form | {"name": "Ina"}).status_code == 404
    again = room.desk.people.invite("student", room.admin.person)
    taken = Visitor(room).submit(f"/join/{again}", form | {"name": "ines"})
    assert (taken.status_code, "is taken" in taken.text) == (422, True)


def test_who_was_removed_is_out_at_once(room, task):
    visitor = room.enter("Rob", "student")
    assert visitor.get("/").status_code == 200
    room.admin.submit(f"/admin/people/{visitor.person.id}/remove")
    assert visitor.get("/", follow_redirects=False).status_code == 303
    assert Visitor(room).submit("/login", {"name": "Rob", "password": PASSWORD}).status_code == 401


def link_in(page: str) -> str:
    return re.findall(r'value="http://127.0.0.1(/join/[^"]+)"', page)[0]


def test_a_link_can_be_withdrawn_until_it_is_used(room, task):
    link = link_in(room.admin.submit("/admin/invitations", {"role": "resident"}).text)
    page = room.admin.get("/admin/people").text
    (newest, *_) = re.findall(r'action="(/admin/invitations/\d+/withdraw)"', page)
    assert Visitor(room).get(link).status_code == 200
    assert room.student.submit(newest).status_code == 403
    room.admin.submit(newest)
    assert Visitor(room).get(link).status_code == 404
    assert newest not in room.admin.get("/admin/people").text
    assert "withdraw invitation" in room.admin.get("/admin/audit.jsonl").text


def test_links_of_who_was_removed_are_void(room, task):
    second = room.enter("Ben", "administrator")
    made = link_in(second.submit("/admin/invitations", {"role": "administrator"}).text)
    own = link_in(room.admin.submit(f"/admin/people/{second.person.id}/password").text)
    room.admin.submit(f"/admin/people/{second.person.id}/remove")
    assert [Visitor(room).get(link).status_code for link in (made, own)] == [404, 404]


def test_who_is_logged_out_in_the_middle_is_told_the_way_back(room, task):
    visitor = room.enter("Lou", "student")
    room.desk.people.close_session(room.desk.visits.read(visitor.cookies.get(room.desk.visits.cookie)), visitor.person)
    sent = visitor.submit(f"/tasks/{task.id}/items/1", {"verdict": "keep"})
    assert (sent.status_code, "You are logged out" in sent.text) == (401, True)
    assert f'href="/login?to=/tasks/{task.id}/items/1"' in sent.text


def test_a_closed_task_says_so_to_those_who_have_it(room, task):
    room.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "no"})
    told = room.student.get(f"/tasks/{task.id}")
    assert (told.status_code, "This task is closed; what you did is kept" in told.text) == (404, True)
    assert "closed" not in room.stranger.get(f"/tasks/{task.id}").text
    room.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "yes"})
    assert room.student.get(f"/tasks/{task.id}").status_code == 200


def test_a_new_password_ends_old_sessions(room, task):
    visitor = room.enter("Nia", "student")
    link = room.admin.submit(f"/admin/people/{visitor.person.id}/password").text
    token = re.search(r"/join/([\w-]+)", link)[1]
    assert (
        Visitor(room).submit(f"/join/{token}", {"password": "another one 9", "again": "another one 9"}).status_code
        == 200
    )
    assert visitor.get("/", follow_redirects=False).status_code == 303
    assert Visitor(room).submit("/login", {"name": "Nia", "password": PASSWORD}).status_code == 401


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
