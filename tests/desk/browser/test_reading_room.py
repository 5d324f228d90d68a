"""The reading room in a real Chromium: the image fills the screen, the decision stays in view, and windows and stacks
show what the files hold (expected greys by hand)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import numpy as np
import pytest
from chromium import CHROMIUM, needs_chromium
from desk_browser import serving, watch
from desk_site import DeskSite, Visitor, case, write_set
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from test_retain_task import degraded

pytestmark = needs_chromium
SIZES = {"monitor": (2560, 1440), "phone": (390, 844)}
FLAT = 100  # the grey of a picture of one grey


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    """A radiologist with a film, a stack of frames, a series of slices and degraded pictures."""
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    folder = site.root / "set"
    slices = [{"path": f"images/ct-{number}.png", "modality": "CT"} for number in range(4)]
    images = [{"path": "images/film.png", "modality": "X-ray"}, {"path": "images/cine.tif", "modality": "US"}, *slices]
    write_set(folder, [case(1, images=[image for image in images if image["path"].endswith(".png")])])
    frames = [Image.fromarray(np.full((64, 64), 40 * number, np.uint8)) for number in range(5)]
    frames[0].save(folder / "images/cine.tif", save_all=True, append_images=frames[1:])
    (folder / "cases.jsonl").write_text(json.dumps(case(1, images=images)) + "\n")
    write_set(site.root / "film", [case(1, images=images[:1])])
    Image.fromarray(np.full((300, 200), FLAT, np.uint8)).save(site.root / "film/images/film.png")
    write_set(site.root / "levels", [degraded(0)])
    return site


@pytest.fixture(scope="module")
def browser(site) -> Iterator[tuple[Browser, str]]:
    """A browser, and the address of the desk."""
    with serving(site.app) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser, url
        browser.close()


@pytest.fixture
def page(site, browser) -> Iterator[Page]:
    """A page with an empty memory, on a monitor of 2560 x 1440."""
    site.reader = site.add_person(f"Rae {len(site.desk.accounts.list_people())}", "radiologist")
    errors: list[str] = []
    (opened, url), (width, height) = browser, SIZES["monitor"]
    context = opened.new_context(base_url=url, viewport={"width": width, "height": height}, has_touch=True)
    cookie = site.desk.visits.sign(site.desk.accounts.open_session(site.reader.person))
    context.add_cookies([{"name": site.desk.visits.cookie, "value": cookie, "url": url}])
    page = context.new_page()
    watch(page, errors)
    yield page
    context.close()
    assert errors == []


def begin(site: DeskSite, page: Page, kind: str, source: str, **settings: str) -> None:
    task = site.make_task(kind, source, [f"person:{site.reader.person.id}"], **settings)
    page.goto(f"/tasks/{task.id}/next", wait_until="networkidle")


def grey(element: Locator) -> float:
    """The grey in the middle of what is on the screen."""
    shot = np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("L"), float)
    height, width = shot.shape
    return float(shot[height // 2 - 2 : height // 2 + 2, width // 2 - 2 : width // 2 + 2].mean())


def is_in_view(page: Page, element: Locator) -> bool:
    box, size = element.bounding_box(), page.viewport_size
    assert box is not None
    assert size is not None
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def test_the_image_fills_the_screen_and_the_decision_is_in_view(site, page):
    begin(site, page, "review", "film", share="1")
    frame = page.locator(".frame").first.bounding_box()
    assert (frame["width"] > 1900, frame["height"] > 1300) == (True, True)  # it was 920 x 360
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    for name in ("Keep", "Edit", "Discard"):
        assert is_in_view(page, page.locator("label.choice", has_text=name))
    assert is_in_view(page, page.get_by_role("button", name="Save and go on"))
    begin(site, page, "retain", "levels", readers="1")
    boxes = [frame.bounding_box() for frame in page.locator(".frame").all()]
    assert all(box["width"] > 650 and box["height"] > 1200 for box in boxes)
    page.keyboard.press("Shift+T")  # the clean one and one other, side by side
    shown = [frame for frame in page.locator(".frame").all() if frame.is_visible()]
    assert len(shown) == 2
    assert sum(frame.get_attribute("data-clean") is not None for frame in shown) == 1
    assert all(frame.bounding_box()["width"] > 980 for frame in shown)
    assert is_in_view(page, page.locator("label.choice", has_text="Discard"))


def test_on_a_phone_nothing_is_lost(site, page):
    width, height = SIZES["phone"]
    page.set_viewport_size({"width": width, "height": height})
    begin(site, page, "retain", "levels", readers="1")
    assert page.locator("html").get_attribute("data-room") is None  # the page is read from top to bottom there
    page.get_by_role("button", name="Reading room").click()
    assert page.locator(".frame").first.bounding_box()["width"] == width
    for name in ("Retain", "Discard"):
        page.locator("label.choice", has_text=name).scroll_into_view_if_needed()
        assert is_in_view(page, page.locator("label.choice", has_text=name))
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_light_and_dark_and_the_room_are_chosen_and_remembered(site, page):
    begin(site, page, "review", "film", share="1")
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    page.keyboard.press("Shift+D")
    assert page.evaluate(scheme) == "light"
    page.reload()
    assert page.evaluate(scheme) == "light"
    page.keyboard.press("Shift+M")
    assert page.locator("html").get_attribute("data-room") is None
    page.goto("/")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => {scheme} == 'dark'")  # outside the room the system's, until somebody chooses
    page.get_by_role("button", name="Light").click()
    page.reload()
    assert page.evaluate(scheme) == "light"


def test_the_right_button_turns_the_window_of_any_picture(site, page):
    """100 under centre c and width w is (100 - c) / w + 1/2 of white; inverted, what is left to white."""
    begin(site, page, "review", "film", share="1")
    frame = page.locator(".frame").first
    assert abs(grey(frame) - FLAT) <= 1
    box = frame.bounding_box()
    x, y = box["x"] + 500, box["y"] + 500
    page.mouse.move(x, y)
    page.mouse.down(button="right")
    page.mouse.move(x - 75, y, steps=3)  # half of 150 pixels: the width is divided by e^0.5
    page.mouse.move(x - 75, y + 30, steps=3)
    page.mouse.up(button="right")
    center, width = (float(frame.get_attribute(f"data-{name}")) for name in ("center", "width"))
    assert abs(width - 255 * np.exp(-0.5)) < 0.5
    assert center > 127.5
    wanted = np.clip((FLAT - center) / width + 0.5, 0, 1) * 255
    assert abs(grey(frame) - wanted) <= 2
    page.get_by_label("Window", exact=True).select_option("Inverted")
    assert abs(grey(frame) - (255 - FLAT)) <= 2
    page.keyboard.press("Shift+R")
    assert abs(grey(frame) - FLAT) <= 1


def test_the_wheel_goes_through_frames_and_series_and_linked_panes_follow(site, page):
    begin(site, page, "review", "set", share="1")
    film, cine, series = page.locator(".frame").all()  # six images of a case, three panes
    expect(series.locator("xpath=..").locator("figcaption")).to_contain_text("(1 of 4)")
    expect(cine.locator("xpath=..").locator("figcaption")).to_contain_text("(1 of 5)")
    cine.hover()
    for _ in range(3):
        page.mouse.wheel(0, 120)
    expect(cine).to_have_attribute("data-place", "3")
    cine.page.wait_for_function("frame => (frame.dataset.shown || '').endsWith('frame=3')", arg=cine.element_handle())
    assert abs(grey(cine) - 120) <= 1  # frame n is of grey 40 n
    page.keyboard.press("PageUp")
    expect(cine).to_have_attribute("data-place", "2")
    page.keyboard.press("Shift+L")
    page.mouse.wheel(0, -120)
    expect(cine).to_have_attribute("data-place", "1")
    expect(series).to_have_attribute("data-place", "0")  # it cannot go before its first
    page.mouse.wheel(0, 120)
    expect(series).to_have_attribute("data-place", "1")
    assert film.get_attribute("data-place") is None


def test_an_exam_shows_no_frame_that_a_candidate_does_not_see(site):
    reader = Visitor(site, site.add_person("Eve", "radiologist").person)
    task = site.make_task("exam", "set", [f"person:{reader.person.id}"], cases="1")
    reader.get(f"/tasks/{task.id}/next")
    items = site.desk.tasks.list_items(task)
    question = next(item for item in items if item.shown["page"] == "question")
    pictures = site.desk.pictures.of_item(question)
    cine = next(picture for picture in pictures if picture.image.path.endswith(".tif"))
    assert reader.get(f"/images/{cine.id}").status_code == 200
    assert reader.get(f"/images/{cine.id}/frames").json() == {"count": 1, "shown": 0}
    assert reader.get(f"/images/{cine.id}?frame=2").status_code == 404
    assert reader.get(f"/images/{cine.id}/window/40/80?frame=2").status_code == 404


def test_the_question_mark_shows_the_keys_of_the_page(site, page):
    begin(site, page, "review", "set", share="1")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    for words in ("All fulfilled", "Next image of the stack", "Link the images", "Next preset", "Light or dark"):
        expect(dialog).to_contain_text(words)
    page.keyboard.press("1")  # keys do nothing behind it
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    assert page.locator("input[name=verdict]:checked").count() == 0
