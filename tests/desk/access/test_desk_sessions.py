"""Who is let in and for how long: log-in, passwords, sessions, invitations."""

from __future__ import annotations

import re

from desk_site import PASSWORD, Visitor

from wardround.desk.auth import accounts, log_in_limits


def test_a_session_is_new_at_log_in_and_dead_after_log_out(site, task):
    visitor = Visitor(site)
    cookie = site.desk.visits.cookie
    planted = visitor.cookies[cookie]
    answer = visitor.submit("/login", {"name": "sue", "password": PASSWORD, "to": "/"}, follow_redirects=False)
    assert answer.status_code == 303
    given = answer.headers["set-cookie"]
    assert "HttpOnly" in given
    assert "SameSite=lax" in given
    inside = visitor.cookies[cookie]
    assert inside != planted
    thief = Visitor(site)
    thief.cookies.set(cookie, planted, domain="127.0.0.1")
    assert thief.get("/", follow_redirects=False).status_code == 303
    assert visitor.get("/").status_code == 200
    visitor.submit("/logout")
    thief.cookies.set(cookie, inside, domain="127.0.0.1")
    assert thief.get("/", follow_redirects=False).headers["location"].startswith("/login")


def test_a_forged_cookie_is_nobody(site, task):
    visitor = Visitor(site)
    id = site.desk.accounts.open_session(site.admin.person)
    for forged in (id, f"{id}.AAAA", site.desk.visits.sign("visitor-x"), "x" * 5000, ""):
        visitor.cookies.set(site.desk.visits.cookie, forged, domain="127.0.0.1")
        assert visitor.get("/admin", follow_redirects=False).status_code == 303


def test_after_the_log_in_nobody_is_sent_elsewhere(site, task):
    for to in ("https://elsewhere.example", "//elsewhere.example", "/\\elsewhere.example", "javascript:alert(1)"):
        answer = Visitor(site).submit("/login", {"name": "Sue", "password": PASSWORD, "to": to}, follow_redirects=False)
        assert answer.headers["location"] == "/"


def test_guessing_passwords_is_stopped_and_told_to_nobody_else(site, task, monkeypatch):
    for _ in range(log_in_limits.MAX_FAILED_BY_NAME_AND_ADDRESS):
        answer = Visitor(site).submit("/login", {"name": "Pia", "password": "wrong password"})
        assert answer.status_code == 401
    assert Visitor(site).submit("/login", {"name": "pia", "password": PASSWORD}).status_code == 429
    unknown = Visitor(site).submit("/login", {"name": "Nobody", "password": "wrong password"})
    assert (unknown.status_code, "Name or password is wrong" in unknown.text) == (401, True)
    now = log_in_limits.time.time()
    monkeypatch.setattr(log_in_limits.time, "time", lambda: now + log_in_limits.ATTEMPT_SECONDS + 1)
    assert Visitor(site).submit("/login", {"name": "Pia", "password": PASSWORD}).status_code == 200


def test_one_address_cannot_try_all_names(site, task, monkeypatch):
    now = log_in_limits.time.time() + 10 * log_in_limits.ATTEMPT_SECONDS
    monkeypatch.setattr(log_in_limits.time, "time", lambda: now)
    monkeypatch.setattr(log_in_limits, "MAX_FAILED_BY_ADDRESS", 6)
    answers = [Visitor(site).submit("/login", {"name": f"name {n}", "password": "wrong password"}) for n in range(8)]
    assert [answer.status_code for answer in answers] == [401] * 6 + [429] * 2


def test_passwords_are_kept_as_argon2(site, monkeypatch):
    monkeypatch.setattr(accounts, "_hasher", accounts.PasswordHasher)
    token = site.desk.accounts.invite("student", site.admin.person)
    person = site.desk.accounts.join(token, "Slow", PASSWORD)
    kept = site.desk.store.value("SELECT password FROM people WHERE id = ?", person.id)
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,")
    assert site.desk.accounts.log_in("Slow", PASSWORD, "here") == person


