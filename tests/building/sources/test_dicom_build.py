"""`wardround build dicom`: cases without identifiers; cases that people have to check are held."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hospital import HOSPITAL, PATIENTS, hospital, save, slice_of, study_uid, ultrasound, with_text, write_table
from killed_build import kill_while_writing
from pydicom import dcmread
from pydicom.data import get_testdata_file
from pydicom.uid import generate_uid

from wardround.building.sources.dicom import build as dicom
from wardround.building.sources.dicom.burned_in import find_text_lines
from wardround.building.sources.dicom.identifiers import NO_IDENTIFIERS, collect_identifiers, mask_identifiers
from wardround.building.sources.dicom.studies import middle_indices, parse_age
from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Image
from wardround.core.errors import BadInput, WardroundError

build_dicom = partial(dicom.build_dicom, ocr=False)  # test_dicom_text.py reads text in pixels
HISTORY = (
    "Mrs. Adaeze Okonkwo (MRN-100200, born 03/02/1950), a 74-year-old woman, was seen at Wilgefortis on 12 March "
    "2024 by Dr. Greta Vandersloot. Call 555-123-4567 or adaeze@mail.example; 12 Harbour Street. Cough since 2019, "
    "BP 120/80."
)


def row(number: int, **more: str) -> dict[str, str]:
    return {
        "accession": f"ACC{number:05}",
        "history": "A patient with cough.",
        "diagnosis": PATIENTS[number][2],
        **more,
    }


def queue(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "review" / f"{name}.jsonl").read_text().splitlines()]


def everything(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A hospital with one of everything: masked text, burned-in text, a broken file, a study and a row too many."""
    folder = tmp_path_factory.mktemp("ward")
    files, table = hospital(folder)
    save(ultrasound(PATIENTS[1], study_uid(1)), files / "Lindqvist" / "us.dcm")
    save(slice_of(7, PATIENTS[5], series="1.2.9.1", study="1.2.9"), files / "extra.dcm")
    (files / "Okonkwo_notes.txt").write_text("Okonkwo")
    first = (files / "Novak" / "0.dcm").read_bytes()
    (files / "Novak" / "cut.dcm").write_bytes(first[:700])
    (files / "Novak" / "again.dcm").write_bytes(first)
    half = save(slice_of(5, PATIENTS[5], series="1.2.5.5", study=study_uid(5)), files / "Novak" / "half.dcm")
    half.write_bytes(half.read_bytes()[:-4000])
    rows = [row(number) for number in range(6)]
    rows[0]["history"] = HISTORY
    rows.append({"accession": "ACC99999", "history": "Nobody.", "diagnosis": "gout"})
    write_table(table, rows)
    notes: list[str] = []
    result = build_dicom(files, table, folder / "set", note=notes.append)
    return folder, result, notes


def test_every_case_has_images_and_questions(built):
    folder, result, _ = built
    cases = CaseSet.open(folder / "set", strict=True)
    assert len(cases) == result.cases == 5  # the sixth is held
    for case in cases:
        assert [question.id for question in case.questions] == ["mcq", "open"]
        choice, free = case.questions
        assert choice.choices[choice.gold] == free.gold
        assert len(choice.choices) == 6
        assert set(choice.choices) <= {diagnosis for _, _, diagnosis in PATIENTS}
        assert (case.patient.age, case.patient.sex) == (74, "F")
        (image,) = case.images
        assert image.modality == "CT"
        assert pixels(cases.image_path(image), image.frame, recipe_for(image)).shape == (64, 64)
        assert dcmread(cases.image_path(image)).InstanceNumber == 2  # the middle one of three
    assert len({case.cluster for case in cases}) == 5


def test_no_identifier_is_left_in_the_set(built):
    folder, _, _ = built
    identifying = [word for id, name, _ in PATIENTS for word in (id, *name.split("^"))]
    identifying += ["Wilgefortis", "WILGEFORTIS", "Vandersloot", "ACC0", "SN-778899", "20240312", "19500203", "101500"]
    identifying += [study_uid(number) for number in range(6)]
    identifying += ["Harbour", "adaeze@", "555-123", "12 March", "Okonkwo_notes"]
    words = [word for word in identifying if len(word) > 2]
    for name, content in everything(folder / "set").items():
        for word in words:
            assert word.encode() not in content, (name, word)
            assert word not in name
    assert str(folder).encode() not in b"".join(everything(folder / "set").values())


def test_the_history_is_masked_and_queued(built):
    folder, _, _ = built
    (item,) = queue(folder / "set", "text")
    case = next(case for case in CaseSet.open(folder / "set") if case.id == item["id"])
    assert case.history == (
        "[NAME] ([ID], born [DATE]), a 74-year-old woman, was seen at [PLACE] on [DATE] by [NAME]. "
        "[PHONE] or [EMAIL]; [ADDRESS]. Cough since 2019, BP 120/80."
    )
    assert item["masked"] == {
        "history": {"address": 1, "date": 2, "email": 1, "id": 1, "name": 2, "phone": 1, "place": 1}
    }


