"""Eye images with labels become chains: the questions, their distractors, and what people still write."""

from __future__ import annotations

import csv
import json
import tomllib
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer, text_of
from eye_table import EYES, eye_table, write_table
from killed_build import killed_and_left_alone
from PIL import Image, PngImagePlugin

from wardround.building.audit.audit import audit
from wardround.building.review.review import review
from wardround.building.sources.ophthalmic.build import build_ophthalmic
from wardround.building.sources.ophthalmic.schema import read_tables
from wardround.building.sources.ophthalmic.severity import RULE
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import CandidateSettings

SCHEMA = tomllib.loads(
    resources.files("wardround.building.sources.ophthalmic").joinpath("schema.toml").read_text("utf-8")
)
NAMES = {other: name for name, disease in SCHEMA["diseases"].items() for other in (name, *disease.get("also", []))}
SEVERITIES = ["grade 1", "grade 2", "grade 3", "grade 4 (or higher)", "grade 4 (or higher)"]  # by rank, as offered
GIVEN = {"iqa": [], "al": ["iqa"], "lc": ["al"], "dd": ["lc"], "sg": ["dd"]}


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    return eye_table(tmp_path_factory.mktemp("clinic"), patients=2 * len(EYES))


@pytest.fixture(scope="module")
def built(table) -> Path:
    out = table.parent / "set"
    assert build_ophthalmic(table, out).cases == 2 * len(EYES)
    return out


@pytest.fixture(scope="module")
def cases(built) -> list[Case]:
    return list(CaseSet.open(built, strict=True))


def rows_of(table: Path) -> dict[str, list[dict[str, str]]]:
    rows_by_patient: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(table.open(encoding="utf-8")):
        rows_by_patient.setdefault(row["patient"], []).append(row)
    return rows_by_patient


def choices_of(case: Case) -> list[Question]:
    return [question for question in case.questions if question.kind == "choice"]


def answer(question: Question) -> str:
    return question.choices[question.gold]  # type: ignore[index]


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def one_row(folder: Path, **changes: str) -> Path:
    """A table of one good row, with these changes."""
    eye_table(folder, patients=1)
    row = next(csv.DictReader((folder / "eyes.csv").open()))
    return write_table(folder / "eyes.csv", [row | changes])


def test_right_answers_are_the_labels_of_the_table(table, cases):
    """One case a patient, one chain an image, each stage on the one before it; texts are the schema's."""
    for case, rows in zip(cases, rows_of(table).values(), strict=True):
        assert len(case.images) == len(rows)
        by_id = {question.id: question for question in case.questions}
        for number, row in enumerate(rows, start=1):
            disease = NAMES[row["disease"]]
            known = SCHEMA["diseases"][disease]
            wanted = {
                "iqa": SCHEMA["quality"][row["quality"]],
                "al": (row["anatomy"] or known["anatomy"][0]).split("|")[0],
                "lc": (row["lesions"] or known["lesions"][0]).split("|")[0],
                "dd": disease,
                **({"sg": SEVERITIES[list(known["grades"]).index(row["grade"])]} if row["grade"] else {}),
            }
            chain = {id.split("-")[0]: by_id[id] for id in by_id if by_id[id].chain == f"image-{number}"}
            assert {stage: answer(question) for stage, question in chain.items()} == wanted
            for stage, question in chain.items():
                assert question.given == [f"{parent}-{number}" for parent in GIVEN[stage]]
                assert question.stage == stage.upper()
                label = {"label": known["grades"][row["grade"]]} if stage == "sg" else {}
                assert question.model_extra == {"disease": disease} | label  # never shown
                assert question.images == [number - 1]
                assert case.images[number - 1].modality == row["modality"]


def test_distractors_are_of_the_same_attribute_and_wrong(table, cases):
    kinds = {"al": "anatomy", "lc": "lesions"}
    for case, rows in zip(cases, rows_of(table).values(), strict=True):
        for question in choices_of(case):
            stage, _, number = question.id.partition("-")
            assert len(set(question.choices)) == len(question.choices) >= 3
            if question.stage is None:
                continue
            row = rows[int(number) - 1]
            known = SCHEMA["diseases"][NAMES[row["disease"]]]
            others = [option for option in question.choices if option != answer(question)]
            if stage in kinds:
                visible = {name for name, shown in SCHEMA[kinds[stage]].items() if row["modality"] in shown}
                assert set(question.choices) <= visible
                assert not set(others) & set(row[kinds[stage]].split("|"))
            if stage == "lc":  # the table may not list every lesion that the disease has
                assert not set(others) & set(known["lesions"])
            if stage == "dd":
                assert all(row["modality"] in SCHEMA["diseases"][other]["modalities"] for other in others)
                assert not set(others) & set(known.get("never_beside", []))
            if stage == "sg":
                assert set(question.choices) == set(SEVERITIES)


