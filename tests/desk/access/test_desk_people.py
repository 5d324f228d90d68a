"""People: invited by a list, changed in role and specialty, followed and reminded."""

from __future__ import annotations

import csv
import io
import re
import sqlite3

import pytest
from desk_site import PASSWORD, DeskSite, Visitor, case, opinion, read_all, write_set

from wardround.desk.store import DeskStore

LIST = "name,role,specialty,email\nAnn Lee,attending,Surgery,ann@x.example\nŁukasz Żak,student,,\n"


@pytest.fixture
def site(tmp_path) -> DeskSite:
    return DeskSite(tmp_path)


def send_list(site: DeskSite, text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return site.admin.submit("/admin/invitations/list", files={"file": ("people.csv", data, "text/csv")})


def test_a_list_of_people_gives_one_named_link_for_each(site):
    sent = send_list(site, LIST)
    rows = list(csv.DictReader(io.StringIO(sent.content.decode("utf-8-sig"))))
    assert [(row["name"], row["role"], row["specialty"], row["email"]) for row in rows] == [
        ("Ann Lee", "attending", "Surgery", "ann@x.example"),
        ("Łukasz Żak", "student", "", ""),
    ]
    visitor = Visitor(site)
    path = rows[0]["link"].removeprefix("http://127.0.0.1")
    page = visitor.get(path).text
    assert 'value="Ann Lee"' in page
    assert re.search(r"<option selected>Surgery", page)
    form = {"name": "Somebody Else", "specialty": "Surgery", "password": PASSWORD, "again": PASSWORD}
    assert visitor.submit(path, form).status_code == 200
    joined = next(person for person in site.desk.accounts.list_people() if person.role == "attending")
    assert (joined.name, joined.specialty) == ("Ann Lee", "Surgery")  # the name is that of the list
    assert visitor.get(path).status_code == 404


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("who,what\nx,y\n", "first line names the columns"),
        ("name,role\nAnn,boss\n", "line 2: there is no role"),
        ("name,role,specialty\nAnn,student,Astrology\n", "line 2: 'Astrology' is not a specialty"),
        ("name,role\nBob,student\nbob,student\n", "line 3: the name 'bob' is taken"),
        ("name,role\nBob,student\nAda,student\n", "line 3: the name 'Ada' is taken"),
        ("name,role\n", "names nobody"),
        ("name,role\n\udcff,student\n".encode("utf-8", "surrogateescape"), "not UTF-8"),
    ],
)
def test_a_list_with_an_error_invites_nobody(site, text, message):
    sent = send_list(site, text)
    assert sent.status_code == 422
    assert message.casefold() in sent.text.replace("&#39;", "'").casefold()
    assert not site.desk.accounts.open_invitations()


def test_role_and_specialty_are_changed_and_the_next_page_obeys(site):
    write_set(site.root / "set", [case(1)])
    task = site.make_task("review", "set", ["role:student"])
    student = site.add_person("Stu", "student")
    address = f"/admin/people/{student.person.id}"
    assert student.get(f"/tasks/{task.id}").status_code == 200
    form = {"role": "specialist", "specialty": "Surgery", "second": "Pediatrics"}
    assert site.admin.submit(address, form).status_code == 200
    assert student.get(f"/tasks/{task.id}").status_code == 404  # it is given to students
    assert site.desk.accounts.by_id(student.person.id).specialty == "Surgery; Pediatrics"
    for bad in ({"role": "boss"}, {"role": "student", "specialty": "Astrology"}):
        assert site.admin.submit(address, bad).status_code == 422
    own = site.admin.submit(f"/admin/people/{site.admin.person.id}", {"role": "student"})
    assert own.status_code == 422
    assert student.submit(address, form).status_code == 403


def test_progress_and_a_reminder_as_text(site):
    write_set(site.root / "set", [case(number) for number in range(3)])
    task = site.make_task("review", "set", ["role:student"], share="0")
    student = site.add_person("Stu", "student")
    page = student.get(f"/tasks/{task.id}/next")
    address = f"/admin/people/{student.person.id}"
    token = re.findall(r'name="once" value="([^"]+)"', page.text)[0]
    student.submit(str(page.url), {"once": token, **opinion("keep")})
    shown = site.admin.get(address).text
    assert "Dear Stu," in shown
    assert f"Review: 2 waiting (1 done)\n  http://127.0.0.1/tasks/{task.id}" in shown
    read_all(student, task, lambda number, page: opinion("keep"))
    assert "Nothing is waiting for Stu" in site.admin.get(address).text


def test_a_desk_of_an_earlier_version_gets_the_new_columns(tmp_path):
    old = sqlite3.connect(tmp_path / "desk.sqlite")
    old.execute(
        "CREATE TABLE invitations (token BLOB PRIMARY KEY, role TEXT NOT NULL, person INTEGER, made_by INTEGER,"
        " made TEXT NOT NULL, until TEXT NOT NULL, used TEXT)"
    )
    old.execute("INSERT INTO invitations VALUES (x'00', 'student', NULL, NULL, 'a', 'b', NULL)")
    old.commit()
    old.close()
    store = DeskStore(tmp_path)
    assert tuple(store.row("SELECT role, name, specialty FROM invitations")) == ("student", "", "")
    store.close()
