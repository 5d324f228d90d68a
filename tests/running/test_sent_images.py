"""Pixels arrive: a server that decodes every image it gets and answers from what is drawn into it."""

from __future__ import annotations

import base64
import hashlib
import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from exam_server import ExamServer, text_of
from exam_study import case, examine, stored, wardround, write_cases, write_study
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

from wardround.cases.set import CaseSet
from wardround.core.condition import Condition
from wardround.core.study import load_study
from wardround.marking.mark_table import mark_answers
from wardround.running.store import AnswerKey, AnswerStore
from wardround.running.used_answers import scan_used

BLOCK, BITS, MARK = 8, 8, 0b10101010
WINDOW = (40.0, 80.0)
LOW, HIGH = 21, 61  # Hounsfield units of a 0 and a 1: apart in the window, the same grey in any wide one


def drawn(*numbers: int, low: int = 0, high: int = 255) -> np.ndarray:
    """A mark, then each number as a row of blocks, its bits from high to low."""
    rows = [[high if number >> bit & 1 else low for bit in reversed(range(BITS))] for number in (MARK, *numbers)]
    return np.kron(np.array(rows), np.ones((BLOCK, BLOCK), int))


def read(shown: np.ndarray) -> tuple[int, ...]:
    """The numbers that are drawn into an image."""
    grey = shown.mean(axis=2) if shown.ndim == 3 else shown
    blocks = grey.reshape(grey.shape[0] // BLOCK, BLOCK, BITS, BLOCK).mean(axis=(1, 3))
    middle = (float(grey.min()) + float(grey.max())) / 2
    first, *numbers = (int("".join("1" if block > middle else "0" for block in row), 2) for row in blocks)
    assert first == MARK
    return tuple(numbers)


def images_of(body: dict[str, Any]) -> list[np.ndarray]:
    content = body["messages"][0]["content"]
    if isinstance(content, str):
        return []
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    assert all(part["type"] == "text" for part in content[len(urls) :]), "images come first, then the text"
    decoded = []
    for url in urls:
        kind, _, data = url.partition(";base64,")
        image = Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
        assert kind == f"data:{image.get_format_mimetype()}"
        decoded.append(np.asarray(image).astype(float))
    return decoded


def letter_of_what_is_drawn(body: dict[str, Any], index: int) -> str:
    """The letter that belongs to the case whose number is drawn; says so where nothing is drawn."""
    images = images_of(body)
    if not images:
        return "no image"
    if any(image.max() == image.min() for image in images):
        return "blank"
    numbers = [read(image) for image in images]
    if [order for _, order, *_ in numbers] != list(range(len(images))):
        return "out of order"
    return "ABCD"[numbers[0][0] % 4]


def write_dicom(path: Path, frames: list[np.ndarray], window: tuple[float, float] | None) -> None:
    """A CT image that the header shows in a wide window, or in the one given."""
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID = CTImageStorage
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID = generate_uid()
    dataset.PatientName, dataset.Modality = "Secret^Name", "CT"
    dataset.Rows, dataset.Columns = frames[0].shape
    dataset.SamplesPerPixel, dataset.PhotometricInterpretation = 1, "MONOCHROME2"
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit, dataset.PixelRepresentation = 16, 16, 15, 0
    dataset.RescaleSlope, dataset.RescaleIntercept = 1, -1024
    dataset.WindowCenter, dataset.WindowWidth = window or (0, 60000)
    if len(frames) > 1:
        dataset.NumberOfFrames = len(frames)
    dataset.PixelData = (np.stack(frames) + 1024).astype("<u2").tobytes()
    dataset.save_as(path, enforce_file_format=True)


def windowed(units: float) -> int:
    """A grey by the linear function of the DICOM standard (PS3.3 C.11.2.1.2), for WINDOW."""
    center, width = WINDOW
    return round(((units - (center - 0.5)) / (width - 1) + 0.5) * 255)


CASES = 8  # plain ones, with one to three images; then what has a window and a frame


@pytest.fixture(scope="module")
def ward(tmp_path_factory) -> Path:
    """A case set with case number and order drawn into every image, in many formats."""
    folder = tmp_path_factory.mktemp("ward")
    images = folder / "cases" / "images"
    images.mkdir(parents=True)
    cases = []
    formats = ("png", "jpg", "tiff", "bmp", "webp")
    for number in range(CASES):
        named = []
        for order in range(1 + number % 3):
            name = f"{number}-{order}.{formats[(number + order) % len(formats)]}"
            shown = Image.fromarray(drawn(number, order).astype(np.uint8))
            shown.save(images / name, **({"lossless": True} if name.endswith("webp") else {}))
            named.append({"path": f"images/{name}", "modality": "CT" if number % 2 else "MR"})
        cases.append(case(number, images=named))
    units = {"low": LOW, "high": HIGH}
    write_dicom(images / "header.dcm", [drawn(8, 0, **units)], WINDOW)
    write_dicom(images / "own.dcm", [drawn(9, 0, **units)], None)
    write_dicom(images / "frames.dcm", [drawn(10, 0, frame, **units) for frame in range(4)], WINDOW)
    cases += [
        case(8, images=[{"path": "images/header.dcm", "modality": "CT"}]),
        case(9, images=[{"path": "images/own.dcm", "modality": "CT", "window": WINDOW}]),
        case(10, images=[{"path": "images/frames.dcm", "modality": "CT", "frame": 2}]),
    ]
    Image.fromarray(drawn(11, 0).astype(np.uint8)).save(images / "only.png")
    cases.append(case(11, images=[{"path": "images/only.png", "modality": "US"}]))
    write_cases(folder / "cases", cases)
    return folder


@pytest.fixture(scope="module")
def sent(ward) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any], pl.DataFrame]:
    """What the server got, by control; the manifest; and the marks."""
    with ExamServer(letter_of_what_is_drawn) as server:
        study = write_study(
            ward,
            server.url,
            conditions={"images": ["as-is", "blank", "swapped", "none"], "stem": ["full", "options-only"]},
        )
        manifest = examine(study)
    store = AnswerStore(ward / "answers.sqlite")
    used = scan_used(ward / "runs" / "exam")
    marks = pl.concat(mark_answers(used, CaseSet.open(ward / "cases"), store, load_study(study)))
    store.close()
    asked = server.bodies[: len(stored(ward / "answers.sqlite"))]  # without the sentinels
    by_control: dict[str, list[dict[str, Any]]] = {}
    for body in asked:
        by_control.setdefault(_control(body), []).append(body)
    return by_control, manifest, marks