def test_a_disease_is_right_in_one_of_four_of_the_times_it_is_offered(cases):
    offered: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for case in cases:
        for question in case.questions:
            if question.stage == "DD":
                offered.update(question.choices)
                right[answer(question)] += 1
    assert offered == {name: 4 * many for name, many in right.items()}


def test_the_set_passes_its_audit(built, tmp_path):
    result = audit(built, tmp_path / "audit", workers=1)
    assert result.findings == []


def test_levels_and_importance_come_from_stage_and_disease(cases):
    by_disease = {case.tags[0]: {q.id: q for q in case.questions} for case in cases}
    vasculopathy, healthy = by_disease["polypoidal choroidal vasculopathy"], by_disease["healthy eye"]
    assert [(vasculopathy[id].grade, vasculopathy[id].importance) for id in ("iqa-1", "lc-1", "dd-1")] == [
        ("R", 1.0),
        ("S", 1.0),
        ("S", 2.0),
    ]
    assert [(healthy[id].grade, healthy[id].importance) for id in ("iqa-1", "dd-1")] == [("R", 1.0), ("R", 1.0)]
    assert "sg-1" not in healthy  # what is healthy has no grade


def test_each_diagnosis_is_also_asked_openly_outside_the_chain(table, cases):
    """A ranked differential beside DD, of the same image, level and importance, in no chain and no stage."""
    for case, rows in zip(cases, rows_of(table).values(), strict=True):
        by_id = {question.id: question for question in case.questions}
        for number, row in enumerate(rows, start=1):
            choice, differential = by_id[f"dd-{number}"], by_id[f"differential-{number}"]
            disease = NAMES[row["disease"]]
            assert (differential.kind, differential.gold, differential.skill) == ("open", disease, "differential")
            assert differential.accept == SCHEMA["diseases"][disease].get("also", [])
            assert (differential.chain, differential.stage, differential.given) == (None, None, [])
            assert (differential.images, differential.grade) == (choice.images, choice.grade)
            assert differential.importance == choice.importance
            assert disease not in differential.prompt


def test_eyes_with_several_modalities_have_cross_modal_questions(cases):
    tasks: Counter[str] = Counter()
    for case in cases:
        modalities = [image.modality for image in case.images]
        for question in case.questions:
            if question.task is None:
                continue
            tasks[question.task] += 1
            assert question.images is not None
            assert len(modalities) > 1
            if question.task == "correspondence":  # what is named is not what is asked for
                assert answer(question) not in question.prompt
                assert len(question.images) == 2
            if question.task == "integration":
                assert (question.images, answer(question)) == ([*range(len(modalities))], case.tags[0])
            if question.task == "selection" and answer(question) == "indocyanine green angiography":
                assert "ICGA" not in [modalities[number] for number in question.images]
    assert tasks == {"integration": 8, "correspondence": 12, "selection": 8}