def test_burned_in_text_is_held(built):
    folder, result, _ = built
    (item,) = queue(folder / "set", "burned-in")
    assert item["case"]["id"] == item["id"] not in CaseSet.open(folder / "set").ids
    (suspect,) = item["images"]
    assert suspect["reasons"] == [
        "images of modality US often have text in them",
        "rows like lines of text at a border",
    ]
    assert suspect["regions"][0][1] < 20
    assert (folder / "set" / suspect["preview"]).is_file()
    assert (folder / "set" / suspect["image"]).is_file()
    assert result.funnel[-1].reasons == {"held for review: text may be burned into an image": 1}


def test_bad_files_are_reported_and_skipped(built):
    folder, result, notes = built
    assert [item["reason"] for item in queue(folder / "set", "images")] == ["an image cannot be shown and was left out"]
    said = "\n".join(notes)
    assert "half.dcm: cannot be decoded" in said
    assert "Okonkwo_notes.txt: is not a DICOM file; left out" in said
    assert "line 8 of the table: a row without a study; left out" in said
    assert result.funnel[0].reasons == {
        "is not a DICOM file": 1,
        "contains no image": 1,
        "the same image occurs twice": 1,
        "a row without a study": 1,
        "a study without a row in the table": 1,
    }


def test_the_original_names_are_beside_the_source_and_only_there(built):
    folder, _, _ = built
    assert sorted(file.name for file in (folder / "archive.private").iterdir()) == ["salt", "set.csv"]
    assert (folder / "archive.private" / "salt").stat().st_mode & 0o077 == 0
    names = (folder / "archive.private" / "set.csv").read_text()
    for case in CaseSet.open(folder / "set"):
        assert case.id in names
        assert case.cluster in names
    salt = (folder / "archive.private" / "salt").read_bytes()
    assert not any(salt in content or salt.hex().encode() in content for content in everything(folder / "set").values())


def test_the_same_secret_gives_the_same_bytes_and_another_one_does_not(built, tmp_path):
    folder, _, _ = built
    build_dicom(folder / "archive", folder / "histories.csv", tmp_path / "set")
    assert everything(tmp_path / "set") == everything(folder / "set")
    build_dicom(folder / "archive", folder / "histories.csv", tmp_path / "other", private_folder=tmp_path / "private")
    assert not set(CaseSet.open(tmp_path / "other").ids) & set(CaseSet.open(folder / "set").ids)


