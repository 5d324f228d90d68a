"""Public eye sets are read from imitations of their layouts: documented folders and columns, invented content."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest
from PIL import Image

from wardround.building.pipeline.spreadsheet import read_sheet
from wardround.building.sources.ophthalmic.build import build_ophthalmic
from wardround.building.sources.ophthalmic.public_sets import public_sets, read_public_set
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput, WardroundError

DR = "diabetic retinopathy"


def picture(file: Path) -> None:
    """A picture of noise that differs from every other."""
    file.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(abs(hash(file.as_posix())) % 2**32).integers(0, 255, (48, 48), np.uint8)
    Image.fromarray(noise).save(file)


def csv_file(file: Path, *lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines), encoding="utf-8")


def xlsx_file(file: Path, *rows: tuple[str | int, ...]) -> None:
    """A workbook as spreadsheets write it: texts in a table of their own, numbers in place."""
    texts = list(dict.fromkeys(cell for row in rows for cell in row if isinstance(cell, str)))
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

    def cell(column: int, row: int, value: str | int) -> str:
        place = f"{chr(65 + column)}{row}"
        if isinstance(value, int):
            return f'<c r="{place}"><v>{value}</v></c>'
        return f'<c r="{place}" t="s"><v>{texts.index(value)}</v></c>'

    lines = "".join(
        f'<row r="{number}">{"".join(cell(column, number, value) for column, value in enumerate(row))}</row>'
        for number, row in enumerate(rows, start=1)
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w") as parts:
        shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
        parts.writestr("xl/sharedStrings.xml", f"<sst {space}>{shared}</sst>")
        parts.writestr("xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>{lines}</sheetData></worksheet>")


def aptos(folder: Path) -> None:
    csv_file(folder / "train.csv", "id_code,diagnosis", "000c1434d8d7,2", "001639a390f0,4", "0024cdab0c1e,0")
    for name in ("000c1434d8d7", "001639a390f0", "0024cdab0c1e"):
        picture(folder / "train_images" / f"{name}.png")


def eyepacs(folder: Path) -> None:
    csv_file(folder / "trainLabels.csv", "image,level", "10_left,1", "10_right,3")
    for name in ("10_left", "10_right"):
        picture(folder / "train" / f"{name}.jpeg")


def idrid(folder: Path) -> None:
    base = folder / "B. Disease Grading"
    heading = "Image name,Retinopathy grade,Risk of macular edema ,,,"
    csv_file(base / "2. Groundtruths" / "a. IDRiD_Disease Grading_Training Labels.csv", heading, "IDRiD_001,3,2,,,")
    csv_file(base / "2. Groundtruths" / "b. IDRiD_Disease Grading_Testing Labels.csv", heading, "IDRiD_001,1,0,,,")
    for part in ("a. Training Set", "b. Testing Set"):
        picture(base / "1. Original Images" / part / "IDRiD_001.jpg")
    picture(folder / "A. Segmentation" / "1. Original Images" / "a. Training Set" / "IDRiD_001.jpg")


def messidor(folder: Path) -> None:
    csv_file(
        folder / "messidor_data.csv",
        "image_id,adjudicated_dr_grade,adjudicated_dme,adjudicated_gradable",
        "20051020_43808_0100_PP.png,2,1,1",
        "IM000004.jpg,1,0,0",
        "IM000005.jpg,,,0",
    )
    picture(folder / "IMAGES" / "20051020_43808_0100_PP.png")
    picture(folder / "IMAGES" / "IM000004.JPG")
    picture(folder / "IMAGES" / "IM000005.jpg")


def odir(folder: Path) -> None:
    headings = ("ID", "Patient Age", "Patient Sex", "Left-Fundus", "Right-Fundus")
    keywords = ("Left-Diagnostic Keywords", "Right-Diagnostic Keywords")
    xlsx_file(
        folder / "ODIR-5K_Training_Annotations(Updated)_V2.xlsx",
        (*headings, *keywords, "N"),
        (7, 61, "Female", "7_left.jpg", "7_right.jpg", "normal fundus", "glaucoma，macular epiretinal membrane", 0),
        (8, 55, "Male", "8_left.jpg", "8_right.jpg", "lens dust", "wet age-related macular degeneration", 0),
    )
    for name in ("7_left", "7_right", "8_left", "8_right"):
        picture(folder / "ODIR-5K_Training_Images" / f"{name}.jpg")


def refuge(folder: Path) -> None:
    picture(folder / "REFUGE-Training400" / "Training400" / "Glaucoma" / "g0001.jpg")
    picture(folder / "REFUGE-Training400" / "Training400" / "Non-Glaucoma" / "n0001.jpg")


def adam(folder: Path) -> None:
    picture(folder / "Training400" / "AMD" / "A0001.jpg")
    picture(folder / "Training400" / "Non-AMD" / "N0001.jpg")


def fives(folder: Path) -> None:
    for part, name in (("train", "1_A"), ("train", "2_D"), ("test", "1_G"), ("test", "2_N")):
        picture(folder / part / "Original" / f"{name}.png")
        picture(folder / part / "Ground truth" / f"{name}.png")


def octa(folder: Path) -> None:
    headings = ("ID", "Sex", "OS/OD", "Age", "Disease")
    base = folder / "OCTA-500" / "OCTA_6mm"
    xlsx_file(base / "Text labels.xlsx", headings, (10001, "F", "OD", 62, "CSC"), (10002, "M", "OS", 30, "OTHERS"))
    for volume in (10001, 10002):
        for number in (1, 2, 9, 10, 11):
            picture(base / "OCT" / str(volume) / f"{number}.bmp")


def kermany(folder: Path) -> None:
    for label in ("CNV", "DME", "DRUSEN", "NORMAL"):
        picture(folder / "OCT2017" / "train" / label / f"{label}-1016042-{len(label)}.jpeg")


EXPECTED = {  # the layout: what is written, the diseases read with their grades, and the labels that name no disease
    "aptos-2019": (aptos, {(DR, "2"): 1, (DR, "4"): 1}, 1),
    "eyepacs": (eyepacs, {(DR, "1"): 1, (DR, "3"): 1}, 0),
    "idrid": (idrid, {(DR, "3"): 1, ("diabetic macular oedema", ""): 1, (DR, "1"): 1}, 1),
    "messidor-2": (messidor, {(DR, "2"): 1, ("diabetic macular oedema", ""): 1, (DR, "1"): 1}, 3),
    "odir-5k": (
        odir,
        {
            ("healthy eye", ""): 1,
            ("glaucoma", ""): 1,
            ("epiretinal membrane", ""): 1,
            ("age-related macular degeneration", "4"): 1,
            ("lens dust", ""): 1,
        },
        0,
    ),
    "refuge": (refuge, {("glaucoma", ""): 1}, 1),
    "adam": (adam, {("age-related macular degeneration", ""): 1}, 1),
    "fives": (
        fives,
        {("age-related macular degeneration", ""): 1, (DR, ""): 1, ("glaucoma", ""): 1, ("healthy eye", ""): 1},
        0,
    ),
    "octa-500": (octa, {("central serous chorioretinopathy", ""): 1}, 1),
    "kermany-oct": (
        kermany,
        {("diabetic macular oedema", ""): 1, ("age-related macular degeneration", ""): 1, ("healthy eye", ""): 1},
        1,
    ),
}


def test_every_layout_is_tried():
    assert set(EXPECTED) == set(public_sets())


@pytest.mark.parametrize("name", EXPECTED)
def test_labels_are_read_in_the_schema_s_terms(name, tmp_path):
    write, diseases, unnamed = EXPECTED[name]
    write(tmp_path)
    rows, _ = read_public_set(tmp_path, name)
    named = [row.cells for row in rows if row.cells["disease"]]
    assert Counter((cells["disease"], cells.get("grade", "")) for cells in named) == diseases
    assert len(rows) - len(named) == unnamed
    assert all(Path(row.cells["image"]).is_file() for row in rows)


def test_a_set_is_built_and_what_names_no_disease_is_counted(tmp_path):
    """ODIR: four eyes of two patients; dust on a lens is unknown to the schema; two diseases on one image."""
    odir(tmp_path / "odir")
    build_ophthalmic(tmp_path / "odir", tmp_path / "set", layout="odir-5k")
    cases = list(CaseSet.open(tmp_path / "set", strict=True))
    assert [sorted(case.tags) for case in cases] == [
        ["healthy eye"],
        ["epiretinal membrane", "glaucoma"],
        ["age-related macular degeneration"],
    ]
    assert len({case.cluster for case in cases}) == 2
    assert (cases[0].patient.age, cases[0].patient.sex) == (61, "F")  # type: ignore[union-attr]
    (rejected,) = [json.loads(line) for line in (tmp_path / "set" / "rejected.jsonl").read_text().splitlines()]
    assert (rejected["reason"], rejected["detail"][:11]) == ("unknown disease", "'lens dust'")
    both = {question.id: question for question in cases[1].questions if question.stage == "DD"}
    assert len(both) == 2
    assert all(
        "glaucoma" not in question.choices or "epiretinal membrane" not in question.choices
        for question in both.values()
    )


def test_images_of_a_test_set_are_not_taken_for_those_of_the_training_set(tmp_path):
    idrid(tmp_path)
    rows, files = read_public_set(tmp_path, "idrid")
    places = {(row.cells["split"], Path(row.cells["image"]).parent.name) for row in rows}
    assert places == {("train", "a. Training Set"), ("test", "b. Testing Set")}
    assert all("B. Disease Grading" in row.cells["image"] for row in rows)
    assert len(files) == 2


def test_the_patient_the_eye_and_the_middle_of_a_volume_are_read(tmp_path):
    eyepacs(tmp_path / "eyepacs")
    left, right = read_public_set(tmp_path / "eyepacs", "eyepacs")[0]
    assert (left.cells["patient"], left.cells["eye"], right.cells["eye"]) == ("10", "left", "right")
    octa(tmp_path / "octa")
    first = read_public_set(tmp_path / "octa", "octa-500")[0][0]
    assert (Path(first.cells["image"]).name, first.cells["eye"], first.age) == ("9.bmp", "OD", 62)
    messidor(tmp_path / "messidor")
    rows, _ = read_public_set(tmp_path / "messidor", "messidor-2")
    ungradable = {Path(row.cells["image"]).stem for row in rows if row.cells.get("quality") == "ungradable"}
    assert ungradable == {"IM000004", "IM000005"}


def test_another_folder_and_another_layout_are_one_line(tmp_path):
    with pytest.raises(BadInput, match="has no image where APTOS 2019"):
        read_public_set(tmp_path, "aptos-2019")
    with pytest.raises(WardroundError, match="there is no layout 'aptos'; there are aptos-2019"):
        read_public_set(tmp_path, "aptos")
    csv_file(tmp_path / "train.csv", "id,label", "a,1")
    with pytest.raises(BadInput, match=r"train.csv:1: expected the column 'id_code'; there are id, label"):
        read_public_set(tmp_path, "aptos-2019")
    with pytest.raises(BadInput, match="is a folder; for a public set name its layout: --layout aptos-2019"):
        build_ophthalmic(tmp_path, tmp_path / "set")


def test_a_broken_spreadsheet_and_one_with_entities_are_refused(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"no zip")
    with pytest.raises(BadInput, match=r"is not a readable \.xlsx file"):
        read_sheet(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as parts:
        parts.writestr("xl/worksheets/sheet1.xml", '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')
    with pytest.raises(BadInput, match="declares entities"):
        read_sheet(tmp_path / "b.xlsx")