def test_a_wrong_row_is_one_line_and_the_others_are_built(tmp_path):
    table = eye_table(tmp_path, patients=2)
    good = list(csv.DictReader(table.open()))
    (tmp_path / "broken.png").write_bytes(b"no image")
    changed = [
        ({"image": "gone.png"}, "there is no such image"),
        ({"image": "broken.png"}, "the image cannot be decoded"),
        ({"disease": "diabetic retinopaty"}, "unknown disease"),
        ({"disease": ""}, "disease is empty"),
        ({"modality": "MRI"}, "unknown modality"),
        ({"modality": "EP"}, "the schema does not have the disease on this modality"),
        ({"lesions": "soft drusen"}, "unknown lesions"),
        ({"lesions": "drusen"}, "lesions that the schema does not have with the disease"),
        ({"lesions": "subretinal fluid"}, "lesions that the modality does not show"),
        ({"grade": "7"}, "unknown grade"),
        ({"quality": "superb"}, "unknown quality"),
        ({"importance": "much"}, "importance is not a number of at least 0"),
    ]
    good[1]["age"] = "old"
    rows = [*good, *(good[0] | change for change, _ in changed)]
    with table.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, [*good[0], "importance", "camera"], restval="")
        writer.writeheader()
        writer.writerows(rows)
    notes: list[str] = []
    built = build_ophthalmic(table, tmp_path / "set", note=notes.append)
    assert built.cases == 2
    rejected = lines(tmp_path / "set" / "rejected.jsonl")
    first = len(good) + 2
    assert [line["record"] for line in rejected] == [f"line {first + place}" for place in range(len(changed))]
    assert [line["reason"] for line in rejected] == [reason for _, reason in changed]
    assert (
        f"eyes.csv:{first + 2}: unknown disease: 'diabetic retinopaty'; did you mean 'diabetic retinopathy'?" in notes
    )
    assert "eyes.csv: columns that are not read: camera" in notes
    assert "eyes.csv:3: age 'old' is not a number from 0 to 130, and is left out" in notes
    assert f"eyes.csv:{first + 9}: unknown grade: '7'; there are " in "\n".join(notes)
    of_disease = next(
        note for note in notes if "lesions that the schema does not have with the disease: 'drusen'" in note
    )
    assert "; expected some of microaneurysms, " in of_disease
    assert (built.funnel[0].records_in, built.funnel[0].records_out) == (len(rows), len(good))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("image,disease\na.png,DR\n", r"eyes.csv:1: expected the columns image, modality, disease; modality missing"),
        ("image,modality,disease\n", "eyes.csv: has no rows"),
        ("image,modality,disease,disease\na.png,CFP,DR,DR\n", "eyes.csv:1: two columns mean the same"),
        ("image,modality,disease\nnone.png,CFP,DR\n", "eyes.csv: no row became a case; 1 x there is no such image"),
    ],
)
def test_a_table_without_a_usable_row_is_one_line(tmp_path, text, expected):
    (tmp_path / "eyes.csv").write_text(text)
    with pytest.raises(WardroundError, match=expected):
        build_ophthalmic(tmp_path / "eyes.csv", tmp_path / "set")
    assert not (tmp_path / "set" / "cases.jsonl").exists()


def test_an_image_that_cannot_be_graded_is_asked_for_its_quality_only(tmp_path):
    build_ophthalmic(one_row(tmp_path, quality="ungradable"), tmp_path / "set")
    (case,) = CaseSet.open(tmp_path / "set", strict=True)
    (question,) = case.questions
    assert (question.stage, question.chain, answer(question)) == ("IQA", None, "not gradable, has to be taken again")


def test_a_label_that_is_missing_leaves_its_stage_out_of_the_chain(tmp_path):
    build_ophthalmic(one_row(tmp_path, lesions="", grade=""), tmp_path / "set")
    (case,) = CaseSet.open(tmp_path / "set", strict=True)
    assert {question.id: question.given for question in choices_of(case)} == {
        "iqa-1": [],
        "al-1": ["iqa-1"],
        "dd-1": ["al-1"],
    }
    assert not (tmp_path / "set" / "review").exists()  # no decision without a grade


def test_lesions_of_the_same_disease_are_offered_where_the_table_lists_all(table, tmp_path):
    build_ophthalmic(table, tmp_path / "set", all_lesions=True)
    offered = {
        (case.tags[0], option)
        for case in CaseSet.open(tmp_path / "set", strict=True)
        for question in case.questions
        if question.stage == "LC"
        for option in question.choices
    }
    assert any(
        len(set(disease["lesions"]) & {option for offered_disease, option in offered if offered_disease == name}) > 2
        for name, disease in SCHEMA["diseases"].items()
    )


def test_a_patient_in_two_splits_and_a_revealing_history_are_rejected(tmp_path):
    table = eye_table(tmp_path, patients=3)
    rows = list(csv.DictReader(table.open()))
    rows[1]["split"], rows[2]["split"] = "train", "test"  # of one patient
    rows[0]["history"] = "Known diabetic retinopathy, blurred vision."
    built = build_ophthalmic(write_table(table, rows), tmp_path / "set")
    reasons = {line["record"]: line["reason"] for line in lines(tmp_path / "set" / "rejected.jsonl")}
    assert reasons == {
        "eye-00001": "history names the diagnosis",
        "eye-00002": "one patient is in several splits",
    }
    assert built.queues == {"decisions": 3, "history": 1}
    (held_line,) = lines(tmp_path / "set" / "review" / "history.jsonl")
    assert held_line["case"]["id"] == "eye-00001"


