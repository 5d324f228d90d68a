"""Folders of images and case sets become degraded copies: any workers, any restart, the same bytes."""

import json
import shutil
from pathlib import Path

import nibabel
import numpy as np
import pytest
from PIL import Image
from pydicom.data import get_testdata_file

from wardround.cases.images.dicom import NO_IMAGE, dicom_pixels
from wardround.cases.set import CaseSet, write_case_set
from wardround.cases.validation import validate
from wardround.core.case import Case
from wardround.core.case import Image as CaseImage
from wardround.core.errors import WardroundError
from wardround.degrade import TYPES, degrade, rendered
from wardround.degrade.folder import chosen, degrade_files
from wardround.degrade.quality import psnr, ssim
from wardround.degrade.sources import copy_names, key_of, plain_sources

CT = Path(str(get_testdata_file("CT_small.dcm", download=False)))
GREY = np.random.default_rng(5).integers(30, 220, (40, 56), dtype=np.uint8)
QUICK = ["low_dose", "adjust_brightness"]


@pytest.fixture(scope="module")
def ward(tmp_path_factory) -> Path:
    """A folder with images of every kind, one that is broken, and what is no image."""
    folder = tmp_path_factory.mktemp("ward")
    (folder / "in" / "deep").mkdir(parents=True)
    inside = folder / "in"
    Image.fromarray(GREY).save(inside / "grey.png")
    Image.fromarray(np.dstack([GREY, GREY // 2, 255 - GREY])).save(inside / "deep" / "colour.tiff")
    shutil.copy(CT, inside / "deep" / "ct")
    nibabel.save(nibabel.Nifti1Image(GREY.astype(np.int16)[:, :, None], np.eye(4)), inside / "slice.nii.gz")
    (inside / "broken.jpg").write_bytes(b"no picture")
    (inside / "notes.txt").write_text("no image")
    (inside / ".hidden.png").write_bytes(b"no picture")
    return folder


@pytest.fixture
def here(monkeypatch):
    """Jobs are done in this process: starting others takes a while."""

    def done(function, jobs, workers):
        return ((job, function(job)) for job in jobs)

    monkeypatch.setattr("wardround.degrade.pool.in_order", done)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def records(folder: Path) -> dict[str, dict]:
    lines = (folder / "degradations.jsonl").read_text().splitlines()
    return {record["image"]: record for record in map(json.loads, lines)}


def test_a_folder_of_everything(ward, request):
    out = ward / "out"
    said: list[tuple[int, int]] = []
    done = degrade_files(ward / "in", out, types=QUICK, workers=2, progress=lambda *each: said.append(each))
    assert (done.images, done.made, done.kept) == (5, 16, 0)
    assert [str(problem) for problem in done.problems] == [f"{ward}/in/broken.jpg: cannot be read as a JPG image"]
    assert said[0] == (0, 20)
    assert said[-1] == (20, 20)

    known = records(out)
    assert len(known) == 16
    assert {name for name in tree(out) if name.endswith(".png")} == set(known)
    record = known["grey.adjust_brightness.L2.png"]
    copy = np.asarray(Image.open(out / record["image"]))
    expected = rendered(GREY, "adjust_brightness", "L2")
    np.testing.assert_array_equal(copy, expected.image)
    assert (record["source"], record["type"], record["severity"]) == ("grey.png", "adjust_brightness", 2.0)
    assert (record["parameters"], record["seed"]) == (expected.parameters, expected.seed)
    assert (record["profile"], record["space"]) == ("clinical-1", "display")
    assert record["psnr"] == pytest.approx(psnr(GREY, copy), abs=1e-3)
    assert record["ssim"] == pytest.approx(ssim(GREY, copy), abs=1e-3)
    assert record["psnr_body"] == pytest.approx(record["psnr"], abs=1e-3)  # all of it is body
    assert Image.open(out / "deep" / "colour.adjust_brightness.L1.png").mode == "RGB"

    # in one process, in another order, in another folder: the same bytes
    before = tree(out)
    request.getfixturevalue("here")
    elsewhere = degrade_files(ward / "in", ward / "elsewhere", types=QUICK[::-1])
    assert elsewhere.made == 16
    assert tree(ward / "elsewhere") == before

    # a second time nothing is made
    again = degrade_files(ward / "in", out, types=QUICK)
    assert (again.made, again.kept, len(again.problems)) == (0, 16, 1)
    assert tree(out) == before

    # a crash: a copy is missing, another is cut, the last record is half written
    (out / "deep" / "ct.low_dose.L1.png").unlink()
    (out / "grey.low_dose.L2.png").write_bytes(b"\x89PNG")
    table = out / "degradations.jsonl"
    table.write_bytes(table.read_bytes()[:-40])
    repaired = degrade_files(ward / "in", out, types=QUICK)
    assert (repaired.made, repaired.kept) == (3, 13)
    assert tree(out) == before


def test_what_lies_in_the_folder_that_is_filled_is_not_read(ward):
    found = plain_sources(ward / "in", ward / "in" / "deep", chosen(["exposure"], ["L1"]))
    assert [source.image.path for source in found] == ["broken.jpg", "grey.png", "slice.nii.gz"]


def test_ct_types_work_on_hounsfield_units_of_a_file_that_has_them(ward, here):
    degrade_files(CT, ward / "ct", types=["low_dose", "adjust_brightness"], levels=["1.5"])
    known = records(ward / "ct")
    dose, shift = known["CT_small.low_dose.1.5.png"], known["CT_small.adjust_brightness.1.5.png"]
    assert (dose["space"], shift["space"]) == ("hu", "display")
    window = {"rule": "header", "modality": None}
    expected = dicom_pixels(CT, None, window, lambda values: degrade(values, "low_dose", 1.5, space="hu"))
    np.testing.assert_array_equal(np.asarray(Image.open(ward / "ct" / dose["image"])), expected)


def test_another_profile_or_another_picture_is_made_again(ward, here):
    folder = ward / "changing"
    folder.mkdir()
    Image.fromarray(GREY).save(folder / "a.png")

    def made(profile: str = "clinical-1") -> int:
        return degrade_files(
            folder, ward / "changed", types=["exposure"], levels=["L1"], profile=profile, workers=1
        ).made

    assert (made(), made()) == (1, 0)
    assert made("medq-deg-estimated") == 1
    Image.fromarray(255 - GREY).save(folder / "a.png")
    assert made("medq-deg-estimated") == 1
    assert list(records(ward / "changed")) == ["a.exposure.L1.png"]


def test_a_sheet_shows_every_type_beside_the_image(ward, here):
    done = degrade_files(ward / "in" / "grey.png", ward / "sheet", types=["exposure", "gaussian_noise"], sheet=True)
    assert done.sheets == [ward / "sheet" / "sheets" / "grey.png"]
    sheet = Image.open(done.sheets[0])
    assert sheet.width > 3 * 320
    assert sheet.height > 2 * 200


QUESTION = {"id": "q", "kind": "choice", "prompt": "?", "options": ["a", "b"], "gold": 1}


def a_set(folder: Path, cases: list[dict]) -> Path:
    write_case_set([Case.model_validate(case) for case in cases], folder)
    Image.fromarray(GREY).save(folder / "skin.png")
    (folder / "scans").mkdir()
    shutil.copy(CT, folder / "scans" / "ct.dcm")
    return folder


def test_a_case_set_becomes_a_case_set_with_stored_degradations(ward, here):
    images = [{"path": "skin.png", "modality": "Dermoscopy"}, {"path": "scans/ct.dcm", "modality": "CT"}]
    source = a_set(
        ward / "set",
        [
            {"id": "both", "history": "h", "images": images, "questions": [QUESTION], "extra": [1]},
            {"id": "skin", "images": images[:1], "questions": [QUESTION]},
            {"id": "text", "questions": [QUESTION]},
        ],
    )
    done = degrade_files(source, ward / "stored", types=["low_dose", "exposure", "ghosting"], levels=["L1"])
    assert (done.cases, done.images, done.made, done.problems) == (3, 2, 3, [])
    assert validate(ward / "stored", workers=1) == []
    both, skin, text = CaseSet.open(ward / "stored")
    assert both.model_extra == {"extra": [1]}
    assert [image.path for image in both.images] == [
        "skin.png",
        "scans/ct.dcm",
        "skin.exposure.L1.png",
        "scans/ct.low_dose.L1.png",
        "scans/ct.exposure.L1.png",
    ]
    assert [(each.id, each.images) for each in both.questions] == [
        ("q", [0, 1]),
        ("q.low_dose.L1", [0, 3]),
        ("q.exposure.L1", [2, 4]),
    ]
    assert [each.id for each in skin.questions] == ["q", "q.exposure.L1"]
    assert text.questions == Case.model_validate({"id": "text", "questions": [QUESTION]}).questions
    assert (ward / "stored" / "skin.png").read_bytes() == (source / "skin.png").read_bytes()


def test_a_case_set_with_assigned_degradations_is_rendered_as_assigned(ward, here):
    images = [{"path": "skin.png", "modality": "Dermoscopy"}]
    assigned = {**QUESTION, "id": "d", "of": "q", "degradations": ["exposure@L2"]}
    unfit = {**QUESTION, "id": "u", "of": "q", "degradations": ["low_dose@L2"]}
    source = a_set(ward / "set2", [{"id": "one", "images": images, "questions": [QUESTION, assigned, unfit]}])
    done = degrade_files(source, ward / "stored2")
    assert (done.made, done.questions) == (1, 2)
    assert [problem.field for problem in done.problems] == ["one.u"]
    (one,) = CaseSet.open(ward / "stored2")
    assert [(each.id, each.images) for each in one.questions] == [("q", [0]), ("d", [1])]
    assert one.images[1].degradations == ("exposure@L2",)
    again = degrade_files(source, ward / "stored2")
    assert (again.made, again.kept, again.questions) == (0, 1, 2)


def test_no_case_set_is_written_over(ward, here):
    images = [{"path": "skin.png"}, {"path": "skin.exposure.L1.png"}]
    source = a_set(ward / "set3", [{"id": "one", "images": images, "questions": [QUESTION]}])
    shutil.copy(source / "skin.png", source / "skin.exposure.L1.png")
    with pytest.raises(WardroundError, match=r"has an image 'skin\.exposure\.L1\.png' already"):
        degrade_files(source, ward / "stored3", types=["exposure"])
    with pytest.raises(WardroundError, match="never overwritten"):
        degrade_files(source, ward / "set", types=["exposure"])
    for named in (source, source / "cases.jsonl"):
        with pytest.raises(WardroundError, match="name another folder"):
            degrade_files(named, source, types=["exposure"])


def test_all_types_at_both_levels_unless_told_otherwise():
    assert chosen(None, None) == tuple((type, severity) for type in TYPES for severity in (1.0, 2.0))
    assert chosen(["Bubble", "low-dose"], ["L2", "0.5"]) == tuple(
        (type, severity) for type in ("low_dose", "bubble") for severity in (0.5, 2.0)
    )


def test_copies_of_files_that_are_named_alike_are_told_apart():
    images = [
        CaseImage(path="a/x.png"),
        CaseImage(path="a/X.jpg"),
        CaseImage(path="x.nii.gz", frame=3),
        CaseImage(path="x.nii.gz", frame=4),
        CaseImage(path="x.nii.gz", frame=4, axis=1),
        CaseImage(path="x.nii.gz", frame=4, axis=0),
        CaseImage(path="a/x.png"),
    ]
    names = copy_names(images)
    assert [names[key_of(image)] for image in images] == [
        "a/x",
        "a/X.jpg",
        "x.3",
        "x.4",
        "x.nii.gz.4",
        "x.nii.gz.4-2",
        "a/x",
    ]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"types": ["rust"]}, "there is no degradation 'rust'"),
        ({"levels": ["L7"]}, "severity 'L7'"),
        ({"levels": ["L0"]}, "L0 is the image itself"),
        ({"profile": "mine"}, "there is no severity profile 'mine'"),
        ({"source": "nowhere"}, "no such file or folder"),
        ({"source": "empty"}, "there is no image in it"),
        ({"out": "in"}, "name another folder"),
        ({"out": "in/grey.png"}, "is not a folder"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is(ward, asked, said):
    (ward / "empty").mkdir(exist_ok=True)
    asked = {"source": "in", "out": "refused"} | asked
    with pytest.raises(WardroundError, match=said):
        degrade_files(ward / asked.pop("source"), ward / asked.pop("out"), workers=1, **asked)
    assert not (ward / "refused").exists()


def test_a_single_file_is_tried_whatever_its_name(ward, here):
    (source,) = plain_sources(ward / "in" / "notes.txt", ward / "out", chosen(["exposure"], ["L1"]))
    assert (source.name, source.image.path) == ("notes", "notes.txt")
    done = degrade_files(ward / "in" / "notes.txt", ward / "notes", types=["exposure"])
    assert [problem.message for problem in done.problems] == [NO_IMAGE]
