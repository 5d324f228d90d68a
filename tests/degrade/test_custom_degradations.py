"""Degradation types of plug-ins: drawn, listed, put into recipes and keys, and known in worker processes."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from exam_server import ExamServer
from exam_study import case, write_cases, write_study
from PIL import Image
from worker_jobs import shade_corner

from wardround import plugins
from wardround.cases.images import recipe_for
from wardround.core.case import Image as CaseImage
from wardround.core.errors import WardroundError
from wardround.degrade import (
    TYPES,
    CustomDegradation,
    apply_degradation,
    category_of,
    custom,
    degrade,
    fits,
    load_profile,
    parse_type,
)
from wardround.degrade.folder import choose_degradations, degrade_files
from wardround.degrade.recipe import add_degradations, render_degraded
from wardround.degrade.workers import map_in_order
from wardround.pipeline import run_study

PLUGIN = """
import numpy as np
from wardround.degrade import CustomDegradation
from wardround.plugins import register

def vignette(image, parameters, rng):
    height, width = image.shape[:2]
    y, x = np.linspace(-1, 1, height)[:, None], np.linspace(-1, 1, width)[None]
    shade = 1 - parameters["strength"] * (x**2 + y**2) / 2
    return image * (shade if image.ndim == 2 else shade[..., None])