def test_an_image_file_that_names_its_disease_is_left_out(tmp_path):
    table = eye_table(tmp_path, patients=2)
    picture = tmp_path / next(csv.DictReader(table.open()))["image"]
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "diabetic retinopathy")
    Image.open(picture).save(picture, pnginfo=info)
    build_ophthalmic(table, tmp_path / "set")
    (rejected,) = lines(tmp_path / "set" / "rejected.jsonl")
    assert rejected["reason"] == "an image file names the diagnosis"
    names = {file.name for file in (tmp_path / "set" / "images").iterdir()}
    assert {name.split("-")[1] for name in names} == {"00002"}
    assert all(line["id"] != "eye-00001" for line in lines(tmp_path / "set" / "review" / "decisions.jsonl"))


def said(item: str, verdict: str, **more: Any) -> str:
    line = {"item": item, "reviewer": "Ann", "level": "physician", "verdict": verdict, "time": "2026-03-01T14:05:00Z"}
    return json.dumps(line | more)


def test_stage_six_enters_by_verdicts(table, built, tmp_path):
    """A chain of five is a chain of six once somebody kept or edited its decision; else it stays as it is."""
    queue = lines(built / "review" / "decisions.jsonl")
    assert len(queue) == sum(len(rows) for rows in rows_of(table).values())
    first, second, third, fourth = list(dict.fromkeys(line["id"] for line in queue))[:4]
    edits = {"questions.cd-1.options": ["laser", "nothing"], "questions.cd-1.gold": 1}
    (tmp_path / "verdicts.jsonl").write_text(
        "\n".join(
            [
                said(f"decisions/{first}", "keep"),
                said(f"decisions/{second}", "edit", edits=edits),
                said(f"decisions/{third}", "discard"),
            ]
        )
    )
    reviewed = review(built, [tmp_path / "verdicts.jsonl"], tmp_path / "out", share=0)
    after = {case.id: case for case in CaseSet.open(tmp_path / "out", strict=True)}
    assert len(after) == reviewed.funnel.records_out == 2 * len(EYES)
    decided = {id: [q for q in after[id].questions if q.stage == "CD"] for id in (first, second, third, fourth)}
    assert [len(questions) for questions in decided.values()] == [1, 1, 0, 0]
    (kept,), (written,) = decided[first], decided[second]
    disease = SCHEMA["diseases"][after[first].tags[0]]
    assert kept.given == ["dd-1", "sg-1"]
    assert answer(kept) in disease["management"]["1"]
    assert len(set(kept.choices) & {text for texts in disease["management"].values() for text in texts}) >= 1
    assert (written.options, answer(written)) == (["laser", "nothing"], "nothing")
    assert (tmp_path / "out" / "schema.toml").read_bytes() == (built / "schema.toml").read_bytes()


def model(name: str, url: str) -> CandidateSettings:
    return CandidateSettings(name=name, provider="openai", base_url=url, model=name)


def test_the_reviewer_is_another_model_than_the_writer(tmp_path):
    writer = model("same", "http://127.0.0.1:9")
    with pytest.raises(WardroundError, match=r"^\[reviewer\] must be another model than \[writer\] \(same\)"):
        build_ophthalmic(tmp_path / "t.csv", tmp_path / "set", models={"writer": writer, "reviewer": writer})
    with pytest.raises(WardroundError, match=r"needs another model as \[reviewer\]"):
        build_ophthalmic(tmp_path / "t.csv", tmp_path / "set", models={"writer": writer})


