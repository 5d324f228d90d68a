"""The released tables of MedQ-Deg become cases: degraded rows join their clean twin, bad rows are reported."""

from __future__ import annotations

import base64
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture
from published_tables import COLUMNS, degraded, in_base64, picture, row, write_tsv

from wardround.cases.conversion import convert
from wardround.cases.readers import READERS, reader_for
from wardround.cases.readers.medq_deg import degradation_names as names
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.core.errors import BadInput
from wardround.degrade.types import ALIASES, TYPES

GOOD, SIMULATE = "MedQ-Robust-good-test.tsv", "MedQ-Robust-simulate-test.tsv"


def released(folder: Path, clean: list, worn: list) -> list:
    write_tsv(folder / GOOD, clean, COLUMNS)
    write_tsv(folder / SIMULATE, worn, COLUMNS)
    source = READERS["medq-deg"](folder)
    return [source.problems, *source]


def test_degraded_rows_join_their_clean_twin(tmp_path):
    problems, case = released(
        tmp_path,
        [row(0, in_base64(1))],
        [degraded(0, in_base64(2)), degraded(1, in_base64(3), "bias_field_artifact", "L2", modality="ct ")],
    )
    assert problems == []
    assert (case.id, case.split, case.origin.name) == ("test-0", "test", "OmniMedVQA")
    assert case.cluster == case.images[0].path
    assert [list(image.degradations) for image in case.images] == [[], ["sparse_view@L1"], ["bias_field@L2"]]
    clean, first, second = case.questions
    assert (clean.id, clean.images, clean.of, clean.gold) == ("0", [0], None, 1)
    assert clean.options == ["a liver", "a kidney", "a spleen"]
    assert (first.id, first.of, first.images, first.degradations) == ("deg-0", "0", [1], ["sparse_view@L1"])
    assert (second.id, second.of, second.images, second.degradations) == ("deg-1", "0", [2], ["bias_field@L2"])


def test_rows_of_one_image_are_one_case(tmp_path):
    other = {"question": "Where is it?", "A": "left", "B": "right"}
    _, case = released(
        tmp_path,
        [row(0, in_base64(1)), row(1, in_base64(1), **other)],
        [degraded(0, in_base64(2)), degraded(1, in_base64(2), **other)],
    )
    assert len(case.images) == 2
    assert [(question.id, question.of, question.images) for question in case.questions] == [
        ("0", None, [0]),
        ("1", None, [0]),
        ("deg-0", "0", [1]),
        ("deg-1", "1", [1]),
    ]


def test_a_case_that_has_one_image_names_none(tmp_path):
    write_tsv(tmp_path / GOOD, [row(0, in_base64(1)), row(1, in_base64(1), question="Where?")], COLUMNS)
    (case,) = READERS["medq-deg"](tmp_path)
    assert [question.images for question in case.questions] == [None, None]


def test_the_same_question_about_several_images_is_joined_by_the_index(tmp_path):
    problems, *cases = released(
        tmp_path,
        [row("a1", in_base64(1)), row("a2", in_base64(2))],
        [degraded("a1_sparse_view_L1", in_base64(3)), degraded("a2_sparse_view_L1", in_base64(4))],
    )
    assert problems == []
    assert [[question.id for question in case.questions] for case in cases] == [
        ["a1", "deg-a1_sparse_view_L1"],
        ["a2", "deg-a2_sparse_view_L1"],
    ]


