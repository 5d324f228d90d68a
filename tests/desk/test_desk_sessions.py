"""Who is let in and for how long: log-in, passwords, sessions, invitations."""

from __future__ import annotations

import re

from desk_room import PASSWORD, Visitor

from wardround.desk.auth import people


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