def test_an_invitation_works_once(site):
    token = site.desk.accounts.invite("student", site.admin.person)
    form = {"name": "Ines", "password": PASSWORD, "again": PASSWORD}
    assert Visitor(site).submit(f"/join/{token}", form | {"again": "something else"}).status_code == 422
    assert Visitor(site).submit(f"/join/{token}", form | {"password": "short", "again": "short"}).status_code == 422
    assert Visitor(site).submit(f"/join/{token}", form).status_code == 200
    assert Visitor(site).get(f"/join/{token}").status_code == 404
    assert Visitor(site).submit(f"/join/{token}", form | {"name": "Ina"}).status_code == 404
    again = site.desk.accounts.invite("student", site.admin.person)
    duplicate = Visitor(site).submit(f"/join/{again}", form | {"name": "ines"})
    assert (duplicate.status_code, "is taken" in duplicate.text) == (422, True)


def test_who_was_removed_is_out_at_once(site, task):
    visitor = site.add_person("Rob", "student")
    assert visitor.get("/").status_code == 200
    site.admin.submit(f"/admin/people/{visitor.person.id}/remove")
    assert visitor.get("/", follow_redirects=False).status_code == 303
    assert Visitor(site).submit("/login", {"name": "Rob", "password": PASSWORD}).status_code == 401


def link_in(page: str) -> str:
    return re.findall(r'value="http://127.0.0.1(/join/[^"]+)"', page)[0]


def test_a_link_can_be_withdrawn_until_it_is_used(site, task):
    link = link_in(site.admin.submit("/admin/invitations", {"role": "resident"}).text)
    page = site.admin.get("/admin/people").text
    (newest, *_) = re.findall(r'action="(/admin/invitations/\d+/withdraw)"', page)
    assert Visitor(site).get(link).status_code == 200
    assert site.student.submit(newest).status_code == 403
    site.admin.submit(newest)
    assert Visitor(site).get(link).status_code == 404
    assert newest not in site.admin.get("/admin/people").text
    assert "withdraw invitation" in site.admin.get("/admin/audit.jsonl").text


def test_links_of_who_was_removed_are_void(site, task):
    second = site.add_person("Ben", "administrator")
    made = link_in(second.submit("/admin/invitations", {"role": "administrator"}).text)
    own = link_in(site.admin.submit(f"/admin/people/{second.person.id}/password").text)
    site.admin.submit(f"/admin/people/{second.person.id}/remove")
    assert [Visitor(site).get(link).status_code for link in (made, own)] == [404, 404]


def test_who_is_logged_out_in_the_middle_is_told_the_way_back(site, task):
    visitor = site.add_person("Lou", "student")
    site.desk.accounts.close_session(
        site.desk.visits.verify(visitor.cookies.get(site.desk.visits.cookie)), visitor.person
    )
    sent = visitor.submit(f"/tasks/{task.id}/items/1", {"verdict": "keep"})
    assert (sent.status_code, "You are logged out" in sent.text) == (401, True)
    assert f'href="/login?to=/tasks/{task.id}/items/1"' in sent.text


def test_a_closed_task_says_so_to_those_who_have_it(site, task):
    site.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "no"})
    closed = site.student.get(f"/tasks/{task.id}")
    assert (closed.status_code, "This task is closed; what you did is kept" in closed.text) == (404, True)
    assert "closed" not in site.stranger.get(f"/tasks/{task.id}").text
    site.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "yes"})
    assert site.student.get(f"/tasks/{task.id}").status_code == 200


def test_a_new_password_ends_old_sessions(site, task):
    visitor = site.add_person("Nia", "student")
    link = site.admin.submit(f"/admin/people/{visitor.person.id}/password").text
    token = re.search(r"/join/([\w-]+)", link)[1]
    assert (
        Visitor(site).submit(f"/join/{token}", {"password": "another one 9", "again": "another one 9"}).status_code
        == 200
    )
    assert visitor.get("/", follow_redirects=False).status_code == 303
    assert Visitor(site).submit("/login", {"name": "Nia", "password": PASSWORD}).status_code == 401
