"""The records of a folder of copies: by source, also after a cut, a change of source, or in a large folder."""

import json
import tracemalloc
from pathlib import Path

import pytest

from wardround.degrade.copy_records import CopyRecords
from wardround.degrade.files import DegradedCopy, expected_record
from wardround.degrade.records import RECORDS_FILE
from wardround.degrade.severities import load_profile

PROFILE = load_profile()
BLUR = DegradedCopy("gaussian_blur", 1.0, "a.gaussian_blur.L1.png")
NOISE = DegradedCopy("gaussian_noise", 2.0, "a.gaussian_noise.L2.png")


def record(copy: DegradedCopy, source: str = "a.png", **changes: object) -> dict:
    facts = {"image": copy.path, "bytes": 3, "source_sha256": "00", "source": source, "flags": []}
    return facts | expected_record(copy, "display", PROFILE) | changes


@pytest.fixture
def folder(tmp_path) -> Path:
    """With the files of both copies."""
    for copy in (BLUR, NOISE):
        (tmp_path / copy.path).write_bytes(b"PNG")
    return tmp_path


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / RECORDS_FILE).read_bytes().splitlines()]


def test_a_record_after_a_line_that_was_cut_is_kept(folder):
    CopyRecords(folder).add([record(BLUR), record(NOISE)])
    table = folder / RECORDS_FILE
    table.write_bytes(table.read_bytes()[:-40])

    resumed = CopyRecords(folder)
    assert resumed.is_current(BLUR, "a.png", "00", PROFILE)
    assert not resumed.is_current(NOISE, "a.png", "00", PROFILE)
    resumed.add([record(NOISE)])

    again = CopyRecords(folder)
    assert again.is_current(NOISE, "a.png", "00", PROFILE)
    again.write_sorted()
    assert [line["image"] for line in lines(folder)] == [NOISE.path, BLUR.path]


def test_of_several_records_of_a_copy_the_last_counts(folder):
    records = CopyRecords(folder)
    records.add([record(BLUR, flags=["over-degraded"]), record(NOISE)])
    assert records.flagged == {BLUR.path}
    records.add([record(BLUR, source_sha256="11")])
    for known in (records, CopyRecords(folder)):
        assert known.flagged == set()
        assert known.is_current(BLUR, "a.png", "11", PROFILE)
        assert not known.is_current(BLUR, "a.png", "00", PROFILE)
    records.write_sorted()
    assert [(line["image"], line["source_sha256"]) for line in lines(folder)] == [(NOISE.path, "00"), (BLUR.path, "11")]


def test_a_copy_whose_source_was_replaced_by_another_file_has_one_record(folder):
    CopyRecords(folder).add([record(BLUR, "a.png"), record(NOISE, "a.png")])
    records = CopyRecords(folder)
    records.add([record(BLUR, "a.jpg")])
    assert records.is_current(BLUR, "a.jpg", "00", PROFILE)
    assert not records.is_current(BLUR, "a.png", "00", PROFILE)
    assert records.is_current(NOISE, "a.png", "00", PROFILE)
    records.write_sorted()
    assert [(line["image"], line["source"]) for line in lines(folder)] == [(BLUR.path, "a.jpg"), (NOISE.path, "a.png")]


def test_a_copy_that_is_not_there_has_no_record_in_the_end(folder):
    records = CopyRecords(folder)
    records.add([record(BLUR), record(NOISE)])
    (folder / BLUR.path).unlink()
    records.write_sorted()
    assert [line["image"] for line in lines(folder)] == [NOISE.path]


def test_records_are_not_kept_in_memory(folder):
    records = CopyRecords(folder)
    many = 400
    tracemalloc.start()
    for number in range(many):
        records.add([record(DegradedCopy("gaussian_blur", number / many, f"a.gaussian_blur.{number / many:g}.png"))])
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (folder / RECORDS_FILE).stat().st_size > 200 * many
    assert memory < 50 * many