@pytest.mark.slow
def test_killed_five_times_it_writes_the_same(tmp_path):
    """Before the secret is kept, in the middle of the images, and before the way back is written."""
    files, table = hospital(tmp_path)
    for times in (0, 1, 2, len(PATIENTS) // 2, len(PATIENTS)):  # a secret that is kept is not written again
        kill_while_writing(files, table, tmp_path / "set", times)
        assert not (tmp_path / "set").exists()
    result = build_dicom(files, table, tmp_path / "set")
    salt = (tmp_path / "archive.private" / "salt").read_bytes()
    build_dicom(files, table, tmp_path / "alone" / "set")
    assert (tmp_path / "archive.private" / "salt").read_bytes() == salt
    assert result.cases > 0
    assert everything(tmp_path / "set") == everything(tmp_path / "alone" / "set")
    assert not list(tmp_path.glob(".set*"))
    assert sorted(file.name for file in (tmp_path / "archive.private").glob("[!.]*")) == ["salt", "set.csv"]


def test_strict_text_holds_the_case(built, tmp_path):
    folder, _, _ = built
    result = build_dicom(folder / "archive", folder / "histories.csv", tmp_path / "set", strict_text=True)
    assert result.cases == 4
    (item,) = queue(tmp_path / "set", "text")
    assert "Okonkwo" not in json.dumps(item)
    assert item["case"]["history"].startswith("[NAME]")


def test_rows_match_studies_by_patient_study_and_accession(tmp_path):
    files, table = hospital(tmp_path, slices=1)
    more = slice_of(8, PATIENTS[0], series="1.2.8.1", study="1.2.8")
    save(more, files / "more.dcm")
    rows = [
        {"patient": "MRN-100200", "history": "Cough.", "diagnosis": "sarcoidosis"},
        {
            "study": study_uid(1),
            "history": "Chest pain.",
            "diagnosis": "pulmonary embolism",
            "split": "dev",
            "age": "93",
        },
        {"accession": "ACC00002", "history": "Back pain.", "diagnosis": "aortic dissection", "sex": "male"},
        {"accession": "ACC00003", "history": "", "diagnosis": "lobar pneumonia"},
        {"accession": "ACC00004", "history": "Known mesothelioma.", "diagnosis": "mesothelioma"},
        {
            "accession": "ACC00005",
            "history": "Fever.",
            "diagnosis": "gout",
            "options": "lupus|mumps|measles|gout attack",
        },
    ]
    write_table(table, rows)
    result = build_dicom(files, table, tmp_path / "set", count=4)
    by_gold = {str(case.questions[-1].gold): case for case in CaseSet.open(tmp_path / "set")}
    assert len(by_gold["sarcoidosis"].images) == 2  # both studies of the patient
    assert by_gold["pulmonary embolism"].split == "dev"
    assert by_gold["pulmonary embolism"].patient.age == 90  # over 89
    assert by_gold["aortic dissection"].patient.sex == "M"
    assert "gout attack" not in by_gold["gout"].questions[0].choices
    assert "mesothelioma" not in by_gold
    assert result.funnel[0].reasons["a row without a history"] == 1
    assert queue(tmp_path / "set", "history")[0]["reason"] == "names 'mesothelioma'"


def test_few_diagnoses_leave_the_open_question(tmp_path):
    files, table = hospital(tmp_path, slices=1)
    write_table(table, [row(0), row(1)])
    build_dicom(files, table, tmp_path / "set")
    cases = list(CaseSet.open(tmp_path / "set"))
    assert [[question.id for question in case.questions] for case in cases] == [["open"], ["open"]]
    assert len(queue(tmp_path / "set", "options")) == 2


def test_chosen_slices_and_frames_are_from_the_middle(tmp_path):
    assert [middle_indices(9, many) for many in (1, 3, 20)] == [[4], [1, 4, 7], list(range(9))]
    assert [parse_age(age) for age in ("054Y", "006M", "x")] == [54, 0.5, None]
    files, table = hospital(tmp_path, slices=1)
    values = np.arange(5 * 16 * 16, dtype=np.uint8).reshape(5, 16, 16)
    many = slice_of(0, PATIENTS[0], series="1.2.7.1", study="1.2.7", AccessionNumber="FRAMES", NumberOfFrames=5)
    many.Rows = many.Columns = 16
    many.BitsAllocated = many.BitsStored = 8
    many.HighBit, many.PixelRepresentation, many.PixelData = 7, 0, values.tobytes()
    save(many, files / "many.dcm")
    write_table(table, [row(0, accession="FRAMES")])
    build_dicom(files, table, tmp_path / "set", per_series=2)
    (case,) = CaseSet.open(tmp_path / "set")
    assert [image.frame for image in case.images] == [1, 3]
    assert len({image.path for image in case.images}) == 1


def test_bad_input_is_one_line(tmp_path):
    files, table = hospital(tmp_path, slices=1)
    with pytest.raises(BadInput, match="no such folder"):
        build_dicom(tmp_path / "none", table, tmp_path / "set")
    table.write_text("patient,text\n1,x\n")
    with pytest.raises(BadInput, match=r"histories.csv:1: expected the columns history, diagnosis and one of"):
        build_dicom(files, table, tmp_path / "set")
    write_table(table, [row(0, accession="nobody's")])
    with pytest.raises(WardroundError, match="no study became a case; 6 x a study without a row"):
        build_dicom(files, table, tmp_path / "set")
    with pytest.raises(WardroundError, match="outside of source and set"):
        build_dicom(files, table, tmp_path / "set", private_folder=tmp_path / "set" / "private")
    shutil.rmtree(tmp_path / "archive.private")
    (tmp_path / "archive.private").write_text("")
    with pytest.raises(BadInput, match="name a folder by --private"):
        build_dicom(files, table, tmp_path / "set")
    assert {file.name for file in (tmp_path / "set").iterdir()} == {"funnel.csv", "rejected.jsonl"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Seen on 2024-03-12 and 12.03.24.", "Seen on [DATE] and [DATE]."),
        ("On March 3rd, 2021 and in May 2020", "On [DATE] and in [DATE]"),
        ("am 3. März 2021; le 3 février 2021", "am [DATE]; le [DATE]"),
        ("Accession no. 445566, chart 9911/22", "[ID], [ID]"),
        ("SSN 123-45-6789", "[ID]"),
        ("She lives with her daughter Lisa.", "She lives with her daughter [NAME]."),
        ("Her husband, Ottokar Maierhofer, reports snoring.", "Her husband, [NAME], reports snoring."),
        ("The sister Anna-Lena came; accompanied by Gundula.", "The sister [NAME] came; accompanied by [NAME]."),
        ("Maria reports pain.", "[NAME] reports pain."),
        ("J. Tanaka, 54, coughs; seen by A. B. Okafor.", "[NAME], 54, coughs; seen by [NAME]."),
        ("E. coli in urine, hepatitis B. He is well.", "E. coli in urine, hepatitis B. He is well."),
        (
            "His mother has Hashimoto's thyroiditis, he lives with Crohn's disease.",
            "His mother has Hashimoto's thyroiditis, he lives with Crohn's disease.",
        ),
        (
            "Werner syndrome, Ann Arbor stage II, Charcot-Marie-Tooth disease",
            "Werner syndrome, Ann Arbor stage II, Charcot-Marie-Tooth disease",
        ),
        ("tel. 030 1234567, +49 171 2345678", "[PHONE], [PHONE]"),
        ("lives at 221b Baker Street, NW1 6XE", "lives at [ADDRESS], [ADDRESS]"),
        ("wohnt Hauptstraße 12", "wohnt [ADDRESS]"),
        ("Herr Dr. Karl von Berg", "[NAME]"),
        ("a 94-year-old man", "a [AGE]-year-old man"),
        ("see www.clinic.example/p/1", "see [URL]"),
    ],
)
def test_rules_mask_identifiers(text, left):
    assert mask_identifiers(text).text == left


