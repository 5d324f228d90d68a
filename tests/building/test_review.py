"""The human check: verdicts, kappa, arbitration, disputes and edits; the set that was built is not changed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from wardround.building.review.items import list_items
from wardround.building.review.review import review
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case
from wardround.core.errors import BadInput, WardroundError

ANN, BEN, CAY = "ann", "ben", "cay"
DAY = "2026-03-01T10:{:02}:00Z"


def case(number: int, **more: Any) -> dict[str, Any]:
    choice = {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": ["gout", "lupus"], "gold": 0}
    return {"id": f"c{number}", "history": f"Patient {number}.", "questions": [choice], **more}


def built_set(folder: Path, count: int = 10, queues: dict[str, list[dict[str, Any]]] | None = None) -> Path:
    """A set as a build leaves it."""
    write_case_set((Case.model_validate(case(number)) for number in range(count)), folder)
    (folder / "funnel.csv").write_text(
        "step,records_in,records_out,reasons,calls,tokens,money\nread,12,10,2 no history,0,0,0.0\n"
    )
    (folder / "rejected.jsonl").write_text('{"record":"x","step":"read","reason":"no history","detail":""}\n')
    (folder / "manifest.json").write_text('{"seed": 3}')
    for name, lines in (queues or {}).items():
        (folder / "review").mkdir(exist_ok=True)
        (folder / "review" / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def verdict_line(
    item: str, reviewer: str, verdict: str, minute: int = 0, level: str = "student", **more: Any
) -> dict[str, Any]:
    return {
        "item": item,
        "reviewer": reviewer,
        "level": level,
        "verdict": verdict,
        "time": DAY.format(minute),
        **more,
    }


def write(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def everything(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_fifth_is_read_twice_drawn_by_seed(tmp_path):
    queue = [{"id": f"c{number % 5}", "reason": "was cut"} for number in range(10)]
    cases = CaseSet.open(built_set(tmp_path / "set", 11, {"findings": queue}))
    items = list_items(cases)
    assert len(items) == 21
    twice = [item for item in items if item.levels == ("student", "physician")]
    assert [sum(item.queue == name for item in twice) for name in ("cases", "findings")] == [3, 2]  # rounded up
    assert items == list_items(cases)
    assert [item.levels for item in items] != [item.levels for item in list_items(cases, seed=1)]
    assert [item.item for item in items][11:] == [
        *(f"findings/c{number}" for number in range(5)),
        *(f"findings/c{number}#2" for number in range(5)),
    ]
    queue[0]["level"] = "physician"
    built_set(tmp_path / "other", 1, {"findings": queue})
    assert list_items(CaseSet.open(tmp_path / "other"), share=0)[1].levels == ("physician",)


def test_a_physician_checks_a_random_number_of_cases_and_the_others_stay(tmp_path):
    queue = [{"id": f"c{number}", "reason": "was cut"} for number in range(5)]
    folder = built_set(tmp_path / "set", 60, {"findings": queue})
    items = list_items(CaseSet.open(folder), check=50)
    cases = [item for item in items if item.queue == "cases"]
    assert {item.levels for item in cases} == {("physician",)}
    assert len(cases) == 50
    assert sum(item.queue == "findings" for item in items) == 5
    assert items == list_items(CaseSet.open(folder), check=50)
    assert items != list_items(CaseSet.open(folder), check=50, seed=1)
    assert len(list_items(CaseSet.open(folder), check=1000)) == 65
    lines = [verdict_line(item.item, ANN, "keep", level="physician") for item in cases[1:]]
    lines.append(verdict_line(cases[0].item, ANN, "discard", level="physician", reasons=["two options are right"]))
    result = review(folder, [write(tmp_path / "v.jsonl", lines)], tmp_path / "new", share=0, check=50)
    assert result.funnel.records_out == 59
    assert json.loads((tmp_path / "new" / "manifest.json").read_text())["review"]["check"] == 50


def pairs(table: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    return [pair for pair, count in table.items() for _ in range(count)]


def readings(verdict_pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    edits = {"edit": {"history": "Better."}}
    lines = []
    for number, pair in enumerate(verdict_pairs):
        for minute, (reviewer, verdict) in enumerate(zip((ANN, BEN), pair, strict=True)):
            level = "physician" if reviewer == BEN else "student"
            more = {"edits": edits[verdict]} if verdict in edits else {}
            lines.append(verdict_line(f"cases/c{number}", reviewer, verdict, minute, level, **more))
    return lines


def test_kappa_by_hand_and_by_scikit_learn(tmp_path):
    """40 items: p_o = 30/40; p_e = .6 * .65 + .4 * .35 = .53; kappa = .22 / .47."""
    both = pairs({("keep", "keep"): 20, ("discard", "discard"): 10, ("keep", "discard"): 4, ("discard", "keep"): 6})
    folder = built_set(tmp_path / "set", 40)
    result = review(folder, [write(tmp_path / "v.jsonl", readings(both))], tmp_path / "new", share=1)
    (batch,) = result.agreements
    assert (batch.queue, batch.one, batch.other, batch.items, batch.agreed) == ("cases", ANN, BEN, 40, 30)
    assert batch.kappa == pytest.approx(0.22 / 0.47)
    assert batch.kappa == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))
    assert result.funnel.reasons == {"discarded by reviewers": 10, "in arbitration": 10}
    assert result.funnel.records_out == 20
    wanted = read_lines(tmp_path / "new" / "reviewed" / "items.jsonl")
    assert len(wanted) == 10
    assert all(line["arbitration"] and line["level"] == "physician" and len(line["readings"]) == 2 for line in wanted)


def test_in_a_good_batch_the_physician_counts(tmp_path):
    """Kappa of 38 of 40 the same is above 0.8: no arbitration."""
    both = pairs({("keep", "keep"): 20, ("discard", "discard"): 18, ("keep", "discard"): 1, ("discard", "keep"): 1})
    folder = built_set(tmp_path / "set", 40)
    result = review(folder, [write(tmp_path / "v.jsonl", readings(both))], share=1)
    assert result.agreements[0].kappa == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))
    assert result.agreements[0].kappa > 0.8
    assert [decision.verdict for decision in result.decisions[38:]] == ["discard", "keep"]
    few = built_set(tmp_path / "few", 20)
    result = review(few, [write(tmp_path / "w.jsonl", readings(both[20:]))], share=1)
    assert result.funnel.reasons["in arbitration"] == 2  # kappa of fewer than 30 items does not count


def test_three_classes_and_a_kappa_that_is_not_defined(tmp_path):
    both = pairs({("keep", "keep"): 10, ("edit", "edit"): 5, ("edit", "keep"): 3, ("discard", "edit"): 2})
    result = review(built_set(tmp_path / "set", 20), [write(tmp_path / "v.jsonl", readings(both))], share=1)
    assert result.agreements[0].kappa == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))
    result = review(
        built_set(tmp_path / "one", 3), [write(tmp_path / "w.jsonl", readings([("keep", "keep")] * 3))], share=1
    )
    assert result.to_dict()["agreement"][0]["kappa"] is None
    assert result.to_dict()["states"] == {"settled": 3}


def test_arbitration_settles_by_majority_and_a_lasting_dispute_is_discarded(tmp_path):
    folder = built_set(tmp_path / "set", 3)
    lines = readings([("keep", "discard"), ("keep", "discard"), ("keep", "keep")])
    lines += [
        verdict_line("cases/c0", CAY, "discard", 5, "physician", reasons=["two options are right"]),
        verdict_line("cases/c1", CAY, "edit", 5, "physician", edits={"history": "Other."}),
    ]
    result = review(folder, [write(tmp_path / "v.jsonl", lines)], tmp_path / "new", share=1)
    assert [(decision.state, decision.verdict) for decision in result.decisions] == [
        ("settled", "discard"),
        ("persistent dispute", "discard"),
        ("settled", "keep"),
    ]
    assert CaseSet.open(tmp_path / "new").ids == ["c2"]
    rejected = read_lines(tmp_path / "new" / "rejected.jsonl")
    assert [(line["record"], line["reason"], line["detail"]) for line in rejected] == [
        ("x", "no history", ""),
        ("c0", "discarded by reviewers", "two options are right"),
        ("c1", "persistent dispute", ""),
    ]
    assert result.agreements[0].items == 3  # the arbiter is not part of the pair


def test_a_review_adds_held_cases_and_edits_and_leaves_the_old_set_alone(tmp_path):
    """Unread cases stay, and every edit is recorded with the old value."""
    queues = {
        "burned-in": [{"id": "h1", "reason": "text may be burned in", "case": case(1) | {"id": "h1"}}],
        "text": [{"id": "h2", "reason": "was masked", "case": case(2) | {"id": "h2"}}],
        "diagnosis": [{"id": "gone", "reason": "several final diagnoses"}],
    }
    folder = built_set(tmp_path / "set", 4, queues)
    before = everything(folder)
    edits = {"history": "Clearer.", "questions.mcq.options": ["gout", "mumps", "lupus"], "patient": {"age": 5}}
    lines = [
        verdict_line("burned-in/h1", ANN, "keep"),
        verdict_line("diagnosis/gone", ANN, "keep"),
        verdict_line("cases/c1", ANN, "edit", edits=edits, reasons=["unclear"]),
        verdict_line("cases/c2", ANN, "keep", 1),
        verdict_line("cases/c2", ANN, "discard", 2, reasons=["wrong"]),  # changed their mind
    ]
    files = [write(tmp_path / "a.jsonl", lines[:2]), write(tmp_path / "b.jsonl", lines[2:])]
    result = review(folder, files, tmp_path / "new", share=0)
    assert everything(folder) == before
    cases = CaseSet.open(tmp_path / "new", strict=True)
    assert cases.ids == ["c0", "c1", "c3", "h1"]
    assert cases.case(1).history == "Clearer."
    assert cases.case(1).questions[0].options == ["gout", "mumps", "lupus"]
    assert cases.case(1).patient.age == 5
    changes = read_lines(tmp_path / "new" / "reviewed" / "changes.jsonl")
    assert [(line["field"], line["before"]) for line in changes] == [
        ("history", "Patient 1."),
        ("questions.mcq.options", ["gout", "lupus"]),
        ("patient", None),
    ]
    with (tmp_path / "new" / "funnel.csv").open() as opened:
        assert [
            (row["step"], row["records_in"], row["records_out"], row["reasons"]) for row in csv.DictReader(opened)
        ] == [
            ("read", "12", "10", "2 no history"),
            ("review", "6", "4", "1 discarded by reviewers; 1 held: not decided yet"),
        ]
    assert [line["item"] for line in read_lines(tmp_path / "new" / "reviewed" / "items.jsonl")] == [
        "cases/c0",
        "cases/c3",
        "text/h2",
    ]
    assert result.without_case == 1
    manifest = json.loads((tmp_path / "new" / "manifest.json").read_text())
    assert manifest["seed"] == 3
    assert (manifest["cases"]["cases"], manifest["review"]["verdicts"]) == (4, 4)
    review(folder, files[::-1], tmp_path / "again", share=0)
    assert everything(tmp_path / "again") == everything(tmp_path / "new")


def test_a_case_that_waits_for_a_second_reading_stays(tmp_path):
    folder = built_set(tmp_path / "set", 2)
    lines = [verdict_line("cases/c0", ANN, "discard"), verdict_line("cases/c1", BEN, "keep", level="physician")]
    result = review(folder, [write(tmp_path / "v.jsonl", lines)], share=1)
    assert result.to_dict()["states"] == {"awaits a second reading": 2}
    assert [(line["item"], line["level"]) for line in result.to_read()] == [
        ("cases/c0", "physician"),
        ("cases/c1", "student"),
    ]
    assert result.funnel.records_out == 2


def test_a_verdict_file_may_have_a_byte_order_mark_and_empty_lines(tmp_path):
    folder = built_set(tmp_path / "set", 2)
    file = write(tmp_path / "v.jsonl", [verdict_line("cases/c0", ANN, "discard")])
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n\r\n"))
    review(folder, [file], tmp_path / "new", share=0)
    assert [left.id for left in CaseSet.open(tmp_path / "new")] == ["c1"]


def test_only_the_images_of_the_new_set_are_copied(tmp_path):
    folder = tmp_path / "set"
    (folder / "images").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (folder / "images" / f"{name}.png").write_bytes(name.encode())
    images = [{"path": "images/a.png"}, {"path": "images/b.png", "modality": "CT"}]
    held = case(0, images=[{"path": "images/c.png"}])
    built_set(folder, 0, {"burned-in": [{"id": "c0", "case": held}]})
    write_case_set([Case.model_validate(case(1, images=images))], folder)
    lines = [verdict_line("cases/c1", ANN, "edit", edits={"images.0": None, "images.1.modality": "MRI"})]
    review(folder, [write(tmp_path / "v.jsonl", lines)], tmp_path / "new", share=0)
    (left,) = CaseSet.open(tmp_path / "new", strict=True)
    assert [(image.path, image.modality) for image in left.images] == [("images/b.png", "MRI")]
    assert [file.name for file in (tmp_path / "new" / "images").iterdir()] == ["b.png"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (verdict_line("cases/c99", ANN, "keep"), r"v\.jsonl:2: item: the set has no item 'cases/c99'"),
        (verdict_line("cases/c0", ANN, "maybe"), r"v\.jsonl:2: verdict: .*'keep', 'edit' or 'discard'"),
        (verdict_line("cases/c0", ANN, "edit"), "the verdict edit needs edits"),
        (verdict_line("cases/c0", ANN, "keep", edits={"history": "x"}), "the verdict edit needs edits"),
        (verdict_line("cases/c0", ANN, "keep", level="nurse"), "level"),
        (verdict_line("cases/c0", ANN, "keep", mood="good"), "mood: unknown key"),
        (
            verdict_line("cases/c0", ANN, "keep") | {"time": "yesterday"},
            "time is 'yesterday'; expected one like 2026-03-01T14:05:00Z",
        ),
        (
            verdict_line("cases/c0", ANN, "edit", edits={"histroy": "x"}),
            r"v\.jsonl:2: edits: there is no field 'histroy'",
        ),
        (verdict_line("cases/c0", ANN, "edit", edits={"id": "x"}), "no field 'id'"),
        (verdict_line("cases/c0", ANN, "edit", edits={"questions.open.gold": "x"}), "no field 'questions.open.gold'"),
        (
            verdict_line("cases/c0", ANN, "edit", edits={"questions.mcq.gold": 7}),
            "the case would be wrong: .*gold is 7",
        ),
        (verdict_line("cases/c1", ANN, "discard"), "'ann' gave another verdict on 'cases/c1' at the same time"),
    ],
)
def test_a_verdict_that_cannot_be_used_is_one_line(tmp_path, line, expected):
    folder = built_set(tmp_path / "set", 2)
    file = write(tmp_path / "v.jsonl", [verdict_line("cases/c1", ANN, "keep"), line])
    with pytest.raises(BadInput, match=expected) as raised:
        review(folder, [file], tmp_path / "new", share=0)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "new").exists()


def test_an_impossible_review_is_one_line(tmp_path):
    folder = built_set(tmp_path / "set", 2)
    review(folder, [], tmp_path / "new")
    with pytest.raises(BadInput, match="give the set that it was made of"):
        review(tmp_path / "new", [])
    with pytest.raises(BadInput, match="never overwritten"):
        review(folder, [], tmp_path / "new")
    with pytest.raises(WardroundError, match="between 0 and 1"):
        review(folder, [], share=2)
    with pytest.raises(BadInput, match="there is no such file"):
        review(folder, [tmp_path / "none.jsonl"])
    (tmp_path / "v.jsonl").write_text("{broken\n")
    with pytest.raises(BadInput, match=r"v\.jsonl:1: .*is not JSON"):
        review(folder, [tmp_path / "v.jsonl"])
    built_set(tmp_path / "bad", 1, {"text": [{"name": "no id"}]})
    with pytest.raises(BadInput, match=r"text\.jsonl:1: expected an object with an id"):
        review(tmp_path / "bad", [])


def test_a_held_case_of_a_dicom_build_is_added(tmp_path):
    from hospital import PATIENTS, hospital, save, study_uid, ultrasound

    from wardround.building.sources.dicom.build import build_dicom

    files, table = hospital(tmp_path, slices=1)
    save(ultrasound(PATIENTS[1], study_uid(1)), files / "us.dcm")
    build_dicom(files, table, tmp_path / "set")
    (item,) = [item for item in list_items(CaseSet.open(tmp_path / "set"), share=0) if item.queue == "burned-in"]
    suspect = item.shown["images"][0]["image"]
    number = [image["path"] for image in item.held_case["images"]].index(suspect)
    lines = [verdict_line(item.item, ANN, "edit", edits={f"images.{number}": None}, reasons=["name in the image"])]
    result = review(tmp_path / "set", [write(tmp_path / "v.jsonl", lines)], tmp_path / "new", share=0)
    assert (result.funnel.records_in, result.funnel.records_out) == (6, 6)
    cases = CaseSet.open(tmp_path / "new", strict=True)
    assert item.case in cases.ids
    assert not (tmp_path / "new" / suspect).exists()
