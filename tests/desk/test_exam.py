"""The exam: who is asked what, what is kept of it, and how the answers stand beside a model's."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter

import pytest
from desk_site import PASSWORD, DeskSite, Visitor, once, read_all, write_set

from wardround.candidates.people import COLUMNS
from wardround.core.text import LETTERS
from wardround.desk.tasks.exam_paper import ExamUnit, draw_units, parse_specialties

SPECIALTIES = ["Surgery", "Dentistry", "Orthopedics", "Pediatrics"]


def exam_case(number: int, specialty: str = "Surgery", **more) -> dict:
    options = [f"disease {number} {letter}" for letter in "abcde"]
    asked = {"id": "mcq", "kind": "choice", "prompt": "Which?", "options": options, "gold": number % 5}
    tellings = {"text": {"history": f"Patient {number}, told in text."}}
    return {
        "id": f"case-{number}",
        "specialty": specialty,
        "history": "Own.",
        "tellings": tellings,
        "questions": [asked],
        **more,
    }


def chain_case(number: int) -> dict:
    """Three stages, each given the ones before."""
    stages = ["AL", "DD", "SG"]
    questions = [
        {
            "id": stage,
            "kind": "choice",
            "prompt": f"What about {stage}?",
            "options": [f"{stage} {letter} of {number}" for letter in "xyz"],
            "gold": 1,
            "stage": stage,
            "chain": "eye",
            "given": stages[:place],
        }
        for place, stage in enumerate(stages)
    ]
    return {"id": f"chain-{number}", "specialty": "Ophthalmology", "questions": questions}


@pytest.fixture
def site(tmp_path) -> DeskSite:
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [exam_case(number, SPECIALTIES[number % 4]) for number in range(40)])
    return site


def enter(site: DeskSite, name: str, role: str, specialty: str) -> Visitor:
    token = site.desk.accounts.invite(role, site.admin.person)
    return Visitor(site, site.desk.accounts.join(token, name, PASSWORD, specialty))


def sit(visitor: Visitor, task, choose, *, sure="80", ai="no") -> list[str]:
    """A whole sitting; `choose(item, page)` gives the index of the option."""

    def say(number: int, page: str) -> dict:
        item = visitor.desk.tasks.get_item(task, number)
        if item.shown["page"] == "rules":
            return {"agreed": "yes"}
        if item.shown["page"] == "closing":
            return {"ai": ai, "comment": ""}
        return {"option": str(choose(item, page)), "confidence": sure, "seconds": "0"}

    return read_all(visitor, task, say)


def gold(item, page) -> int:
    return item.hidden["gold"]


def exported(site: DeskSite, task, file="answers.csv") -> list[dict]:
    answer = site.admin.get(f"/admin/tasks/{task.id}/export/{file}")
    assert answer.status_code == 200
    assert answer.text.splitlines()[0] == ",".join(COLUMNS)
    return list(csv.DictReader(io.StringIO(answer.text)))


# the draw


def test_half_in_the_specialty_and_the_rest_spread_evenly():
    units = [ExamUnit((number,), f"c{number}", SPECIALTIES[number % 4]) for number in range(80)]
    sample = draw_units(units, parse_specialties("surg; unknown"), 12, 0.5, random.Random(1))
    count = Counter(unit.specialty for unit in sample)
    assert count == {"Surgery": 6, "Dentistry": 2, "Orthopedics": 2, "Pediatrics": 2}
    assert sample == draw_units(units, parse_specialties("surg; unknown"), 12, 0.5, random.Random(1))
    assert sample != draw_units(units, parse_specialties("surg; unknown"), 12, 0.5, random.Random(2))
    without = Counter(unit.specialty for unit in draw_units(units, set(), 12, 0.5, random.Random(1)))
    assert set(without.values()) == {3}


def test_where_one_side_has_too_few_the_other_fills_up():
    units = [ExamUnit((number,), f"c{number}", "Surgery" if number < 3 else "Dentistry") for number in range(10)]
    few = draw_units(units, {"surgery"}, 8, 0.5, random.Random(0))
    assert Counter(unit.specialty for unit in few) == {"Surgery": 3, "Dentistry": 5}
    few = draw_units(units, {"dentistry"}, 8, 0.25, random.Random(0))
    assert Counter(unit.specialty for unit in few) == {"Surgery": 3, "Dentistry": 5}
    assert len(draw_units(units, set(), 99, 0.5, random.Random(0))) == 10


def test_of_one_case_only_one_unit_is_drawn():
    units = [ExamUnit((number,), f"c{number // 5}", None) for number in range(20)]
    assert sorted(unit.case for unit in draw_units(units, set(), 20, 0.5, random.Random(0))) == ["c0", "c1", "c2", "c3"]


# the sitting


def test_a_person_is_told_of_questions_not_of_pages(site):
    visitor = enter(site, "Ann", "attending", "Surgery")
    task = site.make_task("exam", "set", ["role:attending"], cases="3")
    progress = []
    for form in ({"agreed": "yes"}, *[{"option": "0", "confidence": "80", "seconds": "0"}] * 3, {"ai": "no"}):
        progress += re.findall(r"\d of \d questions answered", visitor.get("/").text)
        page = visitor.get(f"/tasks/{task.id}/next")
        visitor.submit(str(page.url), {"once": once(page.text), **form})
    progress += re.findall(r"\d of \d questions answered", visitor.get(f"/tasks/{task.id}").text)
    assert [text[0] for text in progress] == ["0", "0", "1", "2", "3", "3"]
    assert {text[1:] for text in progress} == {" of 3 questions answered"}


def test_what_is_said_is_kept_in_the_order_of_the_case_whatever_was_shown(site):
    people = [enter(site, name, "attending", "Surgery") for name in ("Ann", "Bob")]
    task = site.make_task("exam", "set", ["role:attending"], cases="16", confidence="yes")
    orders: dict[str, list[list[str]]] = {}
    for visitor in people:
        shown_orders = orders.setdefault(visitor.person.name, [])

        def third_shown(item, page, shown_orders=shown_orders) -> int:
            shown = [int(value) for value in re.findall(r'name="option" value="(\d+)"', page)]
            texts = re.findall(r"<b>[A-E]</b> <span>(.*?)</span>", page)
            assert texts == [item.shown["question"]["options"][index] for index in shown]
            shown_orders.append([item.number, *shown])
            return shown[2]

        sit(visitor, task, third_shown)
    rows = {(row["person"], row["case"]): row for row in exported(site, task)}
    for name, shown_orders in orders.items():
        assert len(shown_orders) == 16
        assert len({tuple(order[1:]) for order in shown_orders}) > 8
        for number, *shown in shown_orders:
            row = rows[name, site.desk.tasks.get_item(task, number).hidden["case"]]
            assert row["option"] == LETTERS[shown[2]]
            assert (row["role"], row["specialty"], row["question"], row["trial"]) == (
                "attending",
                "Surgery",
                "mcq",
                "0",
            )
            assert row["confidence"] == "0.8"
    assert sorted(orders["Ann"]) != sorted(orders["Bob"])


def test_a_sitting_begins_with_the_rules_and_ends_with_a_confirmation(site):
    visitor = enter(site, "Ann", "attending", "Surgery")
    task = site.make_task(
        "exam", "set", ["role:attending"], cases="3", rules="Books yes, <b>phones</b> no.", confidence="yes"
    )
    page = visitor.get(f"/tasks/{task.id}/next")
    assert "Books yes, &lt;b&gt;phones&lt;/b&gt; no." in page.text
    refused = visitor.submit(str(page.url), {"once": once(page.text)})
    assert refused.status_code == 422
    sit(visitor, task, gold, ai="no")
    assert "All done" in visitor.get(f"/tasks/{task.id}").text
    (attempt,) = [
        json.loads(line) for line in site.admin.get(f"/admin/tasks/{task.id}/export/sittings.jsonl").text.splitlines()
    ]
    assert attempt["rules"] == "Books yes, <b>phones</b> no."
    assert (attempt["ai"], attempt["asked"], attempt["answered"]) == ("no", 3, 3)
    assert attempt["right_within"] + attempt["right_outside"] == 3
    assert attempt["begun"] < attempt["ended"]
    assert "Books yes" in site.admin.get(f"/admin/tasks/{task.id}").text


def test_who_used_an_ai_tool_or_has_not_finished_is_kept_apart(site):
    task = site.make_task("exam", "set", ["role:attending"], cases="3", confidence="yes")
    honest, used, late = (enter(site, name, "attending", "") for name in ("Hon", "Uma", "Lea"))
    sit(honest, task, gold)
    sit(used, task, gold, ai="yes")
    page = late.get(f"/tasks/{task.id}/next")
    late.submit(str(page.url), {"once": once(page.text), "agreed": "yes"})
    page = late.get(f"/tasks/{task.id}/next")
    late.submit(str(page.url), {"once": once(page.text), "option": "0", "confidence": "50"})
    assert {row["person"] for row in exported(site, task)} == {"Hon"}
    assert Counter(row["person"] for row in exported(site, task, "answers-all.csv")) == {"Hon": 3, "Uma": 3, "Lea": 1}
    assert "an AI tool was used" in site.admin.get(f"/admin/tasks/{task.id}").text


def test_no_going_back_and_no_running_ahead(site):
    visitor = enter(site, "Ann", "attending", "Surgery")
    task = site.make_task("exam", "set", ["role:attending"], cases="4", confidence="yes")
    assert visitor.get("/").status_code == 200  # draws
    mine = {row["item"] for row in site.desk.store.rows("SELECT item FROM wanted WHERE task = ?", task.id)}
    assert len(mine) == 6
    for number in range(2, 43):
        assert visitor.get(f"/tasks/{task.id}/items/{number}").status_code == 404
    page = visitor.get(f"/tasks/{task.id}/next")
    visitor.submit(str(page.url), {"once": once(page.text), "agreed": "yes"})
    page = visitor.get(f"/tasks/{task.id}/next")
    first = str(page.url)
    for bad in (
        {"option": "5", "confidence": "80"},
        {"option": "1"},
        {"confidence": "80"},
        {"option": "x", "confidence": "80"},
    ):
        assert visitor.submit(first, {"once": once(page.text), **bad}).status_code == 422
    assert visitor.submit(first, {"once": once(page.text), "option": "1", "confidence": "80"}).status_code == 200
    assert visitor.get(first).status_code == 404
    number = first.rsplit("/", 1)[1]
    said = {"said": {"option": 2, "confidence": 0.5, "seconds": 1}, "once": "again-and-again"}
    assert visitor.submit_json(f"/api/tasks/{task.id}/items/{number}/verdict", said).status_code == 404


def test_going_back_where_the_task_allows_it_until_the_end(site):
    visitor = enter(site, "Ann", "attending", "Surgery")
    task = site.make_task("exam", "set", ["role:attending"], cases="3", back="yes", confidence="yes")
    page = visitor.get(f"/tasks/{task.id}/next")
    visitor.submit(str(page.url), {"once": once(page.text), "agreed": "yes"})
    page = visitor.get(f"/tasks/{task.id}/next")
    first = str(page.url)
    visitor.submit(first, {"once": once(page.text), "option": "1", "confidence": "80"})
    again = visitor.get(first)
    assert re.search(r'value="1" required[^>]* checked', again.text)
    visitor.submit(first, {"once": once(again.text), "option": "2", "confidence": "30"})
    sit(visitor, task, gold)
    assert visitor.get(first).status_code == 404
    number = int(first.rsplit("/", 1)[1])
    (row,) = [
        row for row in exported(site, task) if row["case"] == site.desk.tasks.get_item(task, number).hidden["case"]
    ]
    assert (row["option"], row["confidence"]) == ("C", "0.3")


def test_the_sitting_goes_on_where_it_was_when_the_browser_was_closed(site):
    visitor = enter(site, "Ann", "attending", "Surgery")
    task = site.make_task("exam", "set", ["role:attending"], cases="5", confidence="yes")
    page = visitor.get(f"/tasks/{task.id}/next")
    visitor.submit(str(page.url), {"once": once(page.text), "agreed": "yes"})
    page = visitor.get(f"/tasks/{task.id}/next")
    number = str(page.url).rsplit("/", 1)[1]
    draft = {"form": {"option": ["3"], "seconds": ["41.5"]}}
    assert visitor.submit_json(f"/api/tasks/{task.id}/items/{number}/draft", draft).status_code == 200
    other = Visitor(site, visitor.person)  # another browser
    back = other.get(f"/tasks/{task.id}/next")
    assert str(back.url) == str(page.url)
    assert re.search(r'value="3" required[^>]* checked', back.text)
    assert 'name="seconds" value="41.5"' in back.text


def test_seconds_are_what_the_page_counted_and_never_more_than_it_was_open(site):
    visitor = enter(site, "Ann", "attending", "Surgery")
    task = site.make_task("exam", "set", ["role:attending"], cases="1", confidence="yes")
    page = visitor.get(f"/tasks/{task.id}/next")
    visitor.submit(str(page.url), {"once": once(page.text), "agreed": "yes"})
    page = visitor.get(f"/tasks/{task.id}/next")
    visitor.submit(str(page.url), {"once": once(page.text), "option": "1", "confidence": "80", "seconds": "5000"})
    (row,) = exported(site, task, "answers-all.csv")
    assert 0 <= float(row["seconds"]) < 60


def test_a_chain_is_sat_stage_by_stage_with_ones_own_answers(tmp_path):
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [chain_case(number) for number in range(4)])
    visitor = enter(site, "Ann", "specialist", "Ophthalmology")
    task = site.make_task("exam", "set", ["role:specialist"], cases="2", back="yes", confidence="yes")
    stages: list[tuple[str, list[str]]] = []

    def choose(item, page) -> int:
        own = re.findall(r"<dd>(.*?)</dd>", page)
        stages.append((item.hidden["question"], own))
        number = item.hidden["case"].rsplit("-", 1)[1]
        names = ["AL", "DD", "SG"][: len(own)]
        assert own == [f"{name} z of {number}" for name in names]  # what this person said, right or wrong
        return 2

    sit(visitor, task, choose)
    assert [(stage, len(own)) for stage, own in stages] == [("AL", 0), ("DD", 1), ("SG", 2)] * 2
    rows = exported(site, task)
    assert Counter(row["question"] for row in rows) == {"AL": 2, "DD": 2, "SG": 2}
    assert {row["option"] for row in rows} == {"C"}


def test_a_chain_does_not_show_what_follows(tmp_path):
    """That severity will be asked would tell that there is a disease: chains of one, two and three begin alike."""
    site = DeskSite(tmp_path)
    cases = [chain_case(number) for number in range(6)]
    for number, case in enumerate(cases):
        del case["questions"][1 + number % 3 :]
    write_set(site.root / "set", cases)
    visitor = enter(site, "Ann", "specialist", "Ophthalmology")
    task = site.make_task("exam", "set", ["role:specialist"], cases="6", confidence="yes")
    steps: set[tuple[str, str]] = set()

    def choose(item, page) -> int:
        (kicker,) = re.findall(r"</a> · Question \d+ of 12([^<]*)<", page)
        steps.add((item.hidden["question"], kicker.strip(" ·")))
        assert not re.search(r"\bof [123] on this patient", page)
        return 0

    sit(visitor, task, choose)
    assert steps == {("AL", ""), ("DD", "step 2 on this patient"), ("SG", "step 3 on this patient")}


def test_no_page_of_a_sitting_tells_the_right_answer_or_the_case(site):
    visitor = enter(site, "Ann", "attending", "Surgery")
    task = site.make_task("exam", "set", ["role:attending"], cases="2", confidence="yes")

    def choose(item, page) -> int:
        assert item.hidden["case"] not in page
        assert '"gold"' not in page
        return 0

    sit(visitor, task, choose)
    assert "case-" not in visitor.get(f"/tasks/{task.id}").text


def test_a_script_in_a_case_is_text(tmp_path):
    site, script = DeskSite(tmp_path), "<script>alert(1)</script>"
    scripted = exam_case(1, history=script, findings=script)
    scripted["questions"][0] |= {"prompt": script, "options": [f"{script}{number}" for number in range(5)]}
    write_set(site.root / "set", [scripted])
    visitor = enter(site, script, "attending", script)
    task = site.make_task("exam", "set", ["role:attending"], cases="1", confidence="yes", rules=script)
    pages = [site.admin.get(f"/admin/tasks/{task.id}").text, visitor.get(f"/tasks/{task.id}").text]

    def choose(item, page) -> int:
        pages.append(page)
        return 0

    sit(visitor, task, choose)
    pages += [site.admin.get(f"/admin/tasks/{task.id}").text, site.admin.get(f"/admin/tasks/{task.id}/items/2").text]
    assert pages[2].count("&lt;script&gt;alert(1)") == 8 + 1  # history, findings, question, five options; the name
    for page in pages:
        assert script not in page
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=)", page)


def test_open_questions_are_written(tmp_path):
    site = DeskSite(tmp_path)
    asked = {"id": "dx", "kind": "open", "prompt": "Diagnosis?", "gold": "gout"}
    write_set(site.root / "set", [{"id": "c", "history": "Pain.", "questions": [asked]}])
    visitor = enter(site, "Ann", "resident", "")
    task = site.make_task("exam", "set", ["role:resident"], kinds="open")  # nobody is asked how sure they are
    page = visitor.get(f"/tasks/{task.id}/next")
    visitor.submit(str(page.url), {"once": once(page.text), "agreed": "yes"})
    page = visitor.get(f"/tasks/{task.id}/next")
    assert "How sure" not in page.text
    assert visitor.submit(str(page.url), {"once": once(page.text), "answer": " "}).status_code == 422
    visitor.submit(str(page.url), {"once": once(page.text), "answer": "=gout,  acute"})
    (row,) = exported(site, task, "answers-all.csv")
    assert row["option"].strip() == "=gout, acute"
    assert row["confidence"] == ""


def test_a_set_without_such_questions_is_refused(site):
    form = {"kind": "exam", "project": "P", "name": "N", "source": "set", "kinds": "open"}
    answer = site.admin.submit("/admin/tasks/new", form)
    assert answer.status_code == 422
    assert "nothing to read" in answer.text
    answer = site.admin.submit("/admin/tasks/new", form | {"kinds": "choice", "share": "2"})
    assert "share is between 0 and 1" in answer.text


# ClinBench's exam


def preset_values(site: DeskSite, preset: str) -> dict[str, str]:
    """The settings as the form of a preset has them."""
    page = site.admin.get(f"/admin/tasks/new?kind=exam&preset={preset}")
    assert page.status_code == 200
    values = dict(re.findall(r'<input name="(\w+)" value="([^"]*)"', page.text))
    values |= dict(re.findall(r'<textarea name="(\w+)"[^>]*>([^<]*)<', page.text))
    values |= dict(re.findall(r'<select name="(\w+)">.*?<option selected>([^<]*)<', page.text))
    return values | dict(re.findall(r'<input type="checkbox" name="(\w+)" value="(yes)" checked', page.text))


def told_with_an_image(number: int, specialty: str) -> dict:
    case = exam_case(number, specialty)
    case["tellings"]["multimodal"] = {"history": f"Patient {number}, shown.", "images": []}
    return case


def test_clinbenchs_exam_is_half_of_the_own_specialty_and_half_of_one_other(tmp_path):
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [told_with_an_image(number, SPECIALTIES[number % 4]) for number in range(240)])
    people = [enter(site, name, "attending", "Surgery") for name in ("Ann", "Bob", "Cyd")]
    values = preset_values(site, "clinbench")
    assert (values["own"], values["other"], values["telling"], values["no_ai"]) == ("50", "50", "multimodal", "yes")
    assert "literature and textbooks" in values["rules"]
    assert "AI tools of any kind are prohibited" in values["rules"]
    assert "confidence" not in values
    task = site.make_task("exam", "set", ["role:attending"], **values)
    others = []
    for visitor in people:
        assert "0 of 100 questions answered" in visitor.get("/").text
        rows = site.desk.store.rows(
            "SELECT item FROM wanted WHERE task = ? AND level = ?", task.id, f"sitting of {visitor.person.name}"
        )
        drawn = [site.desk.tasks.get_item(task, row["item"]).hidden.get("specialty") for row in rows]
        count = Counter(name for name in drawn if name)
        assert count.pop("Surgery") == 50
        ((other, asked),) = count.items()
        assert asked == 50
        others.append(other)
    assert sorted(others) == ["Dentistry", "Orthopedics", "Pediatrics"], "each of the three gets another specialty"


def test_clinbenchs_exam_begins_when_no_ai_tool_is_promised_and_keeps_that(tmp_path):
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [told_with_an_image(number, SPECIALTIES[number % 2]) for number in range(12)])
    visitor = enter(site, "Ann", "attending", "Surgery")
    values = preset_values(site, "clinbench") | {"own": "2", "other": "1"}
    task = site.make_task("exam", "set", ["role:attending"], **values)
    page = visitor.get(f"/tasks/{task.id}/next")
    assert visitor.submit(str(page.url), {"once": once(page.text), "agreed": "yes"}).status_code == 422
    form = {"once": once(page.text), "agreed": "yes", "no_ai": "yes"}
    assert visitor.submit(str(page.url), form).status_code == 200
    sit(visitor, task, gold)
    (line,) = site.admin.get(f"/admin/tasks/{task.id}/export/sittings.jsonl").text.splitlines()
    attempt = json.loads(line)
    assert (attempt["no_ai"], attempt["ai"], attempt["asked"]) == (True, "no", 3)
    assert (attempt["within"], attempt["outside"]) == (2, 1)
