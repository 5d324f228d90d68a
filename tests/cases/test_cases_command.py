"""`wardround cases validate, convert, show`: their output, files and exit codes."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
from case_lines import case
from PIL import Image as Pillow
from test_raster_images import png_that_declares

from wardround.cases.conversion import convert
from wardround.cases.readers import READERS
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.cli.main import main
from wardround.core.errors import BadInput


@pytest.fixture
def wardround(monkeypatch, capfd):
    """Runs the command as a shell would: exit code, stdout, stderr."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["wardround", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code or 0
        output = capfd.readouterr()
        assert "Traceback" not in output.err
        return code, output.out, output.err

    return run


@pytest.fixture
def damaged(written):
    """A set of six cases: two good ones, one bad line, three with images that cannot be shown."""
    folder = written(
        case("good", images=[{"path": "images/good.png"}]),
        b"{broken",
        case("text", images=[{"path": "images/good.png"}, {"path": "images/text.png"}]),
        case("bomb", images=[{"path": "images/bomb.png"}]),
        case("frame", images=[{"path": "images/good.png", "frame": 4}]),
        case("plain"),
    )
    (folder / "images" / "text.png").write_text("no image")
    (folder / "images" / "bomb.png").write_bytes(png_that_declares(30_000, 30_000))
    return folder


def test_validation_decodes_every_image(damaged):
    file = damaged / "cases.jsonl"
    assert [str(problem) for problem in validate(damaged, workers=1)] == [
        f"{file}:2: is not JSON: key must be a string at column 2",
        f"{file}:3: images[1].path: 'images/text.png' cannot be read as a PNG image",
        f"{file}:4: images[0].path: 'images/bomb.png' is too large: its size is more than 100,000,000 pixels",
        f"{file}:5: images[0].path: 'images/good.png' there is no frame 4; it has frames 0 to 0",
    ]


@pytest.mark.slow
def test_a_crashing_decoder_is_named_and_the_others_go_on(damaged, monkeypatch):
    monkeypatch.setattr("wardround.cases.validation.JOBS_PER_WORKER", 2)
    monkeypatch.setattr("wardround.cases.validation.image_error", dies_on_text)
    problems = validate(damaged, workers=1)
    assert [(problem.line, problem.message) for problem in problems[1:]] == [
        (3, "'images/text.png' crashes its decoder"),
        (5, "'images/good.png' was looked at"),
    ]


def dies_on_text(job):
    if job.image.path.endswith("text.png"):
        os._exit(1)
    return "was looked at" if job.image.frame == 4 else None


def test_validate_prints_one_problem_a_line_and_exits_1(damaged, wardround):
    code, out, _ = wardround("cases", "validate", damaged, "--workers", 1)
    lines = out.splitlines()
    assert code == 1
    assert len(lines) == 5
    assert lines[0].endswith("cases.jsonl:2: is not JSON: key must be a string at column 2")
    assert lines[-1] == "5 usable cases with 5 questions; 4 problems"
    code, out, _ = wardround("cases", "validate", damaged, "--strict", "--workers", 1)
    assert code == 1
    assert len(out.splitlines()) == 2
    assert out.splitlines()[-1].endswith("1 problem (stopped at the first)")


def test_validate_prints_json(damaged, wardround):
    code, out, _ = wardround("cases", "validate", damaged / "cases.jsonl", "--json", "--workers", 1)
    report = json.loads(out)
    assert code == 1
    assert (report["cases"], report["questions"], len(report["problems"])) == (5, 5, 4)
    assert report["problems"][1] == {
        "file": str(damaged / "cases.jsonl"),
        "line": 3,
        "field": "images[1].path",
        "message": "'images/text.png' cannot be read as a PNG image",
    }


def test_a_valid_set_exits_0(written, wardround):
    folder = written(case("a", images=[{"path": "images/good.png"}]), case("b"))
    code, out, _ = wardround("cases", "validate", folder, "--workers", 1)
    assert (code, out) == (0, "2 usable cases with 2 questions; no problems\n")


@pytest.mark.parametrize("command", ["validate", "convert", "show"])
@pytest.mark.parametrize("source", ["nowhere", "empty folder", "no case"])
def test_a_missing_or_empty_case_set_is_one_line(written, tmp_path, wardround, command, source):
    path = {"nowhere": tmp_path / "nowhere", "empty folder": tmp_path / "empty", "no case": written(b"")}[source]
    (tmp_path / "empty").mkdir()
    more = {"validate": [], "convert": ["--out", tmp_path / "out"], "show": ["a"]}[command]
    code, out, err = wardround("cases", command, path, *more)
    assert code == 1
    assert "there is no such" in out + err or "contains no case" in out + err
    assert len(err.splitlines()) <= 1
    assert not (tmp_path / "out").exists()


