"""Folders of images and case sets become degraded copies: any workers, any restart, the same bytes."""

import json
import shutil
from pathlib import Path

import nibabel
import numpy as np
import pytest
from PIL import Image
from pydicom.data import get_testdata_file

from wardround.cases.images.dicom import NOT_AN_IMAGE, dicom_pixels
from wardround.cases.set import CaseSet, write_case_set
from wardround.cases.validation import validate
from wardround.core.case import Case
from wardround.core.case import Image as CaseImage
from wardround.core.errors import WardroundError
from wardround.degrade import TYPES, apply_degradation, degrade
from wardround.degrade.folder import choose_degradations, degrade_files
from wardround.degrade.quality import psnr, ssim
from wardround.degrade.sources import copy_names, find_sources, image_key

CT = Path(str(get_testdata_file("CT_small.dcm", download=False)))
GREY = np.random.default_rng(5).integers(30, 220, (40, 56), dtype=np.uint8)
QUICK = ["low_dose", "adjust_brightness"]


@pytest.fixture(scope="module")
def image_folder(tmp_path_factory) -> Path:
    """A folder with images of every kind, one that is broken, and what is no image."""
    folder = tmp_path_factory.mktemp("images")
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
def in_process(monkeypatch):
    """Jobs run in this process: starting others takes a while."""

    def map_here(function, jobs, workers):
        return ((job, function(job)) for job in jobs)

    monkeypatch.setattr("wardround.degrade.pool.map_in_order", map_here)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def records(folder: Path) -> dict[str, dict]:
    lines = (folder / "degradations.jsonl").read_text().splitlines()
    return {record["image"]: record for record in map(json.loads, lines)}


def test_a_folder_gives_the_same_copies_for_any_workers_and_after_any_restart(image_folder, request):
    out = image_folder / "out"
    progress: list[tuple[int, int]] = []
    summary = degrade_files(
        image_folder / "in", out, types=QUICK, workers=2, progress=lambda *counts: progress.append(counts)
    )
    assert (summary.images, summary.made, summary.kept) == (5, 16, 0)
    assert [str(problem) for problem in summary.problems] == [
        f"{image_folder}/in/broken.jpg: cannot be read as a JPG image"
    ]
    assert progress[0] == (0, 20)
    assert progress[-1] == (20, 20)

    known = records(out)
    assert len(known) == 16
    assert {name for name in tree(out) if name.endswith(".png")} == set(known)
    record = known["grey.adjust_brightness.L2.png"]
    copy = np.asarray(Image.open(out / record["image"]))
    expected = apply_degradation(GREY, "adjust_brightness", "L2")
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
    request.getfixturevalue("in_process")
    elsewhere = degrade_files(image_folder / "in", image_folder / "elsewhere", types=QUICK[::-1])
    assert elsewhere.made == 16
    assert tree(image_folder / "elsewhere") == before

    # a second time nothing is made
    again = degrade_files(image_folder / "in", out, types=QUICK)
    assert (again.made, again.kept, len(again.problems)) == (0, 16, 1)
    assert tree(out) == before

    # a crash: a copy is missing, another is cut, the last record is half written
    (out / "deep" / "ct.low_dose.L1.png").unlink()
    (out / "grey.low_dose.L2.png").write_bytes(b"\x89PNG")
    table = out / "degradations.jsonl"
    table.write_bytes(table.read_bytes()[:-40])
    repaired = degrade_files(image_folder / "in", out, types=QUICK)
    assert (repaired.made, repaired.kept) == (3, 13)
    assert tree(out) == before


def test_what_lies_in_the_folder_that_is_filled_is_not_read(image_folder):
    sources = find_sources(image_folder / "in", image_folder / "in" / "deep", choose_degradations(["exposure"], ["L1"]))
    assert [source.image.path for source in sources] == ["broken.jpg", "grey.png", "slice.nii.gz"]