def _control(body: dict[str, Any]) -> str:
    said, images = text_of(body), images_of(body)
    if "withheld" in said:
        return "options-only"
    if not images:
        return "none"
    if images[0].max() == images[0].min():
        return "blank"
    return "as-is" if read(images[0])[0] == patient(body) else "swapped"


def patient(body: dict[str, Any]) -> int:
    """The number of the case that the text is about."""
    return int(text_of(body).split("What does patient ")[1].split()[0])


def test_every_image_is_sent_in_its_order(sent):
    as_is = sent[0]["as-is"]
    assert sorted(map(patient, as_is)) == list(range(CASES + 4))
    for body in as_is:
        number = patient(body)
        images = images_of(body)
        assert len(images) == (1 + number % 3 if number < CASES else 1)
        assert [read(image)[:2] for image in images] == [(number, order) for order in range(len(images))]
        listed = "; ".join(f"{place}. {_modality(number)}" for place in range(1, len(images) + 1))
        assert f"Images, in order: {listed}\n" in text_of(body)


def _modality(number: int) -> str:
    return ("CT" if number % 2 else "MR") if number < CASES else "US" if number == 11 else "CT"


def test_images_are_sent_with_their_window_and_frame(sent):
    for body in sent[0]["as-is"]:
        if patient(body) in (8, 9, 10):
            (image,) = images_of(body)
            assert set(np.unique(image)) == {windowed(LOW), windowed(HIGH)}
        if patient(body) == 10:
            assert read(image) == (10, 0, 2)


