"""Severity calibration over HTTP: the slider's pictures, marks, the new table, and a run that takes it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from desk_site import DeskSite, once, read_all, write_set
from PIL import Image
from pydicom import dcmread
from pydicom.data import get_testdata_file
from pydicom.pixels import apply_modality_lut

from wardround.core.case import Image as CaseImage
from wardround.degrade.rendering import degrade
from wardround.degrade.severities import load_profile
from wardround.degrade.types import TAXONOMY
from wardround.desk import pictures as live
from wardround.desk.pictures import render_at_severity
from wardround.pipeline import run_study

LANCZOS = Image.Resampling.LANCZOS
PLANTED = {"gaussian_blur": (0.6, 1.3), "reduce_contrast": (1.1, 1.7)}


def scan(number: int, modality: str = "X-ray") -> dict:
    asked = {"id": "mcq", "kind": "choice", "prompt": "What is seen?", "options": ["nodule", "none"], "gold": 0}
    images = [{"path": f"images/{number}.png", "modality": modality}]
    return {"id": f"c{number}", "history": f"Cough {number}.", "images": images, "questions": [asked]}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    write_set(site.root / "set", [scan(number) for number in range(6)])
    return site


@pytest.fixture(scope="module")
def task(site):
    """Five careful readers and a careless one mark both degradations on six images."""
    chance = np.random.default_rng(5)
    readers = [site.add_person(name, "radiologist") for name in ("Ann", "Bob", "Cem", "Dan", "Eve", "Zed")]
    settings = {"types": ", ".join(PLANTED), "images": "6", "readers": "6", "table": "ward-1"}
    task = site.make_task("severity", "set", ["role:radiologist"], **settings)
    easy: dict[int, float] = {}
    for visitor in readers:
        tolerant = chance.normal(0, 0.06)

        def say(number, page, visitor=visitor, tolerant=tolerant) -> dict:
            item = visitor.desk.tasks.get_item(task, number)
            shift = tolerant + easy.setdefault(number, chance.normal(0, 0.08))
            marks = np.array(PLANTED[item.shown["type"]]) + shift + chance.logistic(0, 0.04, 2)
            if visitor.person.name == "Zed":
                marks = chance.uniform(0, 2, 2)
            low, high = np.clip(np.sort(marks), 0, 2)
            return {"l1": f"{low:.2f}", "l2": f"{high:.2f}", "slider": "1"}

        assert len(read_all(visitor, task, say)) == 12
    return task


def exported(site, task, file):
    answer = site.admin.get(f"/admin/tasks/{task.id}/export/{file}")
    assert answer.status_code == 200
    return answer.text


def test_planted_thresholds_come_back_within_their_intervals(site, task):
    rows = list(csv.DictReader(io.StringIO(exported(site, task, "thresholds.csv"))))
    assert len(rows) == 4
    for row in rows:
        planted = PLANTED[row["type"]][("L1", "L2").index(row["level"])]
        assert float(row["low"]) <= planted <= float(row["high"]), row
        assert (row["readers"], row["images"], row["marks"]) == ("6", "6", "36")
        assert float(row["high"]) - float(row["low"]) < 1


def test_the_careless_reader_is_seen(site, task):
    rows = {row["reader"]: row for row in csv.DictReader(io.StringIO(exported(site, task, "readers.csv")))}
    careless = rows.pop("Zed")
    assert float(careless["high"]) < min(float(row["agreement"]) for row in rows.values())
    page = site.admin.get(f"/admin/tasks/{task.id}").text
    assert "Agreement with the others" in page
    assert "No item has been read twice" not in page


def test_a_run_takes_the_new_table(site, task, tmp_path):
    (tmp_path / "severities.toml").write_text(exported(site, task, "severities.toml"))
    new, base = load_profile("severities.toml:ward-1", tmp_path), load_profile()
    assert new.at("gaussian_blur", 1.0)["sigma"] < base.at("gaussian_blur", 1.0)["sigma"]
    assert new.at("gaussian_noise", 1.0) == base.at("gaussian_noise", 1.0)
    study = tmp_path / "study.toml"
    study.write_text(
        f'name = "mine"\ncases = "{site.root / "set"}"\nseverities = "severities.toml:ward-1"\n'
        '[conditions]\ndegradation = ["none", "gaussian_blur@L1"]\n[[candidates]]\nname = "m"\nprovider = "random"\n'
    )
    ended = run_study(study, runs=tmp_path / "runs", note=lambda text: None, quiet=True)
    assert ended.exit_code == 0
    assert new.hash[:8] in (ended.folder / "manifest.json").read_text()


def test_the_slider_shows_what_degrade_draws(site, task):
    visitor = site.add_person("Fay", "radiologist")
    other = site.make_task("severity", "set", [f"person:{visitor.person.id}"], types="gaussian_blur", images="1")
    page = visitor.get(f"/tasks/{other.id}/next").text
    (picture,) = set(re.findall(r'data-picture="(/images/[^"]+)"', page))
    item = site.desk.tasks.list_items(other)[0]
    before = np.asarray(Image.open(site.root / "set" / item.hidden["image"]))
    for severity in ("0", "0.37", "2"):
        for quick in ("", "?quick=1"):
            answer = visitor.get(f"{picture}/at/{severity}{quick}")
            assert answer.headers["content-type"] == "image/png"
            drawn = np.asarray(Image.open(io.BytesIO(answer.content)))
            np.testing.assert_array_equal(drawn, degrade(before, "gaussian_blur", float(severity)))
    for bad in ("-1", "2.1", "nan", "x", "1e3"):
        assert visitor.get(f"{picture}/at/{bad}").status_code == 422
    assert site.add_person("Gus", "radiologist").get(f"{picture}/at/1").status_code in (200, 404)
    assert site.add_person("Hal", "student").get(f"{picture}/at/1").status_code == 404


def ct_task(site, visitor, **settings):
    """A CT in Hounsfield units, for one reader; gives the task and the address of its picture."""
    folder = write_set(site.root / "ct", [])
    (folder / "images").mkdir(exist_ok=True)
    (folder / "images/ct.dcm").write_bytes(Path(get_testdata_file("CT_small.dcm")).read_bytes())
    ct_case = scan(1) | {"images": [{"path": "images/ct.dcm", "modality": "CT"}]}
    (folder / "cases.jsonl").write_text(json.dumps(ct_case) + "\n")
    task = site.make_task("severity", "ct", [f"person:{visitor.person.id}"], **settings)
    page = visitor.get(f"/tasks/{task.id}/next")
    assert page.text.count("data-window=") == 2
    return task, page, re.findall(r'data-picture="(/images/[^"]+)"', page.text)[0]


def test_a_ct_is_degraded_in_hounsfield_units_and_then_seen_under_any_window(site, task):
    visitor = site.add_person("Lea", "radiologist")
    _, _, picture = ct_task(site, visitor, types="low_dose", images="1")
    dataset = dcmread(get_testdata_file("CT_small.dcm"))
    values = apply_modality_lut(dataset.pixel_array, dataset)
    noisy = degrade(values, "low_dose", 1.5, space="hu")
    for quick in ("0", "1"):
        for center, width in ((40, 400), (-600, 1500)):
            answer = visitor.get(f"{picture}/at/1.5?quick={quick}&center={center}&width={width}")
            drawn = np.asarray(Image.open(io.BytesIO(answer.content)))
            wanted = np.clip(((noisy - (center - 0.5)) / (width - 1) + 0.5) * 255, 0, 255)
            assert np.abs(drawn - wanted).max() <= 0.51
    for bad in ("center=40", "width=400", "center=40&width=0", "center=nan&width=1", "center=x&width=1"):
        assert visitor.get(f"{picture}/at/1.5?{bad}").status_code == 422


def test_the_window_of_a_mark_is_kept_where_it_is_not_the_first(site, task):
    visitor = site.add_person("Mia", "radiologist")
    made, page, _ = ct_task(site, visitor, types="low_dose", images="1")
    marks = {"l1": "0.5", "l2": "1.2"}
    for bad in ("x y", "40", "40 0", "40 -1", "nan 4", "1 2 3"):
        sent = visitor.submit(str(page.url), {"once": once(page.text), **marks, "l2_window": bad})
        assert sent.status_code == 422, bad
    for bad in ([1], {"l3": [1, 2]}, {"l1": [True, 2]}, {"l1": "40 400"}, {"l1": [1, None]}):
        said = {"said": {"l1": 0.5, "l2": 1, "windows": bad}, "once": "abcdefgh-9"}
        assert visitor.submit_json(f"/api/tasks/{made.id}/items/1/verdict", said).status_code == 422, bad
    visitor.submit(str(page.url), {"once": once(page.text), **marks, "l1_window": "", "l2_window": "-600 1500"})
    said = json.loads(exported(site, made, "verdicts.jsonl"))["said"]
    assert said == {"l1": 0.5, "l2": 1.2, "windows": {"l2": [-600.0, 1500.0]}}
    assert 'name="l2_window" value="-600 1500"' in visitor.get(f"/tasks/{made.id}/items/1").text
    assert (
        "L2 was marked under another window: centre -600, width 1500"
        in site.admin.get(f"/admin/tasks/{made.id}/items/1").text
    )


def test_no_page_tells_a_reader_the_numbers(site, task):
    visitor = site.add_person("Ida", "radiologist")
    other = site.make_task("severity", "set", [f"person:{visitor.person.id}"], types="gaussian_blur", images="1")
    page = visitor.get(f"/tasks/{other.id}/next").text
    assert "sigma" not in page
    assert "clinical-1" not in page
    assert "nodule" in page  # what has to be seen


def test_marks_that_cannot_be_are_refused_and_what_cannot_be_read_is_left_out(site, task):
    visitor = site.add_person("Jon", "radiologist")
    other = site.make_task("severity", "set", [f"person:{visitor.person.id}"], types="gaussian_blur", images="2")
    page = visitor.get(f"/tasks/{other.id}/next")
    for l1, l2 in (("", ""), ("0.5", ""), ("1.5", "0.5"), ("-0.1", "1"), ("0.5", "2.01"), ("nan", "1"), ("a", "b")):
        sent = visitor.submit(str(page.url), {"once": once(page.text), "l1": l1, "l2": l2})
        assert sent.status_code == 422, (l1, l2)
    sent = visitor.submit(str(page.url), {"once": once(page.text), "unreadable": "yes"}, follow_redirects=False)
    assert sent.status_code == 303
    assert exported(site, other, "thresholds.csv").count("\n") == 1  # the head
    profile_text = exported(site, other, "severities.toml")
    assert "[readers-1]" in profile_text


def test_what_a_task_needs_is_said(site, task):
    form = {"kind": "severity", "project": "P", "name": "N", "source": "set"}
    for settings, complaint in (
        ({"types": "gaussian_blurr"}, "gaussian_blurr"),
        ({"types": "low_dose"}, "nothing to read"),  # no CT among them
        ({"types": "all", "table": "a b"}, "letters, digits"),
        ({"types": "all", "images": "0"}, "at least one image"),
    ):
        answer = site.admin.submit("/admin/tasks/new", form | settings)
        assert answer.status_code == 422
        assert complaint in answer.text


def test_json_marks_too(site, task):
    visitor = site.add_person("Kim", "radiologist")
    other = site.make_task("severity", "set", [f"person:{visitor.person.id}"], types="exposure", images="1")
    said = {"said": {"l1": 0.5, "l2": "1"}, "once": "abcdefgh-1"}
    assert visitor.submit_json(f"/api/tasks/{other.id}/items/1/verdict", said).status_code == 422
    said = {"said": {"l1": 0.5, "l2": 1}, "once": "abcdefgh-2"}
    assert visitor.submit_json(f"/api/tasks/{other.id}/items/1/verdict", said).status_code == 200
    assert json.loads(exported(site, other, "verdicts.jsonl"))["said"] == {"l1": 0.5, "l2": 1.0}


@pytest.mark.parametrize("type", ["limited_angle", "sparse_view", "low_dose"])
def test_while_the_hand_moves_a_ct_looks_much_as_it_will(type):
    file = Path(get_testdata_file("CT_small.dcm"))
    image, profile = CaseImage(path=file.name, modality="CT"), load_profile()
    plain, quick, whole = (
        np.asarray(Image.open(io.BytesIO(shown.data))).astype(float)
        for shown in (
            render_at_severity(file, image, type, 0, profile, quick=False),
            render_at_severity(file, image, type, 1.5, profile, quick=True),
            render_at_severity(file, image, type, 1.5, profile, quick=False),
        )
    )
    np.testing.assert_array_equal(quick, whole)  # it is small enough to be drawn as it is
    assert np.abs(whole - plain).mean() > 1
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(live.QUICK_PIXELS, "CT", 96 * 96)
        coarse = np.asarray(
            Image.open(io.BytesIO(render_at_severity(file, image, type, 1.5, profile, quick=True).data))
        )
    assert coarse.shape == whole.shape
    assert np.abs(coarse - plain).mean() > 1


@pytest.mark.parametrize("type", ["object_rotation", "bubble", "dark_spots", "exposure", "bias_field"])
def test_what_is_drawn_by_chance_is_in_the_small_copy_where_it_will_be(type, tmp_path, monkeypatch):
    across = np.linspace(-1, 1, 400)
    shades = 128 + 100 * np.sin(9 * np.add.outer(across[:300], across**2))
    Image.fromarray(shades.astype(np.uint8)).save(tmp_path / "a.png")
    image, profile = CaseImage(path="a.png", modality=TAXONOMY[type].modality), load_profile()
    monkeypatch.setitem(live.QUICK_PIXELS, None, 150 * 200)
    quick, whole, plain = (
        Image.open(
            io.BytesIO(render_at_severity(tmp_path / "a.png", image, type, severity, profile, quick=is_quick).data)
        )
        for severity, is_quick in ((1.5, True), (1.5, False), (0, False))
    )
    assert quick.size == (200, 150)
    small, plain = (
        np.asarray(picture.resize((200, 150), Image.Resampling.LANCZOS)).astype(float) for picture in (whole, plain)
    )
    assert np.abs(np.asarray(quick) - small).mean() < 0.25 * np.abs(plain - small).mean()
