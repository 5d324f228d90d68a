"""Text in the pixels of DICOM images is read, framed for the reader, and never written; distractors keep to the "
"region."""

from __future__ import annotations

import json
import socket
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hospital import PATIENTS, save, slice_of, study_uid, with_text, write_table
from PIL import Image, ImageDraw, ImageFont
from pydicom import Dataset

from wardround.building.sources.dicom import text_recognition
from wardround.building.sources.dicom.body_region import body_region
from wardround.building.sources.dicom.build import build_dicom
from wardround.building.sources.dicom.burned_in import Region
from wardround.building.sources.dicom.identifiers import (
    NO_IDENTIFIERS,
    PatientIdentifiers,
    collect_identifiers,
    mask_identifiers,
)
from wardround.building.sources.dicom.text_recognition import MISSING, TextBox, find_text_boxes
from wardround.cases.set import CaseSet

needs_ocr = pytest.mark.skipif(find_spec("rapidocr") is None, reason="needs the extra dicom")


def scan_with(text: str, place: tuple[int, int], size: int = 18) -> np.ndarray:
    """A noisy picture with a text in its middle, where the rule for borders does not look."""
    noise = np.random.default_rng(3).normal(70, 12, (360, 480)).clip(0, 255).astype(np.uint8)
    image = Image.fromarray(noise)
    ImageDraw.Draw(image).text(place, text, fill=255, font=ImageFont.load_default(size))
    return np.asarray(image)


