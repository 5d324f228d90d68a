"""`wardround desk` as it is started: its first line, its end, its death."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import threading

import httpx2
import pytest
from desk_process import DeskProcess
from desk_site import FINE, case, write_set
from exam_study import start, wardround

from wardround.desk.desk import Desk


def enter(client: httpx2.Client, link: str, name: str) -> None:
    page = client.get(link)
    form = {"csrf": csrf(page.text), "name": name, "password": "correct horse", "again": "correct horse"}
    assert client.post(link, data=form).status_code == 303


def csrf(text: str) -> str:
    return re.findall(r'name="csrf" (?:value|content)="(\w+)"', text)[0]


def test_the_first_line_is_the_address_with_the_one_time_link(tmp_path):
    process = start("desk", "--root", tmp_path / "desk", cwd=tmp_path)
    try:
        line = process.stdout.readline()
        announcement = re.fullmatch(r"(http://127\.0\.0\.1:\d+) administrator, once: (\1/join/[\w-]+)\n", line)
        assert announcement, line
        assert httpx2.get(announcement[1], follow_redirects=True).status_code == 200
        with httpx2.Client() as client:
            enter(client, announcement[2], "Ada")
            assert client.get(f"{announcement[1]}/admin").status_code == 200
        assert httpx2.get(announcement[2]).status_code == 404
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=300)[1]
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "this machine only" in stderr


@pytest.mark.slow
def test_json_and_the_second_start_without_a_link(tmp_path):
    with DeskProcess(tmp_path / "desk") as first:
        with httpx2.Client() as client:
            enter(client, first.link, "Ada")
        assert first.stop()[0] == 130
    with DeskProcess(tmp_path / "desk", "--host", "0.0.0.0") as second:
        assert second.link is None
        assert "without encryption" in second.stop()[1]
    with DeskProcess(tmp_path / "desk", "--new-administrator") as third:
        assert httpx2.get(third.link).status_code == 200
    assert list((tmp_path / "desk").glob("desk.sqlite*"))
    assert all(file.stat().st_mode & 0o077 == 0 for file in (tmp_path / "desk").glob("desk.*"))
    assert (tmp_path / "desk" / "desk.secret").stat().st_mode & 0o077 == 0


@pytest.mark.slow
@pytest.mark.parametrize("what", ["file", "database", "port"])
def test_what_cannot_be_served_is_one_line(tmp_path, what):
    root, more = tmp_path / "desk", []
    if what == "file":
        root.write_text("")
    elif what == "database":
        root.mkdir()
        (root / "desk.sqlite").write_text("no database " * 100)
    else:
        more = ["--host", "192.0.2.1"]
    ended = wardround("desk", "--root", root, *more, cwd=tmp_path)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert not ended.stdout


def test_killed_in_the_middle_everything_acknowledged_is_there(tmp_path):
    """Four people submit verdicts without pause; the desk is killed; nothing is lost, nothing is doubled."""
    root, item_count = tmp_path / "desk", 400
    write_set(root / "set", [case(number) for number in range(item_count)])
    desk = Desk(root)
    admin = desk.accounts.join(desk.accounts.invite("administrator"), "Ada", "correct horse")
    people = [
        desk.accounts.join(desk.accounts.invite("student", admin), f"S{number}", "correct horse") for number in range(4)
    ]
    kind = desk.kinds["review"]
    settings = {setting.name: setting.default for setting in kind.settings}
    task_fields = {"project": "P", "kind": "review", "name": "N", "source": "set", "settings": settings}
    task = desk.tasks.get_task(
        desk.tasks.create(task_fields, kind.make_items(root / "set", settings, desk.root), admin)
    )
    desk.tasks.assign(task, ["role:student"], admin)
    cookies = [desk.visits.sign(desk.accounts.open_session(person)) for person in people]
    tokens = [desk.visits.form_token(desk.visits.verify(cookie)) for cookie in cookies]
    name = desk.visits.cookie
    desk.close()
    said = {"verdict": "keep", "criteria": dict.fromkeys(FINE["student"], True), "comment": "", "edits": {}}
    acknowledged: list[int] = []
    enough = threading.Event()

    def work(number: int, url: str) -> None:
        with httpx2.Client(cookies={name: cookies[number]}, headers={"x-csrf-token": tokens[number]}) as client:
            for item in range(1 + number, item_count + 1, len(people)):
                body = {"said": said, "once": f"once-{number}-{item}"}
                try:
                    answer = client.post(f"{url}/api/tasks/{task.id}/items/{item}/verdict", json=body)
                except httpx2.HTTPError:
                    return
                if answer.status_code == 200:
                    acknowledged.append(answer.json()["verdict"])
                if len(acknowledged) > 60:
                    enough.set()

    with DeskProcess(root) as served:
        threads = [threading.Thread(target=work, args=(number, served.url)) for number in range(len(people))]
        for thread in threads:
            thread.start()
        assert enough.wait(600)
        served.kill()
        for thread in threads:
            thread.join()
    kept = sqlite3.connect(root / "desk.sqlite")
    assert kept.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    there = [row[0] for row in kept.execute("SELECT id FROM verdicts")]
    items = [row[0] for row in kept.execute("SELECT item FROM verdicts")]
    audited = [
        json.loads(row[0])["verdict"] for row in kept.execute("SELECT detail FROM audit WHERE action = 'verdict'")
    ]
    kept.close()
    assert len(acknowledged) > 60
    assert set(acknowledged) <= set(there)
    assert len(items) == len(set(items))
    assert sorted(audited) == sorted(there)
