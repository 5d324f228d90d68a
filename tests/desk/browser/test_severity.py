"""Severity calibration in a real Chromium, from the slider to a table that a run takes; and the viewer's tools."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable

import numpy as np
import pytest
from chromium import needs_chromium
from desk_browser import PATIENCE, browser_users
from desk_process import DeskProcess
from desk_site import case, write_set
from PIL import Image
from playwright.sync_api import expect
from pydicom.data import get_testdata_file
from test_severity_task import scan

from wardround.degrade.severities import load_profile

BLOB = re.compile("^blob:")
pytestmark = [pytest.mark.slow, needs_chromium]


def test_from_the_slider_to_a_severity_table(tmp_path):
    root = tmp_path / "desk"
    write_set(root / "set", [scan(number) for number in range(2)])
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, reader = new_user("Ada"), new_user("Rae")
        admin.join(served.link)
        link = admin.invite("radiologist")
        made = {"types": "gaussian_blur", "images": "2", "readers": "1", "table": "ward-1"}
        task = admin.make_task("Severity calibration", "Blur", "set", ["radiologist"], **made)
        reader.join(link)
        reader.click_link("Begin")
        page, slider = reader.page, reader.page.get_by_role("slider")
        expect(slider).to_be_focused()
        for _ in range(5):
            page.keyboard.press("PageUp")
        expect(slider).to_have_value("0.5")
        expect(page.locator("img.live[data-at='0.50']")).to_be_visible()
        page.keyboard.press("1")
        expect(page.get_by_role("button", name="still intact")).to_contain_text("marked")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
        assert 1.4 < float(slider.input_value()) < 1.6
        page.get_by_role("button", name="still feasible").click()
        strong = float(slider.input_value())
        expect(page.locator(f"img.live[data-at='{strong:.2f}']")).to_be_visible()
        expect(page.locator(".saved")).to_have_text("Kept")
        page = reader.come_back()
        reader.click_link("Begin")
        for name in ("still intact", "still feasible"):
            expect(page.get_by_role("button", name=name)).to_contain_text("marked")
        expect(page.locator(f"img.live[data-at='{strong:.2f}']")).to_be_visible()  # the slider is where it was
        reader.click_button("Save and go on")
        expect(page.get_by_text("1 read, 1 waiting")).to_be_visible()
        reader.click_button("Save and go on")
        expect(page.get_by_role("alert")).to_contain_text("Set both marks")
        for mark, presses in (("1", 30), ("2", 40)):
            for _ in range(presses):
                page.keyboard.press("ArrowRight")
            page.keyboard.press(mark)
        reader.press_to_submit()
        expect(page.get_by_text("All done for now")).to_be_visible()
        file = admin.download(task, "severities.toml", tmp_path / "severities.toml")
        expect(admin.page.get_by_role("region", name="Severities")).to_contain_text("gaussian blur")
        assert admin.errors == []
        assert [line for line in reader.errors if "422" not in line] == []
    new, base = load_profile(f"{file.name}:ward-1", tmp_path), load_profile()
    wanted = base.at("gaussian_blur", (0.5 + 0.3) / 2)["sigma"]
    assert new.at("gaussian_blur", 1)["sigma"] == pytest.approx(wanted, rel=1e-4)
    wanted = base.at("gaussian_blur", (strong + 0.7) / 2)["sigma"]
    assert new.at("gaussian_blur", 2)["sigma"] == pytest.approx(wanted, rel=1e-4)


def grey(page, number: int) -> float:
    """The mean grey of a picture as it is on the screen."""
    return (
        page.locator(".frame img")
        .nth(number)
        .evaluate(
            """async image => { await image.decode(); const canvas = document.createElement("canvas");
        canvas.width = image.naturalWidth; canvas.height = image.naturalHeight; const draw = canvas.getContext("2d");
        draw.drawImage(image, 0, 0); const { data } = draw.getImageData(0, 0, canvas.width, canvas.height);
        return data.reduce((sum, value, place) => place % 4 ? sum : sum + value, 0) / (data.length / 4); }"""
        )
    )


def wait_for_grey(page, number: int, is_reached: Callable[[float], bool]) -> None:
    """Waits until a picture has followed."""
    for _ in range(PATIENCE // 100):
        if is_reached(mean := grey(page, number)):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"picture {number} stays at a mean grey of {mean}")


def pinch(page, box) -> None:
    """Two fingers, from near each other to far apart."""
    hand = page.context.new_cdp_session(page)
    middle, high = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for step, kind in enumerate(["touchStart", *["touchMove"] * 8]):
        fingers = [{"x": middle + side * (20 + 8 * step), "y": high, "id": side + 1} for side in (-1, 1)]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_the_window_moves_and_images_move_together(tmp_path):
    root = tmp_path / "desk"
    images = [{"path": "images/ct.dcm", "modality": "CT"}, {"path": "images/deep.png", "modality": "X-ray"}]
    write_set(root / "set", [])
    (root / "set/images").mkdir()
    shutil.copy(get_testdata_file("CT_small.dcm"), root / "set/images/ct.dcm")
    Image.fromarray((np.add.outer(np.arange(64), np.arange(96)) * 25).astype(np.uint16)).save(
        root / "set/images/deep.png"
    )
    (root / "set/cases.jsonl").write_text(json.dumps(case(1, images=images)) + "\n")
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, reader = new_user("Ada"), new_user("Rae")
        admin.join(served.link)
        link = admin.invite("student")
        admin.make_task("Review", "CT", "set", ["student"])
        reader.join(link)
        reader.click_link("Begin")
        page, frames = reader.page, reader.page.locator(".frame")
        ct, deep = frames.nth(0), frames.nth(1)
        expect(ct).to_have_attribute("data-center", "40")
        before = grey(page, 0)
        page.get_by_label("Window", exact=True).first.select_option("Lung")
        expect(page.locator(".tools .window").first).to_have_text("Centre -600, width 1500 HU")
        expect(page.locator(".frame img").nth(0)).to_have_attribute("src", BLOB)
        wait_for_grey(page, 0, lambda mean: mean > before + 20)
        ct.focus()
        page.keyboard.press("Shift+R")
        expect(ct).to_have_attribute("data-center", "40")
        wait_for_grey(page, 0, lambda mean: mean == before)
        deep.focus()
        page.keyboard.press("Shift+W")
        expect(page.get_by_role("button", name="Contrast").nth(1)).to_have_attribute("aria-pressed", "true")
        dark = grey(page, 1)
        for _ in range(4):
            page.keyboard.press("ArrowUp")
        expect(page.locator(".frame img").nth(1)).to_have_attribute("src", BLOB)
        wait_for_grey(page, 1, lambda mean: mean > dark + 10)
        box = deep.bounding_box()
        width = float(deep.get_attribute("data-width"))
        page.mouse.move(box["x"] + 50, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + 120, box["y"] + 50, steps=4)
        page.mouse.up()
        assert float(deep.get_attribute("data-width")) > 1.3 * width
        assert deep.get_attribute("data-scale") in (None, "1.00")  # dragging moved the window, not the image
        page.keyboard.press("Shift+W")
        page.keyboard.press("Shift+L")
        page.keyboard.press("+")
        assert ct.get_attribute("data-scale") == deep.get_attribute("data-scale") == "1.25"
        page.keyboard.press("Shift+L")
        page.keyboard.press("+")
        assert (ct.get_attribute("data-scale"), deep.get_attribute("data-scale")) == ("1.25", "1.56")
        full = page.get_by_role("button", name="Full window").nth(1)
        full.click()
        assert deep.bounding_box()["width"] == 1280
        full.click()  # a finger has no Escape: the tools lie over the full window
        assert deep.bounding_box()["width"] < 1000
        page.keyboard.press("Home")
        pinch(page, deep.bounding_box())
        assert float(deep.get_attribute("data-scale")) > 2
        assert [admin.errors, reader.errors] == [[], []]


def test_a_ct_is_calibrated_under_the_window_that_its_reader_needs(tmp_path):
    root = tmp_path / "desk"
    write_set(root / "set", [])
    (root / "set/images").mkdir()
    shutil.copy(get_testdata_file("CT_small.dcm"), root / "set/images/ct.dcm")
    ct_case = scan(1) | {"images": [{"path": "images/ct.dcm", "modality": "CT"}]}
    (root / "set/cases.jsonl").write_text(json.dumps(ct_case) + "\n")
    with DeskProcess(root) as served, browser_users(served.url) as new_user:
        admin, reader = new_user("Ada"), new_user("Rae")
        admin.join(served.link)
        link = admin.invite("radiologist")
        made = {"types": "low_dose", "images": "1", "readers": "1"}
        task = admin.make_task("Severity calibration", "Dose", "set", ["radiologist"], **made)
        reader.join(link)
        reader.click_link("Begin")
        page, frames = reader.page, reader.page.locator(".frame")
        clean, degraded = frames.nth(0), frames.nth(1)
        lists = page.get_by_label("Window", exact=True)
        expect(lists).to_have_count(2)
        page.get_by_role("slider").focus()
        for _ in range(5):
            page.keyboard.press("PageUp")
        expect(page.locator("img.live[data-at='0.50']")).to_be_visible()
        page.keyboard.press("1")
        soft = grey(page, 0)
        lists.first.select_option("Lung")  # both turn: they are compared
        for frame, chosen in ((clean, lists.nth(0)), (degraded, lists.nth(1))):
            expect(frame).to_have_attribute("data-center", "-600")
            expect(chosen).to_have_value("Lung")
        expect(page.locator("img.live[data-under='-600.000 1500.00']")).to_be_visible()
        for number in (0, 1):
            wait_for_grey(page, number, lambda mean: mean > soft + 20)
        degraded.focus()
        page.keyboard.press("Shift+W")
        page.keyboard.press("ArrowRight")
        expect(lists.nth(0)).to_have_value("")  # a window of one's own, on both
        assert clean.get_attribute("data-width") == degraded.get_attribute("data-width") != "1500"
        page.keyboard.press("+")
        assert clean.get_attribute("data-scale") == degraded.get_attribute("data-scale") == "1.25"
        page.get_by_role("slider").focus()
        page.keyboard.press("PageUp")
        expect(page.locator("img.live[data-at='0.60']")).to_be_visible()
        page.keyboard.press("2")
        expect(page.locator(".saved")).to_have_text("Kept")
        wide = float(degraded.get_attribute("data-width"))
        degraded.focus()
        page.keyboard.press("Shift+R")
        expect(lists.nth(0)).to_have_value("first")
        expect(clean.locator("img")).to_have_attribute("src", re.compile("^/images|^http"))
        wait_for_grey(page, 0, lambda mean: mean == soft)
        reader.press_to_submit()
        expect(page.get_by_text("All done for now")).to_be_visible()
        file = admin.download(task, "verdicts.jsonl", tmp_path / "verdicts.jsonl")
        assert [admin.errors, reader.errors] == [[], []]
    said = json.loads(file.read_text())["said"]
    assert (said["l1"], said["l2"]) == (0.5, 0.6)
    assert said["windows"] == {"l2": [-600.0, pytest.approx(wide, rel=1e-4)]}