register("degradations", "vignette", CustomDegradation(vignette, "Intensity", {"strength": (0, 0.4, 0.8)}, version=3))
"""
NOISE_ONLY = "[mine]\nversion = 1\n[mine.display]\ngaussian_noise = { sigma = [0, 0.01, 0.02] }\n"
GREY = np.random.default_rng(0).integers(40, 200, (33, 47), dtype=np.uint8)


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch, own_workers):
    """Plug-ins of one test are unknown to the next, and to its worker processes."""
    monkeypatch.setattr(plugins, "_from_files", {})
    monkeypatch.setattr(plugins, "_loaded_files", {})
    monkeypatch.setattr(custom, "_checked", {})
    monkeypatch.setenv(plugins.FILES_VARIABLE, "")


@pytest.fixture
def vignette(tmp_path) -> Path:
    file = tmp_path / "vignette_plugin.py"
    file.write_text(PLUGIN, encoding="utf-8")
    plugins.load_file(file)
    return file


def register(name="rust", function=lambda image, parameters, rng: image, **fields):
    record = {"category": "Artifacts", "parameters": {"amount": (0, 1, 2)}, **fields}
    plugins.register("degradations", name, CustomDegradation(function, **record))


def test_a_plugin_type_is_drawn_at_its_default_severities(vignette):
    result = apply_degradation(GREY, "Vignette", "L1")
    assert (result.type, result.parameters) == ("vignette", {"strength": 0.4})
    assert [shade_corner(severity) for severity in (0.0, 0.5, 1.0, 2.0)] == [200, 160, 120, 40]
    assert category_of("vignette") == "Intensity"
    assert fits("vignette", None)


def test_the_built_in_types_stay_the_18(vignette):
    assert len(TYPES) == 18
    assert "vignette" not in TYPES
    assert {type for type, _ in choose_degradations(None, None)} == set(TYPES)
    assert choose_degradations(["vignette", "exposure"], ["L1"]) == (("exposure", 1.0), ("vignette", 1.0))


def test_worker_processes_know_the_types_of_a_plugin_file(vignette):
    corners = dict(map_in_order(shade_corner, [1.0, 2.0], workers=2))
    assert corners == {1.0: 120, 2.0: 40}


def test_the_degrade_command_writes_copies_of_a_plugin_type(vignette, tmp_path):
    Image.fromarray(GREY).save(tmp_path / "grey.png")
    summary = degrade_files(tmp_path / "grey.png", tmp_path / "out", types=["vignette"], workers=1)
    assert (summary.made, summary.problems) == (2, [])
    records = [json.loads(line) for line in (tmp_path / "out" / "degradations.jsonl").read_text().splitlines()]
    assert [(record["type"], record["version"], record["parameters"]) for record in records] == [
        ("vignette", 3, {"strength": 0.4}),
        ("vignette", 3, {"strength": 0.8}),
    ]
    copy = np.asarray(Image.open(tmp_path / "out" / "grey.vignette.L2.png"))
    np.testing.assert_array_equal(copy, degrade(GREY, "vignette", "L2"))
    assert degrade_files(tmp_path / "grey.png", tmp_path / "out", types=["vignette"], workers=1).kept == 2


def test_the_recipe_of_a_plugin_type_has_its_parameters_and_version(vignette, tmp_path):
    Image.fromarray(GREY).save(tmp_path / "grey.png")
    image = CaseImage(path="grey.png")
    recipe = add_degradations(recipe_for(image), image, [("vignette", 1.0)], load_profile())
    step = ("degrade", {"type": "vignette", "severity": 1.0, "display": {"strength": 0.4}}, 3)
    assert step in recipe
    clean = render_degraded(tmp_path / "grey.png", None, recipe_for(image))
    assert render_degraded(tmp_path / "grey.png", None, recipe) != clean


def test_a_study_asks_with_images_that_a_plugin_degrades(vignette, tmp_path):
    """The images are rendered in worker processes, which load the plug-in file by themselves."""
    write_cases(tmp_path / "cases", [case(0, images=[{"path": "grey.png"}])])
    Image.fromarray(GREY).save(tmp_path / "cases" / "grey.png")
    bodies: list[dict] = []
    with ExamServer(lambda body, index: bodies.append(body) or "A") as server:
        study = write_study(tmp_path, server.url, conditions={"degradation": ["none", "vignette@L1"]})
        assert run_study(study, runs=tmp_path / "runs", quiet=True, note=lambda line: None).exit_code == 0
    images = {image_in(body).tobytes() for body in bodies}
    assert images == {GREY.tobytes(), degrade(GREY, "vignette", "L1").tobytes()}
    marks = pl.read_parquet(tmp_path / "runs" / "exam" / "marks.parquet")
    assert set(marks.select("type", "severity", "category").rows()) == {
        (None, "L0", None),
        ("vignette", "L1", "Intensity"),
    }


def image_in(body: dict) -> np.ndarray:
    (url,) = [part["image_url"]["url"] for part in body["messages"][-1]["content"] if part["type"] == "image_url"]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))))


def test_a_study_whose_severity_table_lacks_its_type_is_refused(tmp_path):
    write_cases(tmp_path / "cases", [case(0, images=[{"path": "grey.png"}])])
    Image.fromarray(GREY).save(tmp_path / "cases" / "grey.png")
    (tmp_path / "mine.toml").write_text(NOISE_ONLY, encoding="utf-8")
    top = {"severities": "mine.toml:mine"}
    study = write_study(tmp_path, top=top, conditions={"degradation": ["exposure@L1"]})
    with pytest.raises(WardroundError, match="severity profile 'mine' has no row for exposure"):
        run_study(study, runs=tmp_path / "runs", quiet=True, note=lambda line: None)


def test_a_severity_table_can_set_a_plugin_type_and_need_not_list_any(vignette, tmp_path):
    (tmp_path / "mine.toml").write_text(
        "[mild]\nversion = 1\n[mild.display]\nvignette = { strength = [0, 0.1, 0.2] }\n[other]\nversion = 1\n"
        "[other.display]\ngaussian_noise = { sigma = [0, 0.01, 0.02] }\n",
        encoding="utf-8",
    )
    assert load_profile("mine.toml:mild", tmp_path).at("vignette", 1.0) == {"strength": 0.1}
    other = load_profile("mine.toml:other", tmp_path)
    assert other.at("vignette", 1.0) == {"strength": 0.4}
    assert other.at("gaussian_noise", 2.0) == {"sigma": 0.02}


def test_a_type_that_a_table_leaves_out_is_refused_only_if_it_is_asked_for(tmp_path):
    (tmp_path / "mine.toml").write_text(NOISE_ONLY, encoding="utf-8")
    Image.fromarray(GREY).save(tmp_path / "grey.png")
    profile = str(tmp_path / "mine.toml:mine")
    message = r"severity profile 'mine' has no row for ghosting; add it to \[mine.display\]"
    with pytest.raises(WardroundError, match=message):
        degrade_files(tmp_path / "grey.png", tmp_path / "out", types=["ghosting"], profile=profile, workers=1)
    assert not (tmp_path / "out").exists()
    summary = degrade_files(
        tmp_path / "grey.png", tmp_path / "out", types=["gaussian_noise"], profile=profile, workers=1
    )
    assert summary.made == 2


def test_an_unknown_type_is_refused_with_the_types_of_plugins(vignette):
    with pytest.raises(WardroundError, match=r"there is no degradation 'rust'; .*limited_angle, .*vignette"):
        parse_type("rust")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda image, parameters, rng: image[1:], r"returned shape \(32, 47\); expected \(33, 47\)"),
        (lambda image, parameters, rng: image * np.nan, "not finite"),
        (lambda image, parameters, rng: parameters["x"], "'rust' failed: KeyError: 'x'"),
    ],
)
def test_a_plugin_function_that_misbehaves_is_reported_by_name(function, message):
    register(function=function)
    with pytest.raises(WardroundError, match=message):
        degrade(GREY, "rust", "L1")


def test_a_plugin_function_may_return_its_own_image():
    register()
    np.testing.assert_array_equal(degrade(GREY, "rust", "L1"), GREY)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"parameters": {"amount": (1, 2)}}, "parameter amount: expected a number, a word, or three numbers"),
        ({"modality": "Fundus"}, "modality 'Fundus' is not one of CT, MRI"),
        ({"version": "one"}, "a whole number as its version"),
    ],
)
def test_a_wrong_record_is_refused_with_the_plugin(fields, message):
    register(**fields)
    with pytest.raises(WardroundError, match=message):
        degrade(GREY, "rust", "L1")


def test_what_is_not_a_record_is_refused():
    plugins.register("degradations", "rust", print)
    with pytest.raises(WardroundError, match=r"expected a wardround\.degrade\.CustomDegradation, not builtin"):
        parse_type("rust")


@pytest.mark.parametrize("name", ["gaussian_noise", "rotation"])
def test_a_plugin_cannot_take_the_name_of_a_built_in_type(name):
    register(name)
    load_profile.cache_clear()
    with pytest.raises(WardroundError, match=f"plug-in degradation '{name}' has the name of a built-in type"):
        degrade(GREY, "exposure", "L1")


def test_a_plugin_type_of_ct_is_drawn_on_hounsfield_units():
    register(function=lambda image, parameters, rng: image + np.float32(0.1), modality="ct")
    hounsfield = np.zeros((4, 5), np.int16)
    np.testing.assert_array_equal(degrade(hounsfield, "rust", "L1", space="hu"), np.full((4, 5), 100))
    assert not fits("rust", "MRI")
