"""Review on the desk: two levels, rounds, edits with their diff, arbitration; its files go into `build review`."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from desk_site import FINE, DeskSite, case, once, opinion, read_all, write_set

from wardround.building.review.review import review
from wardround.desk.submit import claim_next, submit_verdict
from wardround.desk.tasks.rounds import list_rounds
from wardround.marking.review_notes import WRONG_KEY, add_note

EVERYBODY = ["role:student", "role:attending"]


@pytest.fixture
def site(tmp_path) -> DeskSite:
    site = DeskSite(tmp_path)
    withheld = case(10)
    queue = [{"id": "c1", "reason": "was cut", "before": "a b", "after": "b"}, {"id": "c10", "case": withheld}]
    scan = [{"path": "images/1.png", "modality": "CT"}]
    write_set(site.root / "set", [case(number, images=scan) for number in range(10)], {"findings": queue})
    return site


def names(site: DeskSite, task) -> dict[str, int]:
    return {item.name: item.number for item in site.desk.tasks.list_items(task)}


def lines(site: DeskSite, task, file: str) -> list[dict]:
    return [json.loads(line) for line in site.admin.get(f"/admin/tasks/{task.id}/export/{file}").text.splitlines()]


def keep(level="student"):
    return lambda number, page: opinion("keep", level)


def test_students_read_all_and_physicians_a_sample(site, tmp_path):
    task = site.make_task("review", "set", EVERYBODY)
    student, physician = site.add_person("Stu", "student"), site.add_person("Phil", "attending")
    read = read_all(student, task, keep())
    assert sorted(read) == sorted(names(site, task))
    assert len(set(read)) == 12
    again = read_all(physician, task, keep("physician"))
    assert sum(name.startswith("cases/") for name in again) == 2
    assert sum(name.startswith("findings/") for name in again) == 1
    (only,) = list_rounds(site.desk, site.reload(task))
    assert (only.sampled, only.read, only.findings, only.state) == (3, 3, 0, "passed")
    file = tmp_path / "given.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    result = review(site.root / "set", [file], tmp_path / "new")
    assert result.to_dict()["states"] == {"settled": 12}
    assert len((tmp_path / "new" / "cases.jsonl").read_text().splitlines()) == 11


def test_findings_go_back_round_after_round_until_a_sample_passes(site):
    task = site.make_task("review", "set", EVERYBODY, passes="0.0")
    student, physician = site.add_person("Stu", "student"), site.add_person("Phil", "attending")
    read_all(student, task, keep())
    drawn = [item for item in names(site, task).values() if physician.get(f"/tasks/{task.id}/items/{item}").is_success]
    bad = drawn[0]

    def finds(number, page):
        if number != bad:
            return opinion("keep", "physician")
        return opinion("discard", "physician", comment="It is a fake.")

    read_all(physician, task, finds)
    assert site.reload(task).round == 1
    assert [round.state for round in list_rounds(site.desk, site.reload(task))] == ["open"]
    page = student.get(f"/tasks/{task.id}").text
    assert "It is a fake." in page
    assert "Clarity" in page
    assert read_all(student, task, lambda number, page: opinion("discard"))
    assert site.reload(task).round == 2
    first, second = list_rounds(site.desk, site.reload(task))
    assert (first.findings, first.state, second.sampled, second.state) == (1, "another sample", 3, "open")
    read_all(physician, task, keep("physician"))
    assert [round.state for round in list_rounds(site.desk, site.reload(task))] == ["another sample", "passed"]
    assert not read_all(physician, task, keep("physician"))
    assert "another sample" in site.admin.get(f"/admin/tasks/{task.id}").text


def test_what_was_found_before_the_student_read_comes_back_after(site):
    task = site.make_task("review", "set", EVERYBODY)
    student, physician = site.add_person("Stu", "student"), site.add_person("Phil", "attending")
    read = read_all(physician, task, lambda number, page: opinion("discard", "physician"))
    for name in read:
        path = f"/tasks/{task.id}/items/{names(site, task)[name]}"
        page = student.get(path).text
        assert "physician" not in page.lower()
        student.submit(path, {"once": once(page), **opinion("keep")})
        assert "A physician would discard it." in student.get(path).text


def test_an_edit_keeps_its_diff_and_reaches_the_set(site, tmp_path):
    task = site.make_task("review", "set", EVERYBODY, share="0")
    student = site.add_person("Stu", "student")

    def edits(number, page):
        if number != names(site, task)["cases/c3"]:
            return opinion("keep")
        changed = {
            "edit:history": "Patient 3 had severe pain.",
            "edit:questions.mcq.options": "gout\r\nsepsis\r\nangina",
        }
        return opinion(
            "edit", **changed, **{"edit:questions.mcq.gold": "0", "edit:questions.mcq.prompt": "What is it?"}
        )

    read_all(student, task, edits)
    changes = {change["field"]: change for change in lines(site, task, "changes.jsonl")}
    assert set(changes) == {"history", "questions.mcq.options"}
    assert changes["history"]["before"] == "Patient 3 had pain."
    page = site.admin.get(f"/admin/tasks/{task.id}/items/{names(site, task)['cases/c3']}").text
    assert "<ins>severe " in page
    assert "<del>lupus</del><ins>sepsis</ins>" in page
    file = tmp_path / "given.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    review(site.root / "set", [file], tmp_path / "new", share=0)
    kept = {
        record["id"]: record for record in map(json.loads, (tmp_path / "new" / "cases.jsonl").read_text().splitlines())
    }
    assert kept["c3"]["history"] == "Patient 3 had severe pain."
    assert kept["c3"]["questions"][0]["options"] == ["gout", "sepsis", "angina"]
    assert "severe" in student.get(f"/tasks/{task.id}/items/{names(site, task)['cases/c3']}").text


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"verdict": ""}, "choose keep, edit or discard"),
        ({"verdict": "burn"}, "choose keep, edit or discard"),
        ({"verdict": "keep", "is:complete": ""}, "fulfils every criterion"),
        ({"verdict": "keep", "is:complete": "no"}, "fulfils every criterion"),
        ({"verdict": "discard", "is:complete": "yes"}, "say why"),
        ({"verdict": "discard", "is:complete": ""}, "say why"),
        ({"verdict": "edit"}, "change something first"),
        ({"verdict": "keep", "edit:history": "Other."}, "you changed the case"),
        ({"verdict": "edit", "edit:questions.mcq.options": "one"}, "at least two options"),
        ({"verdict": "edit", "edit:questions.mcq.gold": "7"}, "gold is 7"),
        ({"verdict": "discard", "comment": "x" * 10_001}, "at most 10,000"),
        ({"verdict": "keep", "criterion": ["x"], "is:x": "yes"}, "answer each criterion"),
    ],
)
def test_a_verdict_that_is_not_valid_is_refused_and_nothing_is_lost(site, form, message):
    task = site.make_task("review", "set", EVERYBODY)
    student = site.add_person("Stu", "student")
    page = student.get(f"/tasks/{task.id}/items/1").text
    level = "keep" if form.get("verdict") == "keep" else "edit"
    sent = student.submit(f"/tasks/{task.id}/items/1", {"once": once(page), **opinion(level), **form})
    assert sent.status_code == 422
    assert message in sent.text.lower().replace("&#39;", "'") or message in sent.text
    if form.get("comment") is None and "edit:history" in form:
        assert "Other." in sent.text
    assert not site.desk.tasks.verdicts(task)


def test_what_was_not_judged_is_not_reported_as_failed(site):
    """A physician discards for one criterion and judges no other: only that one goes back, into files and findings."""
    task = site.make_task("review", "set", EVERYBODY, share="1", passes="0")
    student, physician = site.add_person("Stu", "student"), site.add_person("Phil", "attending")
    read_all(student, task, keep())
    page = physician.get(f"/tasks/{task.id}/items/1").text
    form = {"verdict": "discard", "criterion": FINE["physician"], "is:clarity": "no", "is:accuracy": ""}
    sent = physician.submit(f"/tasks/{task.id}/items/1", {"once": once(page), **form}, follow_redirects=False)
    assert sent.status_code == 303

    said = site.desk.tasks.verdicts(task)[-1].said
    assert said["criteria"] == {"clarity": False, "rationality": None, "accuracy": None, "options": None}
    reasons = lines(site, task, "review.jsonl")[-1]["reasons"]
    assert len(reasons) == 1
    assert "Clarity" in reasons[0]
    returned = student.get(f"/tasks/{task.id}").text
    assert "Clarity" in returned
    assert "accuracy" not in returned
    again = physician.get(f"/tasks/{task.id}/items/1").text
    assert re.search(r'name="is:clarity" value="no" checked', again)
    assert re.search(r'name="is:accuracy" value="" checked', again)


def test_the_previous_item_can_be_opened_and_changed(site):
    task = site.make_task("review", "set", EVERYBODY, share="0")
    student = site.add_person("Stu", "student")
    order = []
    for _ in range(3):
        page = student.get(f"/tasks/{task.id}/next")
        order.append(int(str(page.url).rsplit("/", 1)[1]))
        assert re.findall(r'class="previous" href="([^"]+)"', page.text) == [
            f"/tasks/{task.id}/items/{number}" for number in order[-2:-1]
        ]
        student.submit(str(page.url), {"once": once(page.text), **opinion("keep")})
    second = student.get(f"/tasks/{task.id}/items/{order[1]}").text
    assert f'class="previous" href="/tasks/{task.id}/items/{order[0]}"' in second
    assert 'class="onward"' in second
    student.submit(f"/tasks/{task.id}/items/{order[1]}", {"once": once(second), **opinion("discard")})
    assert [verdict.said["verdict"] for verdict in site.desk.tasks.verdicts(task, order[1])] == ["keep", "discard"]


def test_sent_twice_is_kept_once(site):
    task = site.make_task("review", "set", EVERYBODY)
    student = site.add_person("Stu", "student")
    page = student.get(f"/tasks/{task.id}/items/1").text
    for _ in range(3):
        student.submit(f"/tasks/{task.id}/items/1", {"once": once(page), **opinion("keep")})
    said = {"verdict": "keep", "criteria": dict.fromkeys(FINE["student"], True), "comment": "", "edits": {}}
    answers = [
        student.submit_json(f"/api/tasks/{task.id}/items/2/verdict", {"said": said, "once": "a" * 12}).json()
        for _ in range(3)
    ]
    assert len({answer["verdict"] for answer in answers}) == 1
    assert len(site.desk.tasks.verdicts(task)) == 2
    other = site.add_person("Sue", "student")
    refused = other.submit_json(f"/api/tasks/{task.id}/items/3/verdict", {"said": said, "once": "a" * 12})
    assert refused.status_code == 422


def test_a_draft_is_there_again_and_its_item_comes_first(site):
    task = site.make_task("review", "set", EVERYBODY)
    student, other = site.add_person("Stu", "student"), site.add_person("Sue", "student")
    student.get(f"/tasks/{task.id}/items/5")
    form = {"form": {"comment": ["half a thought"], "is:answer": ["yes"], "verdict": ["discard"]}}
    assert student.submit_json(f"/api/tasks/{task.id}/items/5/draft", form).status_code == 200
    page = student.get(f"/tasks/{task.id}/next")
    assert str(page.url).endswith("/items/5")
    assert "half a thought" in page.text
    assert re.search(r'value="discard"[^>]*checked', page.text)
    assert other.get(f"/tasks/{task.id}/items/5").status_code == 404
    assert other.submit_json(f"/api/tasks/{task.id}/items/5/draft", form).status_code == 422
    assert not site.desk.tasks.verdicts(task)


def test_two_students_never_get_the_same_item(site):
    task = site.make_task("review", "set", EVERYBODY)
    students = [site.add_person(f"S{number}", "student") for number in range(3)]
    opened = [str(student.get(f"/tasks/{task.id}/next").url) for student in students]
    assert len(set(opened)) == 3
    for student in students:
        read_all(student, task, keep())
    assert len(site.desk.tasks.verdicts(task)) == 12


def test_disagreement_goes_to_an_arbiter_who_sees_both(site, tmp_path):
    task = site.make_task("review", "set", EVERYBODY, share="0.1", passes="1.0")
    student, physician = site.add_person("Stu", "student"), site.add_person("Phil", "attending")
    read_all(student, task, keep())
    read = read_all(physician, task, lambda number, page: opinion("discard", "physician", comment="No."))
    read_all(student, task, lambda number, page: opinion("keep", comment="But yes."))
    page = site.admin.get(f"/admin/tasks/{task.id}").text
    assert f"{len(read)} open disagreements" in page
    site.admin.submit(f"/admin/tasks/{task.id}/arbitrate")
    assert not read_all(physician, task, keep("physician"))
    arbiter = site.add_person("Zoe", "attending")
    shown = arbiter.get(f"/tasks/{task.id}/next").text
    assert "But yes." in shown
    assert "Phil" not in shown
    assert sorted(read_all(arbiter, task, lambda number, page: opinion("discard", "physician"))) == sorted(read)
    assert "0 open disagreements" in site.admin.get(f"/admin/tasks/{task.id}").text
    file = tmp_path / "given.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    result = review(site.root / "set", [file], share=0.1).to_dict()
    assert result["verdicts"]["discard"] == len(read)


def test_wrong_keys_that_were_flagged_in_the_explorer_come_first(site):
    (site.root / "run").mkdir()
    add_note(site.root / "run", "c3", "mcq", WRONG_KEY, "B is right, see the report")
    task = site.make_task("review", "set", EVERYBODY, suspicious="run")
    student = site.add_person("Stu", "student")
    page = student.get(f"/tasks/{task.id}/next")
    assert str(page.url).endswith(f"/items/{names(site, task)['cases/c3']}")
    assert "see the report" not in page.text
    shown = site.admin.get(str(page.url).replace("/tasks/", "/admin/tasks/")).text
    assert "wrong key: B is right, see the report" in shown


def test_suspicious_items_come_first_without_saying_so(site):
    (site.root / "items.csv").write_text("case,question,reason\nc7,mcq,all strong candidates miss it\n")
    task = site.make_task("review", "set", EVERYBODY, suspicious="items.csv")
    student = site.add_person("Stu", "student")
    page = student.get(f"/tasks/{task.id}/next")
    assert int(str(page.url).rsplit("/", 1)[1]) == names(site, task)["cases/c7"]
    assert "strong candidates" not in page.text
    assert "strong candidates" in site.admin.get(f"/admin/tasks/{task.id}/items/{names(site, task)['cases/c7']}").text


def test_the_source_is_shown_as_text(site):
    (site.root / "pages").mkdir()
    (site.root / "pages" / "c2.html").write_text("<h1>Case</h1><script>bad()</script><p>She had <b>gout</b>.</p>")
    task = site.make_task("review", "set", EVERYBODY, sources="pages")
    page = site.add_person("Stu", "student").get(f"/tasks/{task.id}/items/{names(site, task)['cases/c2']}").text
    assert "Case\nShe had gout." in page
    assert "bad()" not in page


def test_lists_of_a_queue_are_shown_as_lists(site):
    """The candidates that a build proposes, each with the sentences that name it."""
    candidates = [{"diagnosis": "Gout <b>", "evidence": ["title: A <i> toe", "case: Urate was high."], "boxes": [1, 2]}]
    write_set(site.root / "doubt", [case(1)], {"diagnosis": [{"id": "c2", "case": case(2), "candidates": candidates}]})
    task = site.make_task("review", "doubt/review/diagnosis.jsonl", EVERYBODY)
    page = site.add_person("Stu", "student").get(f"/tasks/{task.id}/next").text
    shown = "<b>diagnosis</b> Gout &lt;b&gt;<br><b>evidence</b> "
    assert shown + "<ol><li>title: A &lt;i&gt; toe</li><li>case: Urate was high.</li></ol>" in page
    assert "<b>boxes</b> [1, 2]" in page


def test_everything_moves_to_another_desk(site, tmp_path):
    task = site.make_task("review", "set", EVERYBODY)
    student = site.add_person("Stu", "student")
    read_all(student, task, keep())
    packed = site.admin.get("/admin/everything.zip").content
    assert b"argon2" not in packed
    other = DeskSite(tmp_path / "other")
    answer = other.admin.submit("/admin/import", {}, files={"file": ("everything.zip", packed)})
    assert "2 people, 1 tasks, 12 verdicts" in answer.text
    (moved,) = other.desk.tasks.list_tasks()

    def contents(desk, task):
        return [(verdict.item, verdict.reader, verdict.said, verdict.time) for verdict in desk.tasks.verdicts(task)]

    assert contents(other.desk, moved) == contents(site.desk, task)
    assert len(lines(other, moved, "review.jsonl")) == 12


def test_a_backup_is_a_whole_database(site, tmp_path):
    import sqlite3

    task = site.make_task("review", "set", EVERYBODY)
    read_all(site.add_person("Stu", "student"), task, keep())
    (tmp_path / "copy.sqlite").write_bytes(site.admin.get("/admin/backup").content)
    copy = sqlite3.connect(tmp_path / "copy.sqlite")
    assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert copy.execute("SELECT count(*) FROM verdicts").fetchone() == (12,)
    copy.close()


def test_the_audit_log_tells_who_and_when_and_is_never_changed(site):
    import sqlite3

    task = site.make_task("review", "set", EVERYBODY)
    read_all(site.add_person("Stu", "student"), task, keep())
    log = [json.loads(line) for line in site.admin.get("/admin/audit.jsonl").text.splitlines()]
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
            site.desk.store.write(sql)


def test_a_closed_task_is_closed(site):
    task = site.make_task("review", "set", EVERYBODY)
    student = site.add_person("Stu", "student")
    site.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "no"})
    assert student.get(f"/tasks/{task.id}").status_code == 404
    site.admin.submit(f"/admin/tasks/{task.id}/state", {"open": "yes"})
    assert student.get(f"/tasks/{task.id}").status_code == 200


def test_a_queue_alone_and_what_is_still_to_be_read(site):
    task = site.make_task("review", "set/review/findings.jsonl", EVERYBODY)
    assert set(names(site, task)) == {"findings/c1", "findings/c10"}
    student = site.add_person("Stu", "student")
    page = student.get(f"/tasks/{task.id}/items/1").text
    image = re.findall(r'src="(/images/[^"]+)"', page)
    assert [student.get(path).status_code for path in image] == [200]
    wanted = [{"item": "cases/c4", "level": "student"}, {"item": "cases/c5", "level": "physician"}]
    (site.root / "to_read.jsonl").write_text("".join(json.dumps(line) + "\n" for line in wanted))
    task = site.make_task("review", "set", EVERYBODY, only="to_read.jsonl")
    assert read_all(student, task, keep()) == ["cases/c4"]
    assert read_all(site.add_person("Phil", "attending"), task, keep("physician")) == ["cases/c5"]
    (site.root / "bad.jsonl").write_text("[]\n")
    form = {"kind": "review", "project": "P", "name": "N", "source": "set", "only": "bad.jsonl"}
    assert "bad.jsonl:1" in site.admin.submit("/admin/tasks/new", form).text


def test_many_at_once_are_never_handed_the_same_item(tmp_path):
    """Eight threads on 64 items that want one reading each: each item is read once, and nobody is turned away."""
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [case(number) for number in range(64)])
    task = site.make_task("review", "set", EVERYBODY, share="0")
    people = [site.add_person(f"S{number}", "student").person for number in range(8)]
    said = {"verdict": "keep", "criteria": dict.fromkeys(FINE["student"], True), "comment": "", "edits": {}}

    def work(person) -> int:
        for number in range(100):
            there = claim_next(site.desk, task, person)
            if "/items/" not in there:
                return number
            item = site.desk.tasks.get_item(task, int(there.rsplit("/", 1)[1]))
            submit_verdict(site.desk, task, item, person, said, f"once-{person.id}-{number}")
        raise AssertionError("it does not end")

    with ThreadPoolExecutor(len(people)) as threads:
        assert sum(threads.map(work, people)) == 64
    assert len({verdict.item for verdict in site.desk.tasks.verdicts(task)}) == 64