@pytest.mark.parametrize(
    "text",
    [
        "BP 120/80, pain 5/10, for 3/12, T 38.5, SpO2 95%.",
        "A 74-year-old woman with 3 children, in 2019 treated with 5 mg of prednisone twice a day.",
        "CD117 and S100 positive, HbA1c 7.2%, T2 3500 ms, rs1234567, L4/L5, Stage IIIA, 12 x 14 x 9 mm.",
        "She may 2 days later march on; WBC 12,000/mm3; creatinine 1.02 mg/dl; DR and MS are known.",
        "Patient reports 2000 ml of fluid; study of 1200 mg; case of Crohn disease.",
    ],
)
def test_rules_leave_clinical_numbers(text):
    assert mask_identifiers(text).text == text


def test_names_from_headers_are_found_however_they_are_written():
    identifiers = collect_identifiers(["Müller^Jürgen^X", "Li^Bo"], ["12345", "7"], [HOSPITAL])
    assert mask_identifiers(
        "MULLER, jurgen: in the hospital, Li and Bo bowel, id 12345, Wilgefortis", identifiers
    ).text == ("[NAME], [NAME]: in the hospital, [NAME] and [NAME] bowel, id [ID], [PLACE]")
    assert mask_identifiers("li is bo", identifiers).text == "li is bo"
    assert mask_identifiers("nothing", NO_IDENTIFIERS).counts == {}


def test_text_lines_are_found_at_the_border_and_not_in_real_scans():
    (region, *_) = find_text_lines(with_text("OKONKWO ADAEZE 1950-02-03"))
    assert region.top < 20
    assert find_text_lines(np.flipud(with_text("OKONKWO ADAEZE")).copy())  # at the lower border
    for highest in (120, 256):
        noise = np.random.default_rng(0).integers(0, highest, (256, 256)).astype(np.uint8)
        assert find_text_lines(noise) == []
    for name in ("CT_small.dcm", "MR_small.dcm", "693_J2KI.dcm", "J2K_pixelrep_mismatch.dcm", "examples_overlay.dcm"):
        file = get_testdata_file(name, download=False)
        if file is not None:
            assert find_text_lines(pixels(file, None, recipe_for(Image(path=name)))) == [], name


def test_real_files_keep_their_pixels(tmp_path):
    """pydicom's own test files of several syntaxes: the pixels are the same afterwards."""
    rows, files = [], tmp_path / "archive"
    for number, name in enumerate(["CT_small.dcm", "MR_small.dcm", "693_J2KI.dcm", "color-pl.dcm", "MR_small_RLE.dcm"]):
        file = get_testdata_file(name, download=False)
        dataset = dcmread(file)
        dataset.AccessionNumber, dataset.StudyInstanceUID = f"ACC{number:05}", generate_uid(entropy_srcs=[name])
        dataset.SOPInstanceUID = dataset.file_meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=[name, "i"])
        files.mkdir(exist_ok=True)
        dataset.save_as(files / name)
        rows.append({"accession": f"ACC{number:05}", "history": "Pain.", "diagnosis": PATIENTS[number][2]})
    write_table(tmp_path / "histories.csv", rows)
    build_dicom(files, tmp_path / "histories.csv", tmp_path / "set")
    was = sorted(_shown(file) for file in files.iterdir())
    assert sorted(_shown(file) for file in (tmp_path / "set" / "images").iterdir()) == was


def _shown(file: Path) -> bytes:
    return pixels(file, None, recipe_for(Image(path="x.dcm"))).tobytes()