def test_ct_types_work_on_hounsfield_units_of_a_file_that_has_them(image_folder, in_process):
    degrade_files(CT, image_folder / "ct", types=["low_dose", "adjust_brightness"], levels=["1.5"])
    known = records(image_folder / "ct")
    dose, shift = known["CT_small.low_dose.1.5.png"], known["CT_small.adjust_brightness.1.5.png"]
    assert (dose["space"], shift["space"]) == ("hu", "display")
    window = {"rule": "header", "modality": None}
    expected = dicom_pixels(CT, None, window, lambda values, width: degrade(values, "low_dose", 1.5, space="hu"))
    np.testing.assert_array_equal(np.asarray(Image.open(image_folder / "ct" / dose["image"])), expected)


def test_another_profile_or_another_picture_is_made_again(image_folder, in_process):
    folder = image_folder / "changing"
    folder.mkdir()
    Image.fromarray(GREY).save(folder / "a.png")

    def made(profile: str = "clinical-1") -> int:
        return degrade_files(
            folder, image_folder / "changed", types=["exposure"], levels=["L1"], profile=profile, workers=1
        ).made

    assert (made(), made()) == (1, 0)
    assert made("medq-deg-estimated") == 1
    Image.fromarray(255 - GREY).save(folder / "a.png")
    assert made("medq-deg-estimated") == 1
    assert list(records(image_folder / "changed")) == ["a.exposure.L1.png"]


def test_a_sheet_shows_every_type_beside_the_image(image_folder, in_process):
    summary = degrade_files(
        image_folder / "in" / "grey.png", image_folder / "sheet", types=["exposure", "gaussian_noise"], sheet=True
    )
    assert summary.sheets == [image_folder / "sheet" / "sheets" / "grey.png"]
    sheet = Image.open(summary.sheets[0])
    assert sheet.width > 3 * 320
    assert sheet.height > 2 * 200


QUESTION = {"id": "q", "kind": "choice", "prompt": "?", "options": ["a", "b"], "gold": 1}


def a_set(folder: Path, cases: list[dict]) -> Path:
    write_case_set([Case.model_validate(case) for case in cases], folder)
    Image.fromarray(GREY).save(folder / "skin.png")
    (folder / "scans").mkdir()
    shutil.copy(CT, folder / "scans" / "ct.dcm")
    return folder


def test_a_case_set_becomes_a_case_set_with_stored_degradations(image_folder, in_process):
    images = [{"path": "skin.png", "modality": "Dermoscopy"}, {"path": "scans/ct.dcm", "modality": "CT"}]
    source = a_set(
        image_folder / "set",
        [
            {"id": "both", "history": "h", "images": images, "questions": [QUESTION], "extra": [1]},
            {"id": "skin", "images": images[:1], "questions": [QUESTION]},
            {"id": "text", "questions": [QUESTION]},
        ],
    )
    summary = degrade_files(source, image_folder / "stored", types=["low_dose", "exposure", "ghosting"], levels=["L1"])
    assert (summary.cases, summary.images, summary.made, summary.problems) == (3, 2, 3, [])
    assert validate(image_folder / "stored", workers=1) == []
    both, skin, text = CaseSet.open(image_folder / "stored")
    assert both.model_extra == {"extra": [1]}
    assert [image.path for image in both.images] == [
        "skin.png",
        "scans/ct.dcm",
        "skin.exposure.L1.png",
        "scans/ct.low_dose.L1.png",
        "scans/ct.exposure.L1.png",
    ]
    assert [(question.id, question.images) for question in both.questions] == [
        ("q", [0, 1]),
        ("q.low_dose.L1", [0, 3]),
        ("q.exposure.L1", [2, 4]),
    ]
    assert [question.id for question in skin.questions] == ["q", "q.exposure.L1"]
    assert text.questions == Case.model_validate({"id": "text", "questions": [QUESTION]}).questions
    assert (image_folder / "stored" / "skin.png").read_bytes() == (source / "skin.png").read_bytes()


