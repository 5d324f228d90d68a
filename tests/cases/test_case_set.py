"""Case sets are opened, indexed, iterated and written without losing anything."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from case_lines import case, choice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, WardroundError


def test_a_set_is_opened_by_its_folder_or_its_file(written):
    folder = written(case("a"), case("b", questions=[choice(id="x"), choice(id="y")]))
    for path in (folder, str(folder), folder / "cases.jsonl"):
        cases = CaseSet.open(path)
        assert len(cases) == 2
        assert cases.question_count == 3
        assert cases.folder == folder
        assert cases.problems == []
    assert cases.hash == hashlib.blake2b((folder / "cases.jsonl").read_bytes(), digest_size=32).hexdigest()


def test_a_case_is_found_by_index_and_by_id(written):
    folder = written(case("a"), b"", b"{broken", case("ü" * 40, history="naïve\u2028"), case("b"))
    cases = CaseSet.open(folder)
    assert [case.id for case in cases] == ["a", "ü" * 40, "b"]
    assert [cases.case(i).id for i in (2, 0, 1, -1)] == ["b", "a", "ü" * 40, "b"]
    assert [cases.line(i) for i in range(3)] == [1, 4, 5]
    assert cases.case(cases.index_of("ü" * 40)).history == "naïve\u2028"
    with pytest.raises(BadInput, match="no usable case 'zzz'"):
        cases.index_of("zzz")


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(written):
    folder = written(b"\xef\xbb\xbf" + json.dumps(case("a")).encode() + b"\r", case("b"))
    cases = CaseSet.open(folder)
    assert [case.id for case in cases] == ["a", "b"]
    assert cases.problems == []


def test_images_are_listed_by_modality(written):
    good = {"path": "images/good.png"}
    folder = written(
        case("a", images=[{**good, "modality": "CT"}, {**good, "modality": "MR"}]),
        case("b", images=[good]),
        case("c", images=[{**good, "modality": "MR"}, {**good, "modality": "CT"}]),
    )
    cases = CaseSet.open(folder)
    assert cases.images_of_modality("CT").tolist() == [[0, 0], [2, 1]]
    assert cases.images_of_modality("MR").tolist() == [[0, 1], [2, 0]]
    assert cases.images_of_modality(None).tolist() == [[1, 0]]
    assert cases.images_of_modality("US").shape == (0, 2)
    assert cases.modalities == ["CT", "MR", None]


def test_a_stored_degraded_question_shows_its_own_image(written):
    good = {"path": "images/good.png"}
    folder = written(
        case(
            images=[good, {**good, "degradations": ["sparse_view@L1"]}],
            questions=[
                choice(id="q", images=[0]),
                choice(id="deg-1", of="q", images=[1], degradations=["sparse_view@L1"]),
                choice(id="all"),
            ],
        )
    )
    stored = CaseSet.open(folder, strict=True).case(0)
    assert [question.images for question in stored.questions] == [[0], [1], None]
    assert [image.degradations for image in stored.images] == [(), ("sparse_view@L1",)]


def test_image_paths_are_absolute_and_stay_inside(written, monkeypatch):
    folder = written(case(images=[{"path": "images/good.png"}]))
    monkeypatch.chdir(folder.parent)
    cases = CaseSet.open("set")
    assert cases.image_path(cases.case(0).images[0]) == folder / "images" / "good.png"
    for outside in ("../x.png", "/etc/passwd", "images/../../x.png"):
        with pytest.raises(BadInput, match="leads out"):
            cases.image_path(Image(path=outside))


def test_a_file_that_changes_while_in_use_is_an_error(written, monkeypatch):
    monkeypatch.setattr("wardround.cases.set.MAX_CACHED_BYTES", 0)
    folder = written(case("a"), case("b"))
    cases = CaseSet.open(folder)
    (folder / "cases.jsonl").write_text("short\n")
    with pytest.raises(BadInput, match="changed while it was in use"):
        cases.case(1)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
# neither fields of a record nor names that pydantic reserves
unknown = st.dictionaries(texts.map(lambda name: f"x_{name}"), json_values, max_size=3)
questions = st.builds(
    lambda more, options, gold: {**more, **choice(options=options, gold=gold % len(options))},
    unknown,
    st.lists(texts.filter(str.strip), min_size=2, max_size=5),
    st.integers(0, 99),
)
case_records = st.builds(
    lambda more, question, optional: {**more, **optional, "id": "", "questions": [question]},
    unknown,
    questions,
    st.fixed_dictionaries(
        {},
        optional={
            "history": st.none() | texts,
            "tags": st.lists(texts, max_size=3),
            "patient": unknown.map(lambda more: {**more, "age": 54}),
            "origin": unknown,
            "tellings": st.dictionaries(texts, unknown, max_size=2),
            "references": st.lists(unknown, max_size=2),
        },
    ),
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(case_records, min_size=1, max_size=4))
def test_nothing_is_lost_by_reading_and_writing(tmp_path, records):
    records = [{**record, "id": f"case-{number}"} for number, record in enumerate(records)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    first = CaseSet.open(tmp_path, strict=True)
    again = tmp_path / "again"
    assert write_case_set(first, again) == len(records)
    lines = (again / "cases.jsonl").read_text(encoding="utf-8").split("\n")
    assert [json.loads(line) for line in lines if line] == records
    assert [case.as_written() for case in CaseSet.open(again, strict=True)] == [case.as_written() for case in first]


def test_writing_is_atomic(tmp_path):
    good = Case.model_validate(case("a"))
    write_case_set([good], tmp_path)
    before = (tmp_path / "cases.jsonl").read_bytes()

    def failing():
        yield good.model_copy(update={"id": "b"})
        raise WardroundError("half-way")

    with pytest.raises(WardroundError, match="half-way"):
        write_case_set(failing(), tmp_path)
    with pytest.raises(WardroundError, match="'a' would be written twice"):
        write_case_set([good, good], tmp_path)
    assert (tmp_path / "cases.jsonl").read_bytes() == before
    assert os.listdir(tmp_path) == ["cases.jsonl"]


OPEN_AND_MEASURE = """
import resource, sys
from wardround.cases.set import CaseSet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cases = CaseSet.open(sys.argv[1])
opened = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
total = sum(len(case.questions) for case in cases)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1 if sys.platform == "darwin" else 1024
print(len(cases), cases.question_count, total, (opened - before) * unit, (after - before) * unit)
"""


@pytest.mark.slow
def test_180_000_cases_open_in_bounded_memory(tmp_path: Path):
    file = tmp_path / "cases.jsonl"
    with file.open("w") as lines:
        for number in range(180_000):
            line = case(f"case-{number:06}", history="a history of some length " * 40)
            lines.write(json.dumps(line) + "\n")
    process = subprocess.run(
        [sys.executable, "-c", OPEN_AND_MEASURE, str(tmp_path)], capture_output=True, text=True, check=True
    )
    count, questions_counted, iterated, opening, whole = map(int, process.stdout.split())
    assert (count, questions_counted, iterated) == (180_000, 180_000, 180_000)
    assert file.stat().st_size > 200e6  # enough to notice if the cases were kept
    assert opening < 60e6
    assert whole < 70e6


@pytest.mark.parametrize("listed", [0, 1, 100], ids=["none", "some", "all"])
def test_an_image_is_found_however_many_files_of_its_folder_are_listed(written, monkeypatch, listed):
    monkeypatch.setattr("wardround.cases.set.MAX_LISTED_FILES", listed)
    folder = written(
        case("a", images=[{"path": "scans/1.png"}, {"path": "./scans/2.png"}, {"path": "top.png"}]),
        case("b", images=[{"path": "scans/3.png"}]),
        case("c", images=[{"path": "scans"}]),
        case("d", images=[{"path": "scans/"}]),
        case("e", images=[{"path": "nowhere/1.png"}]),
        case("f", images=[{"path": "scans/1.png"}, {"path": "scans/linked.png"}]),
        case("g", images=[{"path": "scans/dangling.png"}]),
    )
    (folder / "scans").mkdir()
    for name in ("scans/1.png", "scans/2.png", "scans/4.png", "top.png"):
        (folder / name).touch()
    (folder / "scans" / "linked.png").symlink_to(folder / "top.png")
    (folder / "scans" / "dangling.png").symlink_to(folder / "scans" / "3.png")

    cases = CaseSet.open(folder)

    assert cases.ids == ["a", "f"]
    assert [problem.line for problem in cases.problems] == [2, 3, 4, 5, 7]
