"""`wardround degrade`: lists after one flag, one line for each bad file, one JSON document."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from exam_study import wardround
from PIL import Image
from pydicom.data import get_testdata_file

from wardround.cli.main import main
from wardround.cli.shared_options import repeat_flags
from wardround.degrade.severities import SHIPPED_TABLE

FLAGS = {"--levels", "--types"}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("in --levels L1 L2", "in --levels L1 --levels L2"),
        ("in --levels L1 --levels L2", "in --levels L1 --levels L2"),
        ("in --types a b c --out o --levels 1 --json", "in --types a --types b --types c --out o --levels 1 --json"),
        ("--out o x y", "--out o x y"),
        ("--levels=L1 x", "--levels=L1 x"),
        ("in --levels", "in --levels"),
    ],
)
def test_a_list_may_follow_one_flag(typed, meant):
    assert list(repeat_flags(typed.split(), FLAGS)) == meant.split()


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A folder with a good and a bad image; jobs are done in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "wardround.degrade.pool.map_in_order", lambda function, jobs, workers: ((job, function(job)) for job in jobs)
    )
    (tmp_path / "in").mkdir()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (30, 20), dtype=np.uint8)).save("in/a.png")
    return tmp_path


def run(monkeypatch, capfd, *args):
    monkeypatch.setattr("sys.argv", ["wardround", "degrade", *args])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr()
    return ended.value.code, said.out, said.err


@pytest.mark.parametrize("levels", [["--levels", "L1", "0.5"], ["--levels", "L1", "--levels", "0.5"]])
def test_types_and_levels_are_lists(workspace, monkeypatch, capfd, levels):
    code, out, err = run(monkeypatch, capfd, "in", "--types", "exposure", "gaussian-noise", *levels, "--out", "out")
    assert code == 0
    assert out == "4 degraded copies of 1 image made in out with severity profile clinical-1\n"
    assert "4/4" in err
    assert sorted(file.name for file in (workspace / "out").glob("*.png")) == [
        "a.exposure.0.5.png",
        "a.exposure.L1.png",
        "a.gaussian_noise.0.5.png",
        "a.gaussian_noise.L1.png",
    ]


def test_all_types_that_fit_at_both_levels_with_a_sheet_and_a_document(workspace, monkeypatch, capfd):
    """Nine general types, and three of CT."""
    code, out, _ = run(monkeypatch, capfd, "in/a.png", "--out", "out", "--modality", "ct", "--sheet", "--json")
    document = json.loads(out)
    assert (code, document["made"], document["kept"], document["problems"]) == (0, 24, 0, [])
    assert document["sheets"] == ["out/sheets/a.png"]
    drawn = {file.name.split(".")[1] for file in (workspace / "out").glob("a.*.L?.png")}
    assert {"sparse_view", "gaussian_noise"} <= drawn
    assert not {"dark_spots", "bias_field", "sparse_view_streaks"} & drawn


def test_an_image_of_unknown_modality_gets_the_general_types_and_a_dicom_file_those_of_its_header(
    workspace, monkeypatch, capfd
):
    (workspace / "in" / "scan.dcm").write_bytes(Path(get_testdata_file("MR_small.dcm", download=False)).read_bytes())
    code, out, _ = run(monkeypatch, capfd, "in", "--out", "out", "--levels", "L1")
    assert code == 0
    assert "1 of unknown modality got the general types only (--modality or --types names more)" in out
    drawn = [file.name.split(".")[:2] for file in (workspace / "out").glob("*.L1.png")]
    assert len([type for name, type in drawn if name == "a"]) == 9
    of_scan = {type for name, type in drawn if name == "scan"}
    assert {"bias_field", "undersampling", "ghosting"} <= of_scan
    assert not {"dark_spots", "low_dose"} & of_scan


def test_a_variant_is_drawn_if_it_is_named(workspace, monkeypatch, capfd):
    code, *_ = run(monkeypatch, capfd, "in", "--out", "out", "--types", "sparse_view_streaks", "--levels", "L2")
    assert code == 0
    assert [file.name for file in (workspace / "out").glob("*.png")] == ["a.sparse_view_streaks.L2.png"]


def test_a_bad_file_is_a_line_and_the_rest_is_done(workspace, monkeypatch, capfd):
    (workspace / "in" / "bad.png").write_bytes(b"no picture")
    code, out, err = run(monkeypatch, capfd, "in", "--out", "out", "--types", "exposure")
    assert code == 1
    assert err.count("in/bad.png: cannot be read as a PNG image") == 1
    assert "2 degraded copies of 2 images" in out
    assert (workspace / "out" / "a.exposure.L2.png").is_file()


def test_a_custom_severity_table_is_used(workspace, monkeypatch, capfd):
    line = 'adjust_brightness = { shift = [0, 0.2, 0.4], direction = "darker" }'
    shipped = re.sub("adjust_brightness = .*", line, SHIPPED_TABLE.read_text())
    (workspace / "mine.toml").write_text(shipped.replace("clinical-1", "ours"))
    code, *_ = run(
        monkeypatch, capfd, "in", "--out", "out", "--types", "adjust_brightness", "--profile", "mine.toml:ours"
    )
    (mild, strong) = map(json.loads, (workspace / "out" / "degradations.jsonl").read_text().splitlines())
    assert code == 0
    assert (mild["parameters"]["shift"], strong["parameters"]["shift"], mild["profile"]) == (0.2, 0.4, "ours")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["in", "--types", "rust"], "there is no degradation 'rust'"),
        (["in", "--levels", "L3"], "severity 'L3'"),
        (["in", "--profile", "none.toml"], "none.toml: there is no such severity table"),
        (["in", "--modality", "photo"], "modality 'photo': expected one of CT, MRI"),
        (["nowhere"], "nowhere: there is no such file or folder"),
    ],
)
def test_a_mistake_is_one_line(workspace, monkeypatch, capfd, args, said):
    code, out, err = run(monkeypatch, capfd, *args, "--out", "out")
    assert (code, out) == (1, "")
    assert err.startswith("wardround: ")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_the_command_works_from_a_shell(tmp_path):
    Image.fromarray(np.full((9, 9), 90, np.uint8)).save(tmp_path / "a.png")
    done = wardround("degrade", "a.png", "--out", "out", "--types", "exposure", "--levels", "L1", "L2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").glob("*.png"))) == 2