@needs_ocr
def test_text_is_found_where_it_is_and_by_what_it_looks_like(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    identifiers = collect_identifiers(["Okonkwo^Adaeze"], ["MRN-100200"], [])
    (box,) = find_text_boxes(scan_with("OKONKWO ADAEZE", (150, 160)), identifiers)
    assert box.kinds == ("name",)
    left, top, right, bottom = box.region
    assert 130 < left < 160 < right < 360
    assert 145 < top < 170 < bottom < 200
    (dated,) = find_text_boxes(scan_with("12.03.2024", (150, 160)), NO_IDENTIFIERS)
    assert dated.kinds == ("date",)
    (other,) = find_text_boxes(scan_with("Fetal heart", (150, 160)), NO_IDENTIFIERS)
    assert other.kinds == ("text",)


@needs_ocr
def test_small_letters_of_a_large_image_and_long_numbers_are_found():
    noise = np.random.default_rng(3).normal(70, 12, (4_000, 500)).clip(0, 255).astype(np.uint8)
    image = Image.fromarray(noise)
    ImageDraw.Draw(image).text((100, 2_160), "OKONKWO ADAEZE", fill=255, font=ImageFont.load_default(16))
    identifiers = collect_identifiers(["Okonkwo^Adaeze"], [], [])
    (box,) = find_text_boxes(np.asarray(image), identifiers)
    assert box.kinds == ("name",)  # shrunk, the letters were read as other ones
    assert 80 < box.region[0] < 110
    assert 2_140 < box.region[1] < 2_170
    assert [box.kinds for box in find_text_boxes(scan_with("471108", (150, 160)), NO_IDENTIFIERS)] == [("text",)]
    assert find_text_boxes(scan_with("12:30:45", (150, 160)), NO_IDENTIFIERS) == []


@needs_ocr
def test_side_markers_and_plain_images_have_no_text():
    assert find_text_boxes(scan_with("L", (150, 160), 30), NO_IDENTIFIERS) == []
    assert find_text_boxes(np.zeros((64, 64), np.uint8), NO_IDENTIFIERS) == []


def hospital_with(
    folder: Path, regions: list[str], values: np.ndarray | None = None, window: tuple[int, int] = (128, 256)
) -> tuple[Path, Path]:
    rows = []
    for number, patient in enumerate(PATIENTS):
        dataset = slice_of(number, patient, series=f"1.2.{number}.1", study=study_uid(number))
        dataset.BodyPartExamined = regions[number]
        if number == 0 and values is not None:
            _show(dataset, values, window)
        save(dataset, folder / "files" / f"{number}.dcm")
        rows.append({"accession": f"ACC{number:05}", "history": "A patient with cough.", "diagnosis": patient[2]})
    write_table(folder / "histories.csv", rows)
    return folder / "files", folder / "histories.csv"


def _show(dataset: Dataset, values: np.ndarray, window: tuple[int, int]) -> None:
    dataset.Rows, dataset.Columns = values.shape
    dataset.PixelData = values.astype(np.int16).tobytes()
    dataset.RescaleIntercept, dataset.WindowCenter, dataset.WindowWidth = 0, *window


def test_a_case_with_text_in_its_image_is_held_with_frames(tmp_path, monkeypatch):
    box = TextBox(text_recognition.Region(150, 160, 300, 180), ("name",))
    monkeypatch.setattr("wardround.building.sources.dicom.build.can_read_text", lambda: True)
    monkeypatch.setattr(
        "wardround.building.sources.dicom.text_search.find_text_boxes",
        lambda image, identifiers: [box] if image.shape == (360, 480) else [],
    )
    files, table = hospital_with(tmp_path, ["CHEST"] * 6, scan_with("OKONKWO", (150, 160)))
    build_dicom(files, table, tmp_path / "set")
    (item,) = [json.loads(line) for line in (tmp_path / "set" / "review" / "burned-in.jsonl").read_text().splitlines()]
    (suspect,) = item["images"]
    assert suspect["reasons"] == ["text was read in the image (name)"]
    assert suspect["regions"] == [[150, 160, 300, 180]]
    framed = np.asarray(Image.open(tmp_path / "set" / suspect["preview"]))
    assert tuple(framed[158, 200]) == (255, 60, 60)
    assert "OKONKWO" not in json.dumps(item).upper().replace(item["id"].upper(), "")


def test_text_that_only_another_window_shows_is_found(tmp_path, monkeypatch):
    """Letters of 1,500 HU on bone of 800 HU are as white as the bone in a window of 400 HU."""
    values = np.where(scan_with("OKONKWO", (150, 160)) == 255, 1_500, 800).astype(np.int16)
    values[:40] = -1_000
    letters = Region(100, 120, 300, 200)

    def find_contrast(image: np.ndarray, identifiers: PatientIdentifiers) -> list[TextBox]:
        part = image[letters.top : letters.bottom, letters.left : letters.right]
        is_read = part.size > 0 and int(part.max()) - int(part.min()) > 40
        return [TextBox(letters, ("name",))] if is_read else []

    monkeypatch.setattr("wardround.building.sources.dicom.build.can_read_text", lambda: True)
    monkeypatch.setattr("wardround.building.sources.dicom.text_search.find_text_boxes", find_contrast)
    files, table = hospital_with(tmp_path, ["CHEST"] * 6, values, window=(40, 400))
    build_dicom(files, table, tmp_path / "set")
    (item,) = [json.loads(line) for line in (tmp_path / "set" / "review" / "burned-in.jsonl").read_text().splitlines()]
    (suspect,) = item["images"]
    assert suspect["reasons"] == ["text was read in the image (name)"]
    preview = np.asarray(Image.open(tmp_path / "set" / suspect["preview"]).convert("L"))
    inside = preview[letters.top + 5 : letters.bottom - 5, letters.left + 5 : letters.right - 5]
    assert int(inside.max()) - int(inside.min()) > 40  # the reader sees them, too


HIDDEN_NAMES = [
    ("Call mother (Beatriz) at noon.", "Beatriz"),
    ("Discussed with RN Kowalska.", "Kowalska"),
    ("Reviewed with resident Chen Wei.", "Chen Wei"),
    ("hija María refiere fiebre", "María"),
    ("GP: Hargreaves", "Hargreaves"),
    ("cc: Dr M Osei", "Osei"),
    ("lisa (daughter) states he fell", "lisa"),
    ("SMITH, Robert 62 y/o", "SMITH"),
    ("child of Ayesha and Imran", "Imran"),
    ("Jean-Pierre's cough is worse", "Jean-Pierre"),
    ("her nanny Consuela noticed it", "Consuela"),
    ("interpreter: Fatuma Ali", "Fatuma"),
    ("Consent given by guardian Oluwaseun.", "Oluwaseun"),
]
NO_NAMES = [
    *("Hodgkin lymphoma in remission.", "Murphy sign absent.", "Son with Duchenne muscular dystrophy"),
    *("Mother with Marfan syndrome.", "Known Parkinson disease; wife reports falls.", "Baker cyst (knee)"),
]


@pytest.mark.parametrize(("text", "name"), HIDDEN_NAMES)
def test_a_name_beside_a_relative_or_a_colleague_is_masked(text, name):
    masked = mask_identifiers(text)
    assert name not in masked.text
    assert masked.counts["name"] >= 1


@pytest.mark.parametrize("text", NO_NAMES)
def test_an_eponym_is_not_masked(text):
    assert mask_identifiers(text).text == text


def test_without_the_extra_the_build_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(text_recognition, "_engine", lambda: None)
    files, table = hospital_with(tmp_path, ["CHEST"] * 6)
    notes: list[str] = []
    build_dicom(files, table, tmp_path / "set", note=notes.append)
    assert MISSING in notes
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["settings"]["ocr"] is False


@pytest.mark.parametrize(
    ("text", "region"),
    [("CHEST", "chest"), ("BRAIN", "head"), ("LSPINE", "spine"), ("ABDOMEN", "abdomen"), ("KNEE", "limbs"),
     ("THORACIC SPINE", "spine"), ("ABDOMENPELVIS", None), ("", None)],
)  # fmt: skip
def test_a_body_part_is_in_a_region(text, region):
    assert body_region(text) == region


def test_distractors_come_from_the_same_region_as_far_as_is_fair(tmp_path):
    files, table = hospital_with(tmp_path, ["CHEST", "LUNG", "HEART", "KNEE", "HAND", "FOOT"])
    build_dicom(files, table, tmp_path / "set", count=3, ocr=False)
    limbs = {diagnosis for _, _, diagnosis in PATIENTS[3:]}
    for case in CaseSet.open(tmp_path / "set"):
        options = set(case.questions[0].choices)
        assert options <= limbs or not options & limbs


def test_a_line_of_text_at_the_border_is_framed_without_ocr(tmp_path):
    values = with_text("Okonkwo Adaeze 1950", (480, 360))
    files, table = hospital_with(tmp_path, ["CHEST"] * 6, values)
    build_dicom(files, table, tmp_path / "set", ocr=False)
    (item,) = [json.loads(line) for line in (tmp_path / "set" / "review" / "burned-in.jsonl").read_text().splitlines()]
    assert (tmp_path / "set" / item["images"][0]["preview"]).is_file()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("His daughter Lisa's phone", "His daughter [NAME]'s phone"),
        ("DAUGHTER LISA PRESENT", "DAUGHTER [NAME] PRESENT"),
        ("her sister-in-law Greta", "her sister-in-law [NAME]"),
        ("her son's name is Tobias", "her son's name is [NAME]"),
        ("daughters Lisa and Marie came", "daughters [NAME] came"),
        ("wife of Piotr", "wife of [NAME]"),
        ("niece Nguyen Thi Lan", "niece [NAME]"),
        ("Dr.Kowalczyk", "[NAME]"),
        ("reported by: KOWALCZYK, ANNA", "reported by: [NAME]"),
        ("Discussed with surgeon Almeida", "Discussed with surgeon [NAME]"),
        ("Referring physician: Kowalczyk", "Referring physician: [NAME]"),
        ("Patient: DOE, JANE", "Patient: [NAME]"),
        ("Patient Xu Wei, 54, with cough", "Patient [NAME], 54, with cough"),
        ("the patient Nguyen Thi Lan was seen", "the patient [NAME] was seen"),
        ("Our patient Abubakar (61) fell", "Our patient [NAME] (61) fell"),
        ("a man aged 95", "a man aged [AGE]"),
    ],
)
def test_names_of_relatives_and_staff_are_masked_however_they_are_written(text, masked):
    assert mask_identifiers(text).text == masked


@pytest.mark.parametrize(
    "text",
    [
        "Mother had Crohn's disease, father Hashimoto's thyroiditis",
        "Discussed with Neurosurgery, reviewed by Cardiology",
        "Patient Health Questionnaire 9, Patient Global Assessment; patient Age Group 3",
        "Patient Presented With Chest Pain. Patient Underwent Computed Tomography",
        "the patient Crohn's disease, a patient Werner syndrome, Patient Stage IV, patient Parkinson disease",
        "Patient: Male, 54. Pt. presented with pain; Pt. Presented late",
        "Radiologist: on call. Referred by GP for CT",
        "Sister: Breast cancer. Temperature 98 F, aged 91 days",
        "St. John's wort",
    ],
)
def test_diseases_and_departments_are_no_names(text):
    assert mask_identifiers(text).text == text