def test_convert_copies_cases_and_images(damaged, tmp_path, wardround):
    out = tmp_path / "deep" / "out"
    code, stdout, err = wardround("cases", "convert", damaged, "--out", out, "--json")
    assert code == 0
    report = json.loads(stdout)
    assert (report["cases"], len(report["problems"])) == (5, 1)
    assert "cases.jsonl:2: is not JSON" in err
    copy, source = CaseSet.open(out, strict=True), CaseSet.open(damaged)
    assert [case.as_written() for case in copy] == [case.as_written() for case in source]
    for converted in copy:
        for image in converted.images:
            assert copy.image_path(image).read_bytes() == source.image_path(image).read_bytes()
    assert sorted(os.listdir(out.parent)) == ["out"]


def test_convert_never_overwrites(written, tmp_path, wardround):
    folder = written(case("a"))
    out = tmp_path / "out"
    out.mkdir()
    assert wardround("cases", "convert", folder, "--out", out)[0] == 0
    before = (out / "cases.jsonl").stat().st_mtime_ns
    code, _, err = wardround("cases", "convert", folder, "--out", out)
    assert code == 1
    assert err == f"wardround: {out}: already exists and is not empty; a case set is never overwritten\n"
    assert (out / "cases.jsonl").stat().st_mtime_ns == before
    assert wardround("cases", "convert", folder, "--out", folder)[0] == 1


def test_a_strict_conversion_of_a_bad_set_writes_nothing(damaged, tmp_path, wardround):
    code, _, err = wardround("cases", "convert", damaged, "--out", tmp_path / "out", "--strict")
    assert code == 1
    assert "cases.jsonl:2: is not JSON" in err
    assert not (tmp_path / "out").exists()


def test_another_layout_can_be_registered(tmp_path, written, monkeypatch, wardround):
    Pillow.fromarray(np.eye(8, dtype=np.uint8)).save(tmp_path / "scan.png")

    class Elsewhere:
        problems = ()

        def __init__(self, source):
            self.source = source

        def __iter__(self):
            yield from CaseSet.open(written(case("a", images=[{"path": "images/good.png"}])))

        def copy_image(self, image, target):
            shutil.copyfile(self.source, target)

    monkeypatch.setitem(READERS, "elsewhere", Elsewhere)
    assert convert(tmp_path / "scan.png", tmp_path / "out", layout="elsewhere") == (1, ())
    assert (tmp_path / "out/images/good.png").read_bytes() == (tmp_path / "scan.png").read_bytes()
    code, _, err = wardround("cases", "convert", tmp_path, "--out", tmp_path / "x", "--from", "curious")
    assert code == 1
    start = "wardround: unknown layout 'curious'; the layouts are "
    assert err.startswith(start)
    listed = err.removeprefix(start).strip().split(", ")
    assert listed == sorted(listed)
    assert set(READERS) <= set(listed)  # plug-ins that other tests registered may stand beside them


def test_show_prints_the_whole_case(written, wardround):
    folder = written(
        case(
            "eurorad-1",
            specialty="neuro",
            patient={"age": 54, "sex": "F"},
            history="A long history. " * 20 + "\x1b[31mred\x07",
            images=[{"path": "images/good.png", "modality": "CT", "findings": "a mass"}],
            references=[{"pmid": "31415926"}],
            unknown={"kept": True},
        )
    )
    code, out, _ = wardround("cases", "show", folder, "eurorad-1")
    assert code == 0
    for part in ("Case eurorad-1", "age: 54", "sex: F", "CT", "a mass", "31415926", "* B. two", "    A. one"):
        assert part in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100
    printed = json.loads(wardround("cases", "show", folder, "eurorad-1", "--json")[1])
    assert printed == json.loads((folder / "cases.jsonl").read_text())
    code, _, err = wardround("cases", "show", folder, "nobody")
    assert (code, err.count("\n")) == (1, 1)
    assert "no usable case 'nobody'" in err


def test_a_full_disk_leaves_nothing_half_written(written, tmp_path, monkeypatch):
    folder = written(case("a", images=[{"path": "images/good.png"}]))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OSError, match="No space left"):
        convert(folder, tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["set"]
    with pytest.raises(BadInput):
        CaseSet.open(tmp_path / "out")