def test_or_by_the_name_of_the_image(tmp_path):
    for name in ("clean/x.png", "clean/y.png", "worn/x_L1.png", "worn/y_L1.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(picture(len(name)))
    problems, *cases = released(
        tmp_path,
        [row(0, "clean/x.png"), row(1, "clean/y.png")],
        [degraded(0, "worn/y_L1.png"), degraded(1, "worn/x_L1.png")],
    )
    assert problems == []
    assert [[image.path for image in case.images] for case in cases] == [
        ["clean/x.png", "worn/x_L1.png"],
        ["clean/y.png", "worn/y_L1.png"],
    ]


@pytest.mark.parametrize("alike", [True, False])
def test_equal_numbers_count_only_if_the_tables_are_numbered_alike(tmp_path, alike):
    """Row 2 has a question of its own, so its twin is sure: does it have the same number?"""
    single = {"question": "Only here?"}
    problems, *cases = released(
        tmp_path,
        [row(0, in_base64(1)), row(1, in_base64(2)), row(2, in_base64(3), **single)],
        [degraded(0, in_base64(4)), degraded(2 if alike else 7, in_base64(5), **single)],
    )
    assert len(cases) == (3 if alike else 4)
    assert [str(problem) for problem in problems] == (
        []
        if alike
        else [
            f"{tmp_path / SIMULATE}:2: index: '0' is kept without a clean twin: "
            "2 clean images have its question, options and answer"
        ]
    )
    alone = [question for case in cases for question in case.questions if question.degradations and not question.of]
    assert [question.id for question in alone] == ([] if alike else ["deg-0"])


def test_images_tell_the_twin_where_numbers_do_not(tmp_path):
    """Two clean images share a question; the tables are numbered independently."""
    noise = np.random.default_rng(5).integers(0, 255, (2, 9, 9), dtype=np.uint8)
    clean = [Picture.fromarray(greys).resize((96, 96), Picture.Resampling.BICUBIC) for greys in noise]
    darker = [image.point(lambda grey: grey * 0.6) for image in clean]
    cells = [_encoded(image) for image in (*clean, *darker)]
    problems, *cases = released(
        tmp_path,
        [row(0, cells[0]), row(1, cells[1])],
        [degraded(10, cells[3]), degraded(11, cells[2])],
    )
    assert problems == []
    assert [[question.id for question in case.questions] for case in cases] == [["0", "deg-11"], ["1", "deg-10"]]
    assert [case.questions[1].of for case in cases] == ["0", "1"]


def _encoded(image: Picture.Image) -> str:
    file = io.BytesIO()
    image.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def test_what_has_no_twin_is_counted_named_and_kept(tmp_path):
    problems, clean, alone = released(
        tmp_path, [row(0, in_base64(1))], [degraded(0, in_base64(2), answer="A"), degraded(0, in_base64(3), "fog")]
    )
    assert [(problem.line, problem.field, problem.message) for problem in problems] == [
        (3, "degradation_type", "degradation_type 'fog' is not one of the 18, nor real"),
        (2, "index", "'0' is kept without a clean twin: no clean row has its question, options and answer"),
    ]
    assert len(clean.questions) == 1
    assert (alone.id, alone.questions[0].degradations) == ("test-deg-0", ["sparse_view@L1"])


def test_splits_do_not_mix(tmp_path):
    write_tsv(tmp_path / "MedQ-Robust-good-dev.tsv", [row(0, in_base64(1))], COLUMNS)
    problems, test, dev = released(tmp_path, [row(0, in_base64(1))], [degraded(0, in_base64(2))])[:1] + sorted(
        READERS["medq-deg"](tmp_path), key=lambda case: case.id, reverse=True
    )
    assert problems == []
    assert (dev.id, dev.split, len(dev.questions)) == ("dev-0", "dev", 1)
    assert (test.id, test.split, len(test.questions)) == ("test-0", "test", 2)
    assert dev.cluster == test.cluster


BAD = {
    "no answer": (row(1, in_base64(9), answer=""), "answer", "is ''; the options are A, B, C"),
    "answer of no option": (row(1, in_base64(9), answer="E"), "answer", "is 'E'; the options are A, B, C"),
    "one option": (row(1, in_base64(9), B="", C="", answer="A"), "", "a choice needs at least two options"),
    "a hole among the options": (row(1, in_base64(9), B=""), "", "option B is empty"),
    "no image": (row(1, ""), "image", "is empty"),
    "an image that is not there": (row(1, "gone.png"), "image", "'gone.png': there is no such file beside the table"),
    "a way out": (row(1, "../../x.png"), "image", "'../../x.png': there is no such file beside the table"),
    "not base64": (row(1, "?" * 100), "image", "is neither base64 nor the path of an image"),
    "not an image": (row(1, "QUJD" * 40), "image", "is base64, but not of a PNG, JPEG"),
    "a row that is not there": (row(1, "77"), "image", "'77' is neither an image nor the index of a row"),
    "the same index": (row(0, in_base64(9)), "index", "'0' occurs twice, first in line 2"),
    "unknown severity": (degraded(1, in_base64(9), severity="L9"), "degradation_type", "degradation_severity 'L9'"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_row_is_named_and_the_rest_loads(tmp_path, what):
    bad, field, message = BAD[what]
    file = write_tsv(tmp_path / GOOD, [row(0, in_base64(1)), bad, row(2, in_base64(2))], COLUMNS)
    source = READERS["medq-deg"](file)
    assert [question.id for case in source for question in case.questions] == ["0", "2"]
    (problem,) = source.problems
    assert (problem.file, problem.line, problem.field or "") == (file, 3, field)
    assert problem.message.startswith(message)


def test_lines_count_through_cells_of_several_lines(tmp_path):
    long = 'The first line,\n\tthe second\nand a "third".'
    file = write_tsv(tmp_path / GOOD, [row(0, in_base64(1), question=long), row(1, "")], COLUMNS)
    source = READERS["medq-deg"](file)
    assert [case.questions[0].prompt for case in source] == [long]
    assert [problem.line for problem in source.problems] == [5]


def test_a_row_with_too_few_cells(tmp_path):
    file = write_tsv(tmp_path / GOOD, [row(0, in_base64(1))], COLUMNS)
    with file.open("a") as table:
        table.write("1\tx\n\n")
    source = READERS["medq-deg"](file)
    assert [(problem.line, problem.message) for problem in source.problems] == [
        (3, "has 2 cells; there are 13 columns")
    ]
    assert len(source) == 1


def test_a_cell_may_name_the_row_that_has_the_image(tmp_path):
    file = write_tsv(tmp_path / GOOD, [row(0, "1", question="Where?"), row(1, in_base64(1))], COLUMNS)
    (case,) = READERS["medq-deg"](file)
    assert sorted(question.id for question in case.questions) == ["0", "1"]


def test_two_tables_may_number_the_rows_of_an_image_alike(tmp_path):
    write_tsv(tmp_path / "one-test.tsv", [row(0, in_base64(1)), row(1, in_base64(2))], COLUMNS)
    write_tsv(tmp_path / "two-test.tsv", [row(0, in_base64(1), question="Where?"), row(1, in_base64(3))], COLUMNS)
    cases = list(READERS["medq-deg"](tmp_path))
    assert [(case.id, [question.id for question in case.questions]) for case in cases] == [
        ("test-0", ["0", "0+"]),
        ("test-1", ["1"]),
        ("test-1-2", ["1"]),
    ]


def test_other_columns_are_kept(tmp_path):
    cells = row(0, in_base64(1)) | {"Capability": "Counting", "Body part": "chest", "grade": "high", "id": "z"}
    (case,) = READERS["medq-deg"](write_tsv(tmp_path / GOOD, [cells]))
    assert case.questions[0].model_extra == {"body_part": "chest", "source_grade": "high", "source_id": "z"}
    assert case.questions[0].capability == "Counting"


@pytest.mark.parametrize(
    ("columns", "message"),
    [(["index", "image", "question", "A", "B"], "'answer'"), ([*"ABC", "index", "question", "answer"], "'image'")],
)
def test_a_table_without_a_needed_column(tmp_path, columns, message):
    file = write_tsv(tmp_path / GOOD, [dict.fromkeys(columns, "x")])
    with pytest.raises(BadInput, match=f"{GOOD}:1: there is no column {message}"):
        READERS["medq-deg"](file)


def test_nothing_to_read(tmp_path):
    with pytest.raises(BadInput, match="no such file or folder"):
        READERS["medq-deg"](tmp_path / "gone")
    with pytest.raises(BadInput, match=r"contains no \.tsv file"):
        READERS["medq-deg"](tmp_path)
    with pytest.raises(BadInput, match="and no other row can be used"):
        READERS["medq-deg"](write_tsv(tmp_path / GOOD, [row(0, "")], COLUMNS))
    with pytest.raises(Exception, match="the layouts are clinbench, cure, gmai-mmbench, healthbench, hf-export, "):
        reader_for("medq")


def test_converted_images_have_the_pixels_of_the_table(tmp_path):
    source = tmp_path / "source"
    jpeg = f"data:image/jpeg;base64,{in_base64(2, format='JPEG')}"
    write_tsv(source / GOOD, [row(0, in_base64(1)), row(1, jpeg, question="Where?")], COLUMNS)
    write_tsv(source / SIMULATE, [degraded(0, in_base64(3))], COLUMNS)
    count, problems = convert(source, tmp_path / "set", layout="medq-deg")
    assert (count, problems) == (2, [])
    assert validate(tmp_path / "set", workers=1) == []
    cases = CaseSet.open(tmp_path / "set")
    assert [case.id for case in cases] == ["test-0", "test-1"]
    shown = [np.asarray(Picture.open(cases.image_path(image))) for case in cases for image in case.images]
    wanted = [
        np.asarray(Picture.open(io.BytesIO(data))) for data in (picture(1), picture(3), picture(2, format="JPEG"))
    ]
    assert all(np.array_equal(one, other) for one, other in zip(shown, wanted, strict=True))
    assert cases.case(1).images[0].path.endswith(".jpg")


def test_really_degraded_images_need_no_twin(tmp_path):
    table = [degraded(0, in_base64(1), "real", "mild"), degraded(1, in_base64(2), "Real-world", "Severe")]
    source = READERS["medq-deg"](write_tsv(tmp_path / "real.tsv", table, COLUMNS))
    assert source.problems == []
    assert [case.questions[0].degradations for case in source] == [["real@mild"], ["real@severe"]]
    assert [list(case.images[0].degradations) for case in source] == [["real@mild"], ["real@severe"]]


def test_every_name_of_a_type_is_known():
    """The names exist twice, because this room may not import the one that has the degradations."""
    assert set(names.TYPES) == set(TYPES)
    for name, type in ALIASES.items():
        assert names.degradation(name, "1") == f"{type}@L1"
    site = ("rotation_artifact", "random_motion_artifact", "downsample_artifact", "exposure_artifact")
    assert [names.degradation(name, "severe") for name in site] == [
        *("object_rotation@L2", "object_movement@L2", "low_resolution@L2", "exposure@L2")
    ]


READ_AND_MEASURE = """
import resource, sys
from pathlib import Path
from wardround.cases.readers import READERS
unit = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
source = READERS["medq-deg"](Path(sys.argv[1]))
cases = 0
for case in source:
    cases += 1
    if cases % 100 == 0:
        source.copy_image(case.images[0], Path(sys.argv[2]))
print(cases, len(source.problems), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit)
"""


@pytest.mark.slow
def test_images_never_pile_up_in_memory(tmp_path):
    """2,500 rows of 200 kB: a tenth of the released tables, and ten times the memory limit."""
    file = tmp_path / GOOD
    noise = np.random.default_rng(0).integers(0, 255, (224, 224, 3), dtype=np.uint8)
    with file.open("w") as table:
        table.write("\t".join(COLUMNS) + "\n")
        for number in range(2500):
            noise[0, 0, 0], noise[0, 0, 1] = number % 256, number // 256
            png = io.BytesIO()
            Picture.fromarray(noise).save(png, "BMP")
            cells = row(number, base64.b64encode(png.getvalue()).decode())
            table.write("\t".join(str(cells[name]) for name in COLUMNS) + "\n")
    assert file.stat().st_size > 450e6
    ran = subprocess.run(
        [sys.executable, "-c", READ_AND_MEASURE, str(file), str(tmp_path / "copy.bmp")],
        capture_output=True,
        text=True,
        check=True,
    )
    cases, problems, grown = map(int, ran.stdout.split())
    assert (cases, problems) == (2500, 0)
    assert grown < 45e6
