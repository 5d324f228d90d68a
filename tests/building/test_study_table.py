"""`wardround build table`: studies with diagnoses become choice questions among diagnoses of their own kind."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exam_study import wardround
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from wardround.building.sources.study_table.build import build_table
from wardround.cases.images import pixels, recipe_for
from wardround.core.case import Image as CaseImage
from wardround.core.errors import BadInput

MAP = """
patient = "pid"
diagnosis = "dx"
images = "file"
history = "notes"
age = "age"
sex = "sex"
modality = "mod"
region = "part"
identifiers = "surname"
"""
CHEST = ("tuberculosis", "sarcoidosis", "silicosis", "asbestosis")
KNEE = ("gout", "osteosarcoma", "patellar fracture")


def picture(file: Path, seed: int, **saved: Any) -> None:
    file.parent.mkdir(exist_ok=True)
    coarse = np.random.default_rng(seed).integers(20, 236, (6, 6), dtype=np.uint8)
    Image.fromarray(coarse).resize((64, 64), Image.Resampling.BICUBIC).save(file, **saved)


def rows(per_diagnosis: int = 4) -> list[dict[str, Any]]:
    return [
        {
            "pid": f"{part}{diagnosis[:3]}{number // 2}",
            "surname": "Okonkwo",
            "dx": diagnosis,
            "file": f"{diagnosis.replace(' ', '-')}-{number}.png",
            "notes": f"Pain for {number} weeks.",
            "age": 40 + number,
            "sex": "F",
            "mod": "radiograph",
            "part": part,
        }
        for part, diagnoses in (("CHEST", CHEST), ("knee", KNEE))
        for diagnosis in diagnoses
        for number in range(per_diagnosis)
    ]


def write(folder: Path, table_rows: list[dict[str, Any]], table_map: str = MAP) -> tuple[Path, Path]:
    for number, row in enumerate(table_rows):
        if not (folder / "images" / row["file"]).exists():
            picture(folder / "images" / row["file"], number)
    with (folder / "studies.csv").open("w", newline="") as lines:
        writer = csv.DictWriter(lines, list(table_rows[0]))
        writer.writeheader()
        writer.writerows(table_rows)
    (folder / "map.toml").write_text(table_map)
    return folder / "studies.csv", folder / "map.toml"


def build(
    folder: Path, table_rows: list[dict[str, Any]], table_map: str = MAP, **settings: Any
) -> list[dict[str, Any]]:
    build_table(*write(folder, table_rows, table_map), folder / "set", ocr=False, **settings)
    return [json.loads(line) for line in (folder / "set" / "cases.jsonl").read_text().splitlines()]


def queue(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "set" / "review" / f"{name}.jsonl").read_text().splitlines()]


def test_wrong_options_have_the_modality_and_body_region_of_the_study(tmp_path):
    cases = build(tmp_path, rows())

    for case in cases:
        choice, open_question = case["questions"]
        kind = CHEST if open_question["gold"] in CHEST else KNEE
        assert sorted(choice["options"]) == sorted(kind)  # all of its kind, and none of the other
        assert choice["options"][choice["gold"]] == open_question["gold"]
        assert case["images"][0]["modality"] == "X-ray"
    assert len(cases) == 28


def test_rows_of_one_patient_are_one_cluster_in_one_split_under_a_new_name(tmp_path):
    cases = build(tmp_path, rows())

    clusters = {case["cluster"] for case in cases}
    assert len(clusters) == 14  # two rows of each patient
    assert len({(case["cluster"], case["split"]) for case in cases}) == 14
    text = (tmp_path / "set" / "cases.jsonl").read_text() + (tmp_path / "set" / "manifest.json").read_text()
    assert "CHESTtub0" not in text
    assert "tuberculosis-0" not in text
    assert "CHESTtub0" in (tmp_path / "studies.private" / "set.csv").read_text()


def test_rows_of_one_study_are_one_case_with_all_images(tmp_path):
    table = rows()
    for row in table:
        row["study"] = row["pid"]
        row["notes"] = "Pain."

    cases = build(tmp_path, table, MAP + 'study = "study"\n')

    assert [len(case["images"]) for case in cases] == [2] * 14


def test_a_row_that_contradicts_its_study_is_left_out_by_its_line(tmp_path):
    table = rows()
    for row in table:
        row["study"], row["notes"] = row["pid"], "Pain."
    table[1]["dx"] = "sarcoidosis"

    build(tmp_path, table, MAP + 'study = "study"\n')

    rejected = [json.loads(line) for line in (tmp_path / "set" / "rejected.jsonl").read_text().splitlines()]
    assert [(item["record"], item["reason"]) for item in rejected] == [
        ("row-3", "another diagnosis than the first row of its study")
    ]


def test_identifiers_are_masked_and_phrases_that_name_the_diagnosis_removed(tmp_path):
    table = rows()
    table[0]["notes"] = (
        "Mrs Okonkwo was seen on 12 March 2024. Cough and weight loss for six weeks, consistent with tuberculosis."
    )

    case = build(tmp_path, table)[0]

    assert "Okonkwo" not in case["history"]
    assert "2024" not in case["history"]
    assert "tuberculosis" not in case["history"]
    assert "Cough and weight loss for six weeks" in case["history"]
    assert "tuberculosis" in queue(tmp_path, "history")[0]["before"]
    assert queue(tmp_path, "text")[0]["masked"]["history"]["date"] == 1


def test_a_history_that_names_the_diagnosis_can_be_held(tmp_path):
    table = rows()
    table[0]["notes"] = "Cough and weight loss for six weeks, consistent with tuberculosis."

    cases = build(tmp_path, table, hold_named=True)

    assert len(cases) == 27
    assert queue(tmp_path, "history")[0]["reason"] == "names 'tuberculosis'"


def test_texts_inside_a_picture_are_not_copied_and_its_pixels_are(tmp_path):
    info = PngInfo()
    info.add_text("Comment", "Patient name: Adaeze Okonkwo")
    original = tmp_path / "images" / rows()[0]["file"]
    picture(original, 1, pnginfo=info)

    case = build(tmp_path, rows())[0]

    copy = tmp_path / "set" / case["images"][0]["path"]
    assert b"Okonkwo" not in copy.read_bytes()
    assert np.array_equal(np.asarray(Image.open(copy)), np.asarray(Image.open(original)))


def test_a_picture_that_its_exif_turns_is_still_upright_without_the_exif(tmp_path):
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "Patient name: Adaeze Okonkwo"  # turned by 90 degrees; description
    original = tmp_path / "images" / "turned.jpg"
    original.parent.mkdir()
    wide = np.random.default_rng(1).integers(20, 236, (5, 10), dtype=np.uint8)
    Image.fromarray(wide).resize((100, 50), Image.Resampling.BICUBIC).save(original, exif=exif)
    table = rows()
    table[0]["file"] = "turned.jpg"

    case = build(tmp_path, table)[0]

    copy = tmp_path / "set" / case["images"][0]["path"]
    before, after = (pixels(file, None, recipe_for(CaseImage(path=file.name))) for file in (original, copy))
    assert after.shape[:2] == (100, 50)
    assert np.array_equal(before, after)
    assert b"Okonkwo" not in copy.read_bytes()


def test_a_kind_with_too_few_diagnoses_has_open_questions_only(tmp_path):
    table = [row for row in rows() if row["dx"] not in KNEE[1:]]

    cases = build(tmp_path, table)

    assert {len(case["questions"]) for case in cases if case["questions"][-1]["gold"] == "gout"} == {1}
    assert {item["reason"] for item in queue(tmp_path, "options")} == {"too few other diagnoses of X-ray limbs"}


def test_rows_without_a_file_a_patient_or_a_diagnosis_are_named_by_their_line(tmp_path):
    table = rows()
    write(tmp_path, table)
    table[0]["dx"], table[1]["pid"] = "", ""
    (tmp_path / "images" / table[2]["file"]).unlink()
    (tmp_path / "images" / table[3]["file"]).write_bytes(b"no image")
    notes: list[str] = []

    for row in table[:3]:
        row["file"] = "gone.png" if row is table[2] else row["file"]
    with (tmp_path / "studies.csv").open("w", newline="") as lines:
        writer = csv.DictWriter(lines, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    built = build_table(tmp_path / "studies.csv", tmp_path / "map.toml", tmp_path / "set", ocr=False, note=notes.append)

    assert notes[:3] == [
        "row-2: has no diagnosis: column dx",
        "row-3: has no patient: column pid",
        "row-4: has an image that is not beside the table or in an image folder (key image_folders of the map): "
        "column file",
    ]
    assert built.funnel[1].reasons == {"no image that can be shown": 1}
    assert built.cases == 24


@pytest.mark.parametrize(
    ("table_map", "message"),
    [
        (MAP.replace('"dx"', '"diagnosis"'), "has no column 'diagnosis'; its columns are pid, surname, dx"),
        (MAP.replace('patient = "pid"', ""), "patient: is required"),
        (MAP.replace('patient = "pid"', 'pateint = "pid"'), "patient: is required; 'pateint' is an unknown key"),
        (MAP + 'colour = "x"\n', "colour: unknown key"),
    ],
)
def test_a_map_that_does_not_fit_is_one_line(tmp_path, table_map, message):
    with pytest.raises(BadInput) as error:
        build(tmp_path, rows(), table_map)

    assert message in str(error.value)
    assert not (tmp_path / "studies.private").exists()


def test_the_command_audits_at_once(tmp_path):
    write(tmp_path, rows())

    result = wardround("build", "table", "studies.csv", "--map", "map.toml", "--out", "set", "--no-ocr", cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    assert "28 cases with 56 questions; no errors" in result.stdout
    assert (tmp_path / "set" / "audit" / "audit.html").is_file()


def test_an_age_that_cannot_be_read_is_told_and_the_row_is_kept(tmp_path):
    table = rows()
    write(tmp_path, table)
    notes: list[str] = []
    for row in table:
        row["years"] = "54 J."
    table[1]["years"] = "middle-aged"
    with (tmp_path / "studies.csv").open("w", newline="") as lines:
        writer = csv.DictWriter(lines, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    (tmp_path / "map.toml").write_text(MAP.replace('age = "age"', 'age = "years"'))
    build_table(tmp_path / "studies.csv", tmp_path / "map.toml", tmp_path / "set", ocr=False, note=notes.append)
    assert notes[0] == "row-3: has an age that cannot be read; it is kept without one: column years"