def test_a_case_set_with_assigned_degradations_is_rendered_as_assigned(image_folder, in_process):
    images = [{"path": "skin.png", "modality": "Dermoscopy"}]
    assigned = {**QUESTION, "id": "d", "of": "q", "degradations": ["exposure@L2"]}
    unfit = {**QUESTION, "id": "u", "of": "q", "degradations": ["low_dose@L2"]}
    source = a_set(image_folder / "set2", [{"id": "one", "images": images, "questions": [QUESTION, assigned, unfit]}])
    summary = degrade_files(source, image_folder / "stored2")
    assert (summary.made, summary.questions) == (1, 2)
    assert [problem.field for problem in summary.problems] == ["one.u"]
    (one,) = CaseSet.open(image_folder / "stored2")
    assert [(question.id, question.images) for question in one.questions] == [("q", [0]), ("d", [1])]
    assert one.images[1].degradations == ("exposure@L2",)
    again = degrade_files(source, image_folder / "stored2")
    assert (again.made, again.kept, again.questions) == (0, 1, 2)


def test_no_case_set_is_written_over(image_folder, in_process):
    images = [{"path": "skin.png"}, {"path": "skin.exposure.L1.png"}]
    source = a_set(image_folder / "set3", [{"id": "one", "images": images, "questions": [QUESTION]}])
    shutil.copy(source / "skin.png", source / "skin.exposure.L1.png")
    with pytest.raises(WardroundError, match=r"has an image 'skin\.exposure\.L1\.png' already"):
        degrade_files(source, image_folder / "stored3", types=["exposure"])
    with pytest.raises(WardroundError, match="never overwritten"):
        degrade_files(source, image_folder / "set", types=["exposure"])
    for named in (source, source / "cases.jsonl"):
        with pytest.raises(WardroundError, match="name another folder"):
            degrade_files(named, source, types=["exposure"])


def test_all_types_at_both_levels_by_default():
    assert choose_degradations(None, None) == tuple((type, severity) for type in TYPES for severity in (1.0, 2.0))
    assert choose_degradations(["Bubble", "low-dose"], ["L2", "0.5"]) == tuple(
        (type, severity) for type in ("low_dose", "bubble") for severity in (0.5, 2.0)
    )


def test_copies_of_files_that_are_named_alike_have_different_names():
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
    assert [names[image_key(image)] for image in images] == [
        "a/x",
        "a/X.jpg",
        "x.3",
        "x.4",
        "x.nii.gz.4",
        "x.nii.gz.4-2",
        "a/x",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": ["rust"]}, "there is no degradation 'rust'"),
        ({"levels": ["L7"]}, "severity 'L7'"),
        ({"levels": ["L0"]}, "L0 is the image itself"),
        ({"profile": "mine"}, "there is no severity profile 'mine'"),
        ({"source": "nowhere"}, "no such file or folder"),
        ({"source": "empty"}, "contains no image"),
        ({"out": "in"}, "name another folder"),
        ({"out": "in/grey.png"}, "is not a folder"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(image_folder, options, message):
    (image_folder / "empty").mkdir(exist_ok=True)
    options = {"source": "in", "out": "refused"} | options
    with pytest.raises(WardroundError, match=message):
        degrade_files(image_folder / options.pop("source"), image_folder / options.pop("out"), workers=1, **options)
    assert not (image_folder / "refused").exists()


def test_a_single_file_is_tried_whatever_its_name(image_folder, in_process):
    (source,) = find_sources(
        image_folder / "in" / "notes.txt", image_folder / "out", choose_degradations(["exposure"], ["L1"])
    )
    assert (source.name, source.image.path) == ("notes", "notes.txt")
    summary = degrade_files(image_folder / "in" / "notes.txt", image_folder / "notes", types=["exposure"])
    assert [problem.message for problem in summary.problems] == [NOT_AN_IMAGE]