def test_a_server_that_reads_pixels_is_right_except_under_the_controls(sent):
    _, manifest, marks = sent
    conditions = {Condition(images=image).json: image for image in ("as-is", "blank", "swapped", "none")}
    full = marks.with_columns(control=pl.col("condition").replace_strict(conditions, default=None)).drop_nulls(
        "control"
    )
    outcomes = {control: Counter(rows["outcome"]) for (control,), rows in full.group_by("control")}
    assert outcomes["as-is"] == {"right": CASES + 4}
    assert outcomes["blank"] == outcomes["none"] == {"unparsed": CASES + 4}
    assert sum(outcomes["swapped"].values()) == CASES + 3
    assert outcomes["swapped"]["unparsed"] < CASES  # several swapped images need not be in order
    assert manifest["status"] == "complete"


def test_blank_images_keep_their_size_and_have_one_grey(sent):
    assert len(sent[0]["blank"]) == CASES + 4
    for body in sent[0]["blank"]:
        for image in images_of(body):
            assert image.shape[:2] == ((4 if patient(body) == 10 else 3) * BLOCK, BITS * BLOCK)
            assert set(np.unique(image)) == {128}


def test_no_images_are_sent_but_the_text_still_refers_to_them(sent):
    assert len(sent[0]["none"]) == CASES + 4
    for body in sent[0]["none"]:
        assert isinstance(body["messages"][0]["content"], str)
        assert f"Images, in order: 1. {_modality(patient(body))}" in text_of(body)


def test_options_only_shows_neither_stem_nor_images(sent):
    alone = sent[0]["options-only"]
    assert len(alone) == CASES + 4
    for body in alone:
        assert "alpha\nB." in text_of(body)
        assert not any(word in text_of(body) for word in ("Images", "History", "What does"))


def test_swapped_images_are_other_cases_of_the_same_modality(sent):
    swapped = sent[0]["swapped"]
    assert sorted(map(patient, swapped)) == list(range(CASES + 3))
    for body in swapped:
        for image in images_of(body):
            other = read(image)[0]
            assert other != patient(body)
            assert _modality(other) == _modality(patient(body))
    assert sent[1]["inapplicable"]["no other case has an image of that modality"] == 1


def test_swapped_images_are_the_same_on_every_restart(sent, tmp_path, ward):
    """In another process, at another time, in another order of arrival, into another store."""
    with ExamServer(letter_of_what_is_drawn) as server:
        study = write_study(tmp_path, server.url, top={"cases": str(ward / "cases")}, conditions={"images": "swapped"})
        ended = wardround("run", study, cwd=tmp_path, PYTHONHASHSEED="12345")
    assert ended.returncode == 0, ended.stderr
    again, first = dict(_rows(tmp_path)), dict(_rows(ward))
    assert len(again) == CASES + 3
    assert again.items() <= first.items()


def _rows(folder: Path) -> list[tuple[bytes, bytes]]:
    return [(ask, body) for ask, _, _, body in stored(folder / "answers.sqlite")]


def test_the_hash_of_each_image_sent_is_in_the_answer_and_no_header_is_sent(sent, ward):
    hashes = set()
    for bodies in sent[0].values():
        for body in bodies:
            content = body["messages"][0]["content"]
            for part in content if isinstance(content, list) else []:
                if part["type"] == "image_url":
                    data = base64.b64decode(part["image_url"]["url"].partition(";base64,")[2])
                    assert b"Secret" not in data
                    hashes.add(hashlib.sha256(data).hexdigest())
    store = AnswerStore(ward / "answers.sqlite")
    kept = set()
    for ask, trial, turn, _ in stored(ward / "answers.sqlite"):
        answer = store.get(AnswerKey(ask, trial, turn))
        assert answer is not None
        kept.update(answer.images)
    store.close()
    assert kept == hashes