def test_a_writer_rewords_and_a_reviewer_holds(tmp_path):
    """A wording that names an option is not taken; a case that the reviewer objects to waits for people."""

    def answering(body: dict[str, Any], index: int) -> str:
        text = text_of(body)
        if body["model"] == "reviewer":
            asked = text.split("Marked as right: ")[1]
            return "The grade does not fit the lesions." if "too bright" in asked.split("\n")[0] else "OK"
        return "Is it the macula?" if ". macula\n" in text else "What do you see here, please?"

    table = eye_table(tmp_path, patients=6)
    with ExamServer(answering) as server:
        models = {name: model(name, server.url) for name in ("writer", "reviewer")}
        built = build_ophthalmic(table, tmp_path / "set", models=models, answers=tmp_path / "answers.sqlite")
    prompts = [
        (question.stage, "macula" in question.choices, question.prompt)
        for case in CaseSet.open(tmp_path / "set", strict=True)
        for question in choices_of(case)
    ]
    new = "What do you see here, please?"
    assert {named for stage, named, prompt in prompts if stage == "AL" and prompt == new} == {False}
    assert {prompt for stage, _, prompt in prompts if stage == "DD"} == {new}
    assert {prompt for stage, _, prompt in prompts if stage == "SG"} == {f"{new} {RULE}"}  # how to count stays
    assert all(prompt != new for stage, _, prompt in prompts if stage is None)
    held_lines = lines(tmp_path / "set" / "review" / "reviewer.jsonl")
    assert {line["id"] for line in held_lines} & {case.id for case in CaseSet.open(tmp_path / "set")} == set()
    assert built.cases + len({line["id"] for line in held_lines}) == 6
    assert held_lines[0]["objections"] == [
        {"question": held_lines[0]["objections"][0]["question"], "objection": "The grade does not fit the lesions."}
    ]
    funnel = {step.step: step for step in built.funnel}
    assert funnel["writer"].calls > 0
    assert funnel["reviewer"].calls > funnel["writer"].calls / 2


@pytest.mark.slow
def test_a_build_that_was_killed_writes_the_same_bytes(tmp_path):
    table = eye_table(tmp_path / "clinic", patients=3)
    killed, alone = killed_and_left_alone("ophthalmic", table, tmp_path, "OK")
    assert killed == alone
    assert {"schema.toml", "matrix.toml", "cases.jsonl", "review/decisions.jsonl"} <= set(killed)


def test_a_custom_schema_is_used(tmp_path):
    """Another file is used and copied; one that does not hang together is refused in one line."""
    text = resources.files("wardround.building.sources.ophthalmic").joinpath("schema.toml").read_text("utf-8")
    own = tmp_path / "own.toml"
    own.write_text(text.replace('"microaneurysms"', '"red dots"'))
    build_ophthalmic(one_row(tmp_path, lesions="red dots"), tmp_path / "set", schema=own)
    (case,) = CaseSet.open(tmp_path / "set", strict=True)
    assert "red dots" in [answer(question) for question in choices_of(case)]
    assert (tmp_path / "set" / "schema.toml").read_bytes() == own.read_bytes()
    own.write_text(text.replace('"microaneurysms" = ["CFP", "FFA"]', '"red dots" = ["CFP"]'))
    with pytest.raises(BadInput, match=r"own.toml: diseases.diabetic retinopathy.lesions: there is no lesion 'microan"):
        read_tables(schema=own)
    own.write_text('[[evidence]]\ndisease = "glaucoma"\nMRI = "drusen"\n')
    with pytest.raises(BadInput, match=r"own.toml: evidence\[0\]: there is no modality 'MRI'"):
        read_tables(matrix=own)
    own.write_text("[diseases")
    with pytest.raises(BadInput, match=r"own.toml: is not TOML"):
        read_tables(schema=own)


def test_there_are_52_diseases_each_with_its_row_of_modality_and_evidence():
    """As many as X-PCR has, besides the healthy eye; each modality of each disease has evidence of that disease."""
    diseases = {name: disease for name, disease in SCHEMA["diseases"].items() if not disease.get("healthy")}
    assert len(diseases) == 52
    matrix = tomllib.loads(
        resources.files("wardround.building.sources.ophthalmic").joinpath("matrix.toml").read_text("utf-8")
    )
    shown: dict[str, set[str]] = {}
    for row in matrix["evidence"]:
        modalities = {modality: lesion for modality, lesion in row.items() if modality != "disease"}
        shown.setdefault(row["disease"], set()).update(modalities)
        assert set(modalities.values()) <= set(diseases[row["disease"]]["lesions"]), row
    assert shown == {name: set(disease["modalities"]) for name, disease in diseases.items()}


def test_our_schema_uses_every_term():
    """Each disease shows a lesion in a region on each of its modalities, and each grade has its management."""
    used: set[str] = set()
    for name, disease in SCHEMA["diseases"].items():
        for kind in ("anatomy", "lesions"):
            used |= set(disease[kind])
            for modality in disease["modalities"]:
                assert any(modality in SCHEMA[kind][term] for term in disease[kind]), (name, kind, modality)
        assert set(disease["management"]) in ({"any"}, set(disease.get("grades", {})))
        for other in disease.get("never_beside", []):
            assert name in SCHEMA["diseases"][other]["never_beside"]
    assert used == set(SCHEMA["anatomy"]) | set(SCHEMA["lesions"])
    read_tables()  # the matrix fits it
