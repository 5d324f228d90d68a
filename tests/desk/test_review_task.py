"""Review on the desk: two levels, rounds, edits with their diff, arbitration; its files go into `build review`."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from desk_room import FINE, Room, case, once, opinion, read_all, write_set

from wardround.building.review import review
from wardround.desk.submit import give, take_next
from wardround.desk.tasks.rounds import rounds

EVERYBODY = ["role:student", "role:attending"]


@pytest.fixture
def room(tmp_path) -> Room:
    room = Room(tmp_path)
    held = case(10)
    queue = [{"id": "c1", "reason": "was cut", "before": "a b", "after": "b"}, {"id": "c10", "case": held}]
    scan = [{"path": "images/1.png", "modality": "CT"}]
    write_set(room.root / "set", [case(number, images=scan) for number in range(10)], {"findings": queue})
    return room


def names(room: Room, task) -> dict[str, int]:
    return {item.name: item.number for item in room.desk.work.items(task)}


def lines(room: Room, task, file: str) -> list[dict]:
    return [json.loads(line) for line in room.admin.get(f"/admin/tasks/{task.id}/export/{file}").text.splitlines()]


def keep(level="student"):
    return lambda number, page: opinion("keep", level)


def test_students_read_all_and_physicians_a_sample(room, tmp_path):
    task = room.make("review", "set", EVERYBODY)
    student, physician = room.enter("Stu", "student"), room.enter("Phil", "attending")
    read = read_all(student, task, keep())
    assert sorted(read) == sorted(names(room, task))
    assert len(set(read)) == 12
    again = read_all(physician, task, keep("physician"))
    assert sum(name.startswith("cases/") for name in again) == 2
    assert sum(name.startswith("findings/") for name in again) == 1
    (only,) = rounds(room.desk, room.task(task))
    assert (only.sampled, only.read, only.findings, only.state) == (3, 3, 0, "passed")
    file = tmp_path / "given.jsonl"
    file.write_bytes(room.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    told = review(room.root / "set", [file], tmp_path / "new")
    assert told.told()["states"] == {"settled": 12}
    assert len((tmp_path / "new" / "cases.jsonl").read_text().splitlines()) == 11


def test_findings_go_back_round_after_round_until_a_sample_passes(room):
    task = room.make("review", "set", EVERYBODY, passes="0.0")
    student, physician = room.enter("Stu", "student"), room.enter("Phil", "attending")
    read_all(student, task, keep())
    drawn = [item for item in names(room, task).values() if physician.get(f"/tasks/{task.id}/items/{item}").is_success]
    bad = drawn[0]

    def finds(number, page):
        if number != bad:
            return opinion("keep", "physician")
        return opinion("discard", "physician", comment="It is a fake.")

    read_all(physician, task, finds)
    assert room.task(task).round == 1
    assert [each.state for each in rounds(room.desk, room.task(task))] == ["open"]
    page = student.get(f"/tasks/{task.id}").text
    assert "It is a fake." in page
    assert "Clarity" in page
    assert read_all(student, task, lambda number, page: opinion("discard"))
    assert room.task(task).round == 2
    first, second = rounds(room.desk, room.task(task))
    assert (first.findings, first.state, second.sampled, second.state) == (1, "another sample", 3, "open")
    read_all(physician, task, keep("physician"))
    assert [each.state for each in rounds(room.desk, room.task(task))] == ["another sample", "passed"]
    assert not read_all(physician, task, keep("physician"))
    assert "another sample" in room.admin.get(f"/admin/tasks/{task.id}").text


def test_what_was_found_before_the_student_read_comes_back_after(room):
    task = room.make("review", "set", EVERYBODY)
    student, physician = room.enter("Stu", "student"), room.enter("Phil", "attending")
    found = read_all(physician, task, lambda number, page: opinion("discard", "physician"))
    for name in found:
        path = f"/tasks/{task.id}/items/{names(room, task)[name]}"
        page = student.get(path).text
        assert "physician" not in page.lower()
        student.submit(path, {"once": once(page), **opinion("keep")})
        assert "A physician would discard it." in student.get(path).text


def test_an_edit_keeps_its_diff_and_reaches_the_set(room, tmp_path):
    task = room.make("review", "set", EVERYBODY, share="0")
    student = room.enter("Stu", "student")

    def edits(number, page):
        if number != names(room, task)["cases/c3"]:
            return opinion("keep")
        changed = {
            "edit:history": "Patient 3 had severe pain.",
            "edit:questions.mcq.options": "gout\r\nsepsis\r\nangina",
        }
        return opinion(
            "edit", **changed, **{"edit:questions.mcq.gold": "0", "edit:questions.mcq.prompt": "What is it?"}
        )

    read_all(student, task, edits)
    changes = {each["field"]: each for each in lines(room, task, "changes.jsonl")}
    assert set(changes) == {"history", "questions.mcq.options"}
    assert changes["history"]["before"] == "Patient 3 had pain."
    page = room.admin.get(f"/admin/tasks/{task.id}/items/{names(room, task)['cases/c3']}").text
    assert "<ins>severe " in page
    assert "<del>lupus</del><ins>sepsis</ins>" in page
    file = tmp_path / "given.jsonl"
    file.write_bytes(room.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    review(room.root / "set", [file], tmp_path / "new", share=0)
    kept = {each["id"]: each for each in map(json.loads, (tmp_path / "new" / "cases.jsonl").read_text().splitlines())}
    assert kept["c3"]["history"] == "Patient 3 had severe pain."
    assert kept["c3"]["questions"][0]["options"] == ["gout", "sepsis", "angina"]
    assert "severe" in student.get(f"/tasks/{task.id}/items/{names(room, task)['cases/c3']}").text


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"verdict": ""}, "choose keep, edit or discard"),
        ({"verdict": "burn"}, "choose keep, edit or discard"),
        ({"verdict": "keep", "fine": ["complete"]}, "fulfils every criterion"),
        ({"verdict": "discard", "fine": FINE["student"]}, "say why"),
        ({"verdict": "edit"}, "change something first"),
        ({"verdict": "keep", "edit:history": "Other."}, "you changed the case"),
        ({"verdict": "edit", "edit:questions.mcq.options": "one"}, "at least two options"),
        ({"verdict": "edit", "edit:questions.mcq.gold": "7"}, "gold is 7"),
        ({"verdict": "discard", "comment": "x" * 10_001}, "at most 10,000"),
        ({"verdict": "keep", "criterion": ["x"], "fine": ["x"]}, "each criterion is needed"),
    ],
)
def test_what_cannot_be_said_is_told_and_nothing_is_lost(room, form, told):
    task = room.make("review", "set", EVERYBODY)
    student = room.enter("Stu", "student")
    page = student.get(f"/tasks/{task.id}/items/1").text
    level = "keep" if form.get("verdict") == "keep" else "edit"
    sent = student.submit(f"/tasks/{task.id}/items/1", {"once": once(page), **opinion(level), **form})
    assert sent.status_code == 422
    assert told in sent.text.lower().replace("&#39;", "'") or told in sent.text
    if form.get("comment") is None and "edit:history" in form:
        assert "Other." in sent.text
    assert not room.desk.work.verdicts(task)


def test_sent_twice_is_kept_once(room):
    task = room.make("review", "set", EVERYBODY)
    student = room.enter("Stu", "student")
    page = student.get(f"/tasks/{task.id}/items/1").text
    for _ in range(3):
        student.submit(f"/tasks/{task.id}/items/1", {"once": once(page), **opinion("keep")})
    said = {"verdict": "keep", "criteria": dict.fromkeys(FINE["student"], True), "comment": "", "edits": {}}
    answers = [
        student.submit_json(f"/api/tasks/{task.id}/items/2/verdict", {"said": said, "once": "a" * 12}).json()
        for _ in range(3)
    ]
    assert len({answer["verdict"] for answer in answers}) == 1
    assert len(room.desk.work.verdicts(task)) == 2
    other = room.enter("Sue", "student")
    refused = other.submit_json(f"/api/tasks/{task.id}/items/3/verdict", {"said": said, "once": "a" * 12})
    assert refused.status_code == 422


def test_a_draft_is_there_again_and_its_item_comes_first(room):
    task = room.make("review", "set", EVERYBODY)
    student, other = room.enter("Stu", "student"), room.enter("Sue", "student")
    student.get(f"/tasks/{task.id}/items/5")
    form = {"form": {"comment": ["half a thought"], "fine": ["answer"], "verdict": ["discard"]}}
    assert student.submit_json(f"/api/tasks/{task.id}/items/5/draft", form).status_code == 200
    page = student.get(f"/tasks/{task.id}/next")
    assert str(page.url).endswith("/items/5")
    assert "half a thought" in page.text
    assert re.search(r'value="discard"[^>]*checked', page.text)
    assert other.get(f"/tasks/{task.id}/items/5").status_code == 404
    assert other.submit_json(f"/api/tasks/{task.id}/items/5/draft", form).status_code == 422
    assert not room.desk.work.verdicts(task)


def test_two_students_never_get_the_same_item(room):
    task = room.make("review", "set", EVERYBODY)
    students = [room.enter(f"S{number}", "student") for number in range(3)]
    opened = [str(each.get(f"/tasks/{task.id}/next").url) for each in students]
    assert len(set(opened)) == 3
    for each in students:
        read_all(each, task, keep())
    assert len(room.desk.work.verdicts(task)) == 12


def test_disagreement_goes_to_an_arbiter_who_sees_both(room, tmp_path):
    task = room.make("review", "set", EVERYBODY, share="0.1", passes="1.0")
    student, physician = room.enter("Stu", "student"), room.enter("Phil", "attending")
    read_all(student, task, keep())
    read = read_all(physician, task, lambda number, page: opinion("discard", "physician", comment="No."))
    read_all(student, task, lambda number, page: opinion("keep", comment="But yes."))
    page = room.admin.get(f"/admin/tasks/{task.id}").text
    assert f"{len(read)} open disagreements" in page
    room.admin.submit(f"/admin/tasks/{task.id}/arbitrate")
    assert not read_all(physician, task, keep("physician"))
    arbiter = room.enter("Zoe", "attending")
    shown = arbiter.get(f"/tasks/{task.id}/next").text
    assert "But yes." in shown
    assert "Phil" not in shown
    assert sorted(read_all(arbiter, task, lambda number, page: opinion("discard", "physician"))) == sorted(read)
    assert "0 open disagreements" in room.admin.get(f"/admin/tasks/{task.id}").text
    file = tmp_path / "given.jsonl"
    file.write_bytes(room.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    told = review(room.root / "set", [file], share=0.1).told()
    assert told["verdicts"]["discard"] == len(read)


def test_suspicious_items_come_first_without_saying_so(room):
    (room.root / "items.csv").write_text("case,question,reason\nc7,mcq,all strong candidates miss it\n")
    task = room.make("review", "set", EVERYBODY, suspicious="items.csv")
    student = room.enter("Stu", "student")
    page = student.get(f"/tasks/{task.id}/next")
    assert int(str(page.url).rsplit("/", 1)[1]) == names(room, task)["cases/c7"]
    assert "strong candidates" not in page.text
    assert "strong candidates" in room.admin.get(f"/admin/tasks/{task.id}/items/{names(room, task)['cases/c7']}").text


def test_the_source_is_shown_as_text(room):
    (room.root / "pages").mkdir()
    (room.root / "pages" / "c2.html").write_text("<h1>Case</h1><script>bad()</script><p>She had <b>gout</b>.</p>")
    task = room.make("review", "set", EVERYBODY, sources="pages")
    page = room.enter("Stu", "student").get(f"/tasks/{task.id}/items/{names(room, task)['cases/c2']}").text
    assert "Case\nShe had gout." in page
    assert "bad()" not in page


def test_everything_moves_to_another_desk(room, tmp_path):
    task = room.make("review", "set", EVERYBODY)
    student = room.enter("Stu", "student")
    read_all(student, task, keep())
    packed = room.admin.get("/admin/everything.zip").content
    assert b"argon2" not in packed
    other = Room(tmp_path / "other")
    answer = other.admin.submit("/admin/import", {}, files={"file": ("everything.zip", packed)})
    assert "2 people, 1 tasks, 12 verdicts" in answer.text
    (moved,) = other.desk.work.tasks()

    def told(desk, task):
        return [(each.item, each.reader, each.said, each.time) for each in desk.work.verdicts(task)]

    assert told(other.desk, moved) == told(room.desk, task)
    assert len(lines(other, moved, "review.jsonl")) == 12


def test_a_backup_is_a_whole_database(room, tmp_path):
    import sqlite3

    task = room.make("review", "set", EVERYBODY)
    read_all(room.enter("Stu", "student"), task, keep())
    (tmp_path / "copy.sqlite").write_bytes(room.admin.get("/admin/backup").content)
    copy = sqlite3.connect(tmp_path / "copy.sqlite")
    assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert copy.execute("SELECT count(*) FROM verdicts").fetchone() == (12,)
    copy.close()


def test_the_audit_log_tells_who_and_when_and_is_never_changed(room):
    import sqlite3

    task = room.make("review", "set", EVERYBODY)
    read_all(room.enter("Stu", "student"), task, keep())
    log = [json.loads(line) for line in room.admin.get("/admin/audit.jsonl").text.splitlines()]
    said = [line for line in log if line["action"] == "verdict"]
    assert len(said) == 12
    assert {line["name"] for line in said} == {"Stu"}
    assert all(line["detail"]["said"]["verdict"] == "keep" for line in said)
    assert {"make task", "assign", "invite", "join"} <= {line["action"] for line in log}
    for sql in (
        "UPDATE audit SET action = 'x'",
        "DELETE FROM audit",
        "UPDATE verdicts SET said = '{}'",
        "DELETE FROM verdicts",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            room.desk.store.write(sql)


def test_a_closed_task_is_closed(room):
    task = room.make("review", "set", EVERYBODY)
    student = room.enter("Stu", "student")
    room.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "no"})
    assert student.get(f"/tasks/{task.id}").status_code == 404
    room.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "yes"})
    assert student.get(f"/tasks/{task.id}").status_code == 200


def test_a_queue_alone_and_what_is_still_to_be_read(room):
    task = room.make("review", "set/review/findings.jsonl", EVERYBODY)
    assert set(names(room, task)) == {"findings/c1", "findings/c10"}
    student = room.enter("Stu", "student")
    page = student.get(f"/tasks/{task.id}/items/1").text
    image = re.findall(r'src="(/images/[^"]+)"', page)
    assert [student.get(each).status_code for each in image] == [200]
    wanted = [{"item": "cases/c4", "level": "student"}, {"item": "cases/c5", "level": "physician"}]
    (room.root / "to_read.jsonl").write_text("".join(json.dumps(line) + "\n" for line in wanted))
    task = room.make("review", "set", EVERYBODY, only="to_read.jsonl")
    assert read_all(student, task, keep()) == ["cases/c4"]
    assert read_all(room.enter("Phil", "attending"), task, keep("physician")) == ["cases/c5"]
    (room.root / "bad.jsonl").write_text("[]\n")
    form = {"kind": "review", "project": "P", "name": "N", "source": "set", "only": "bad.jsonl"}
    assert "bad.jsonl:1" in room.admin.submit("/admin/tasks/new", form).text


def test_many_at_once_are_never_handed_the_same_item(tmp_path):
    """Eight threads on 64 items that want one reading each: each item is read once, and nobody is turned away."""
    room = Room(tmp_path)
    write_set(room.root / "set", [case(number) for number in range(64)])
    task = room.make("review", "set", EVERYBODY, share="0")
    people = [room.enter(f"S{number}", "student").person for number in range(8)]
    said = {"verdict": "keep", "criteria": dict.fromkeys(FINE["student"], True), "comment": "", "edits": {}}

    def work(person) -> int:
        for number in range(100):
            there = take_next(room.desk, task, person)
            if "/items/" not in there:
                return number
            item = room.desk.work.item(task, int(there.rsplit("/", 1)[1]))
            give(room.desk, task, item, person, said, f"once-{person.id}-{number}")
        raise AssertionError("it does not end")

    with ThreadPoolExecutor(len(people)) as threads:
        assert sum(threads.map(work, people)) == 64
    assert len({verdict.item for verdict in room.desk.work.verdicts(task)}) == 64
